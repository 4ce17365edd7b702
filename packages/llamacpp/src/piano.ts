/** Tiny models of the project's own making, and the real engine that plays them. */
export { type PromptOptions, CHAT_TEMPLATE, renderPrompt } from './piano/chat-template.ts'
export {
  type PianoOptions,
  type RandomOptions,
  type TinyEngine,
  type TinyEngineOptions,
  createPiano,
  createRandom,
} from './piano/engine.ts'
export { type GgufFile, type GgufTensor, type GgufValue, writeGguf } from './piano/gguf.ts'
export {
  type AvailableEngine,
  type LoadOptions,
  type UnavailableEngine,
  loadNodeLlamaCpp,
} from './piano/load.ts'
export {
  type PianoModelOptions,
  type RandomModelOptions,
  pianoModel,
  randomModel,
} from './piano/tiny-model.ts'
export { type Vocabulary, type VocabularyOptions, createVocabulary } from './piano/vocabulary.ts'
export { type DemoScript, DEMO_SCRIPTS } from './piano/scripts.ts'
