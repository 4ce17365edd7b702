/**
 * The forms for whole texts and for sources: thin wrappers around the push parser.
 *
 * An async hop costs more than the machine, so events of one chunk leave in a batch and only the
 * consumer's loop sees them one by one.
 */
import { type Message, createCollector } from './collect.ts'
import { checkOptions, describe } from './check-options.ts'
import { createParser } from './create.ts'
import { MisuseError } from './errors.ts'
import type { StreamEvent } from './events.ts'
import type { EndInfo, Parser, ParserOptions } from './options.ts'

/** What `parse` reads: text or UTF-8 bytes, in any pieces. */
export type Source =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | ReadableStream<string | Uint8Array>

export interface ParseOptions extends ParserOptions {
  /** Ends the stream with `finish` `aborted` and closes the source. */
  readonly signal?: AbortSignal
  /** What the source's end says; default as for `Parser.end`. */
  readonly endInfo?: EndInfo
}

/** Parses a whole text into a message: one `feed` and one `end` of the same machine. */
export function parseMessage(text: string, options: ParserOptions = {}): Message {
  const collector = createCollector()
  const parser = createParser({ ...options, onEvent: collector.add })
  parser.feed(text)
  parser.end()
  return collector.message()
}

/**
 * Parses a source into events. Never throws for input or a failing source: a source that throws
 * ends in `error` and `finish`. Leaving the loop closes the source.
 */
export function parse(
  source: Source,
  options: ParseOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, endInfo, ...rest } = options
  checkOptions(options, 'parse')
  const batch: StreamEvent[] = []
  const parser = createParser({ ...rest, onEvent: (event) => batch.push(event) })
  return events(readSource(source), parser, batch, signal, endInfo)
}

async function* events(
  reader: Reader,
  parser: Parser,
  batch: StreamEvent[],
  signal: AbortSignal | undefined,
  endInfo: EndInfo | undefined,
): AsyncGenerator<StreamEvent, void, undefined> {
  const aborted = signal && whenAborted(signal)
  try {
    for (let open = true; open;) {
      open = !signal?.aborted && (await step(reader, parser, aborted, endInfo))
      yield* batch.splice(0)
      // The consumer may have aborted while it had this chunk's events.
      if (!signal?.aborted) continue
      open = false
      parser.abort()
      yield* batch.splice(0)
    }
  } finally {
    aborted?.release()
    reader.close()
  }
}

/** Feeds one piece; false when the source has ended, has failed or is not wanted any more. */
async function step(
  reader: Reader,
  parser: Parser,
  aborted: Aborted | undefined,
  endInfo: EndInfo | undefined,
): Promise<boolean> {
  let piece: string | undefined
  try {
    const next = reader.next()
    const winner = aborted ? await aborted.race(next) : await next
    if (winner === ABORTED) return false
    piece = winner
  } catch (error) {
    parser.fail(error)
    return false
  }
  if (piece === undefined) parser.end(endInfo)
  else parser.feed(piece)
  return piece !== undefined
}

const ABORTED = Symbol('aborted')

interface Aborted {
  /** The promise's value, or `ABORTED` as soon as the signal says so. */
  race<T>(promise: Promise<T>): Promise<T | typeof ABORTED>
  release(): void
}

/** One listener for the whole stream: racing against one long-lived promise would pile up. */
function whenAborted(signal: AbortSignal): Aborted {
  let wake = (): void => {}
  const listener = (): void => wake()
  signal.addEventListener('abort', listener, { once: true })
  return {
    race: (promise) =>
      new Promise((resolve, reject) => {
        wake = () => resolve(ABORTED)
        promise.then(resolve, reject)
      }),
    release: () => signal.removeEventListener('abort', listener),
  }
}

/** A source, read piece by piece as text. */
interface Reader {
  /** The next piece; undefined at the end. Rejects if the source fails. */
  next(): Promise<string | undefined>
  /** Tells the source that no more is wanted. */
  close(): void
}

function readSource(source: Source): Reader {
  const iterate = iteratorOf(source)
  // Made with the first read: a consumer that never reads leaves the source as it was.
  let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined
  // A byte order mark is part of the text.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let ended = false
  return {
    async next() {
      if (ended) return undefined
      let next: IteratorResult<unknown>
      try {
        iterator ??= iterate()
        next = await iterator.next()
      } catch (error) {
        ended = true
        throw error
      }
      if (!next.done) return textOf(next.value, decoder)
      ended = true
      return decoder.decode() || undefined
    },
    close() {
      const open = ended ? undefined : iterator
      ended = true
      try {
        Promise.resolve(open?.return?.()).catch(() => {})
      } catch {
        // The consumer has left: a source that can't be closed is nobody's news.
      }
    },
  }
}

function textOf(piece: unknown, decoder: TextDecoder): string {
  if (typeof piece === 'string') return piece
  if (piece instanceof Uint8Array) return decoder.decode(piece, { stream: true })
  throw new TypeError(`Expected strings or Uint8Arrays from the source, found ${describe(piece)}.`)
}

/** How to read a source. Throws `MisuseError` `invalid-source` for what can't be read. */
function iteratorOf(source: Source): () => AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof source === 'string') return () => [source][Symbol.iterator]()
  if (typeof source === 'object' && source !== null) {
    // A reader cancels at once; the stream's own iterator would wait for the read under way.
    if ('getReader' in source) return () => readStream(source)
    if (Symbol.asyncIterator in source) return () => source[Symbol.asyncIterator]()
    if (Symbol.iterator in source) return () => source[Symbol.iterator]()
  }
  const found = describe(source)
  throw new MisuseError('invalid-source', `Expected text, an iterable or a stream, found ${found}.`)
}

function readStream(stream: ReadableStream<unknown>): AsyncIterator<unknown> {
  const reader = stream.getReader()
  return {
    async next() {
      try {
        const result = await reader.read()
        if (!result.done) return result
      } catch (error) {
        reader.releaseLock()
        throw error
      }
      reader.releaseLock()
      return { done: true, value: undefined }
    },
    async return() {
      const cancelled = reader.cancel()
      reader.releaseLock()
      await cancelled
      return { done: true, value: undefined }
    },
  }
}
