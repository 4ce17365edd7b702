/** node-llama-cpp's streams as the protocol's events. Imports nothing of that package. */
export {
  type FromCompletion,
  type FromSequence,
  type FromSession,
  type FromTokens,
  type NodeLlamaOptions,
  fromNodeLlamaCpp,
} from './node/from-node-llama-cpp.ts'
export type {
  NodeLlamaCompletion,
  NodeLlamaModel,
  NodeLlamaPrompt,
  NodeLlamaResponseChunk,
  NodeLlamaSequence,
  NodeLlamaSession,
  NodeLlamaStop,
  NodeLlamaText,
  NodeLlamaToken,
} from './node/engine-types.ts'
export { type Detokenizer, createDetokenizer } from './node/detokenizer.ts'
