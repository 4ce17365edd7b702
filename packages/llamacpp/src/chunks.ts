/**
 * Chunks of a source one by one, with a way out.
 *
 * A `ReadableStream` is read through its reader, not its iterator: only that lets go of a read that
 * is under way. A chunk is asked for when the consumer wants one, so back-pressure holds.
 */
import { unlessAborted } from './abort.ts'

/** What holds the bytes or the text of an answer. */
export type ChunkSource = ReadableStream<Uint8Array> | AsyncIterable<string | Uint8Array>

export type Chunk = string | Uint8Array

export interface Chunks {
  /** The next chunk; `undefined` at the end, and as soon as the signal is aborted. */
  next(signal: AbortSignal | undefined): Promise<Chunk | undefined>
  /** Lets go of the source. Never throws, and does not wait for a source that hangs. */
  close(): void
}

export function openChunks(source: ChunkSource): Chunks {
  const { read, cancel } = 'getReader' in source ? fromStream(source) : fromIterable(source)
  let open = true
  return {
    async next(signal) {
      if (signal?.aborted) return undefined
      try {
        const step = await (signal ? unlessAborted(read(), signal) : read())
        if (step && !step.done) return step.value
        // An aborted source may hang: it is still to be let go of.
        open = signal?.aborted === true
        return undefined
      } catch (error) {
        open = false
        if (signal?.aborted) return undefined
        throw error
      }
    },
    close() {
      if (!open) return
      open = false
      void cancel().catch(() => {})
    },
  }
}

/** The chunks of a response's body, if it has one. */
export function openBody(response: Response): Chunks {
  return openChunks(response.body ?? nothing())
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}

type Step =
  | { readonly done: true; readonly value?: unknown }
  | { readonly done?: false; readonly value: Chunk }

interface Access {
  readonly read: () => Promise<Step>
  readonly cancel: () => Promise<unknown>
}

function fromStream(stream: ReadableStream<Uint8Array>): Access {
  const reader = stream.getReader()
  return { read: () => reader.read(), cancel: () => reader.cancel() }
}

function fromIterable(iterable: AsyncIterable<Chunk>): Access {
  const iterator = iterable[Symbol.asyncIterator]()
  return {
    read: async () => iterator.next(),
    cancel: async () => iterator.return?.(),
  }
}
