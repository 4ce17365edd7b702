/**
 * An answer of llama-server that is already under way, as a stream of events.
 *
 * Events of one chunk are handed out before the next chunk is asked for. Leaving the stream lets go
 * of the source, also while it is silent; an aborted signal ends the stream with closing events. A
 * source that fails ends it with an error; nothing that the source does is thrown at the consumer.
 */
import type { StreamEvent } from '@talaria/core'
import { type ChunkSource, type Chunks, openBody, openChunks } from './chunks.ts'
import { isRecord } from './failure.ts'
import { httpFailure } from './http-failure.ts'
import { leavable } from './leavable.ts'
import { type LlamaServerStreamOptions, checkSignal, expect } from './server-options.ts'
import { type InnerReader, createInnerReader } from './server-reader.ts'

export interface FromLlamaServerStreamOptions extends LlamaServerStreamOptions {
  /** Ends the stream with `finish` `aborted` and lets go of the source. */
  readonly signal?: AbortSignal
}

/**
 * Events of an HTTP response, a stream of bytes, or any async iterable of bytes or text. A response
 * with an error status becomes `error` and `finish`, with the status as `rawCode`. Throws
 * `MisuseError` for options that can't be.
 */
export function fromLlamaServerStream(
  source: Response | ChunkSource,
  options: FromLlamaServerStreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  expect('source', 'a response, a stream or an async iterable', isSource(source), source)
  expect('options', 'an object', isRecord(options), options)
  const { signal, ...readerOptions } = options
  checkSignal(signal)
  const batch: StreamEvent[] = []
  const reader = createInnerReader({ ...readerOptions, onEvent: (event) => batch.push(event) })
  return leavable(signal, (stop) => readAnswer(source, reader, batch, stop))
}

/** Reads a source to its end. `batch` is where `reader` puts its events. */
export async function* readAnswer(
  source: Response | ChunkSource,
  reader: InnerReader,
  batch: StreamEvent[],
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void, undefined> {
  const response = isResponse(source) ? source : undefined
  const chunks = isResponse(source) ? openBody(source) : openChunks(source)
  try {
    while (!reader.finished) {
      await (response && !response.ok
        ? refuse(reader, response, chunks, signal)
        : advance(reader, chunks, signal))
      yield* batch.splice(0)
    }
  } finally {
    chunks.close()
  }
}

/** Reads one chunk, or the end. */
async function advance(reader: InnerReader, chunks: Chunks, signal: AbortSignal): Promise<void> {
  let chunk
  try {
    chunk = await chunks.next(signal)
  } catch (error) {
    return reader.fail(error)
  }
  if (signal.aborted) reader.abort()
  else if (chunk === undefined) reader.end()
  else reader.feed(chunk)
}

/** Reads why the server refused. */
async function refuse(
  reader: InnerReader,
  response: Response,
  chunks: Chunks,
  signal: AbortSignal,
): Promise<void> {
  const failure = await httpFailure(response, chunks, signal)
  if (signal.aborted) reader.abort()
  else reader.failWith(failure)
}

/** By its fields: a `fetch` of the caller's may make responses of another class. */
function isResponse(source: Response | ChunkSource): source is Response {
  return 'status' in source && 'body' in source
}

function isSource(source: Response | ChunkSource): boolean {
  if (typeof source !== 'object' || source === null) return false
  return isResponse(source) || 'getReader' in source || Symbol.asyncIterator in source
}
