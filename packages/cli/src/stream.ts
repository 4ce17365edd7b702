/** Moves a source through a reader into an output, one write per chunk of input. */
import { type Readable, addAbortSignal } from 'node:stream'
import type { Sink } from './io.ts'
import type { Reader } from './input.ts'
import type { Output } from './output/output.ts'

export interface Transfer {
  readonly source: Readable
  readonly reader: Reader
  readonly output: Output
  readonly sink: Sink
  /** Aborting it delivers the closing events and ends the transfer. */
  readonly signal: AbortSignal
  /** Whether the last event has come, so that nothing more needs to be read. */
  readonly finished: () => boolean
}

export interface Transferred {
  /** What broke the source, if anything did. */
  readonly broken: unknown
  /** The source ended without a single character. */
  readonly empty: boolean
}

/** Resolves when the closing events are written. Throws if writing fails. */
export async function transfer(options: Transfer): Promise<Transferred> {
  const { source, reader, output, sink, signal, finished } = options
  const decoder = new TextDecoder()
  // The iterator tells of an error; what comes before or after it matters no more.
  source.on('error', () => {})
  addAbortSignal(signal, source)
  const chunks = source[Symbol.asyncIterator]()
  let broken: unknown
  let empty = true
  try {
    while (!finished() && !signal.aborted) {
      let next: IteratorResult<string | Uint8Array>
      try {
        next = await chunks.next()
      } catch (error) {
        broken = error
        break
      }
      // The last call gives the bytes of a character that was cut off, as U+FFFD.
      const text = next.done ? decoder.decode() : decode(decoder, next.value)
      if (text !== '') {
        empty = false
        reader.feed(text)
      }
      await sink.write(output.take())
      if (next.done) break
    }
    if (!finished()) {
      if (signal.aborted) reader.abort()
      else if (broken === undefined) reader.end()
      else reader.fail(broken)
    }
    // What is long comes in pieces.
    for (let text = output.take(); text !== ''; text = output.take()) await sink.write(text)
    await sink.finish()
  } finally {
    source.destroy()
  }
  if (signal.aborted) return { broken: undefined, empty: false }
  return { broken, empty: empty && broken === undefined }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: string | Uint8Array): string {
  return typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
}
