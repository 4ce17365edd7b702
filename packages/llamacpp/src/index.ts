/** llama-server's streams as Talaria's events. */
export type { ChunkSource } from './chunks.ts'
export { SOURCE_ERROR_CODES, type SourceErrorCode } from './failure.ts'
export { MAX_FRAME_SIZE } from './frame-reader.ts'
export type { Endpoint } from './frames.ts'
export type {
  LlamaServerReaderOptions,
  LlamaServerStreamOptions,
  PromptProgress,
} from './server-options.ts'
export { type LlamaServerReader, createLlamaServerReader } from './server-reader.ts'
export type { ChatMessage, FromLlamaServerOptions, RequestBody } from './server-request.ts'
export { type FromLlamaServerStreamOptions, fromLlamaServerStream } from './server-stream.ts'
export { fromLlamaServer } from './server.ts'
