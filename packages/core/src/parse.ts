/**
 * The forms for whole texts and for sources: thin wrappers around the push parser.
 *
 * An async hop costs more than the machine, so events of one chunk leave in a batch and only the
 * consumer's loop sees them one by one.
 */
import { type Message, createCollector } from './collect.ts'
import { createParser } from './create.ts'
import { MisuseError } from './errors.ts'
import type { StreamEvent } from './events.ts'
import type { ParserOptions } from './options.ts'
import type { EndInfo, Parser } from './parser.ts'

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
export async function* parse(source: Source, options: ParseOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, endInfo } = options
  let batch: StreamEvent[] = []
  const parser = createParser({ ...options, onEvent: (event) => batch.push(event) })
  const iterator = iterate(source)
  const aborted = signal && whenAborted(signal)
  let open = true
  try {
    while (open) {
      const next = await step(iterator, parser, aborted, signal)
      open = next && !signal?.aborted
      if (signal?.aborted) parser.abort()
      else if (!next) endSafely(parser, endInfo)
      const events = batch
      batch = []
      yield* events
    }
  } finally {
    aborted?.release()
    // A source that hangs must not keep a consumer that has left.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** Feeds one piece; false when the source has ended or failed. */
async function step(
  iterator: AsyncIterator<string | Uint8Array>,
  parser: Parser,
  aborted: Aborted | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (signal?.aborted) return false
  try {
    const next = iterator.next()
    const result = aborted ? await Promise.race([next, aborted.promise]) : await next
    if (!result || result.done) return false
    parser.feed(result.value as string)
    return true
  } catch (error) {
    if (signal?.aborted) return false
    parser.fail(error)
    return false
  }
}

function endSafely(parser: Parser, info: EndInfo | undefined): void {
  try {
    parser.end(info)
  } catch (error) {
    if (!(error instanceof MisuseError)) throw error
    // The source failed: `fail` has ended the parser already.
  }
}

interface Aborted {
  readonly promise: Promise<undefined>
  release(): void
}

function whenAborted(signal: AbortSignal): Aborted {
  let listener = (): void => {}
  const promise = new Promise<undefined>((resolve) => {
    listener = () => resolve(undefined)
    signal.addEventListener('abort', listener, { once: true })
  })
  return { promise, release: () => signal.removeEventListener('abort', listener) }
}

/** The pieces of a source as strings; bytes are decoded as one UTF-8 stream. */
async function* iterate(source: Source): AsyncGenerator<string, void, undefined> {
  if (typeof source === 'string') {
    yield source
    return
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let bytes = false
  for await (const piece of pieces(source)) {
    if (typeof piece === 'string') yield piece
    else {
      bytes = true
      yield decoder.decode(piece, { stream: true })
    }
  }
  if (bytes) yield decoder.decode()
}

function pieces(
  source: Exclude<Source, string>,
): Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> {
  if (Symbol.asyncIterator in source || Symbol.iterator in source) return source
  return readAll(source)
}

/** Browsers that can't iterate a ReadableStream get it read; leaving the loop cancels it. */
async function* readAll(stream: ReadableStream<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
