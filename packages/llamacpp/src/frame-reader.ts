/**
 * Bytes or text of an HTTP answer, cut anywhere, to decoded JSON frames.
 *
 * UTF-8 is decoded as a stream. The first character that is not white space decides what is read:
 * `{` or `[` begins JSON (one value, or one a line), anything else an event stream. What is kept is
 * the open line or value alone, up to `maxFrameSize`. After a failure or the stream's own end
 * nothing more is read and nothing throws.
 */
import type { FrameSink, TextReader } from './frame-sink.ts'
import { createJsonReader } from './json-body.ts'
import { createSseReader } from './sse.ts'

/** How large one frame may be, in UTF-16 units. llama-server's last frame echoes the prompt. */
export const MAX_FRAME_SIZE: number = 64 * 1024 * 1024

export interface FrameReader {
  feed(chunk: string | Uint8Array): void
  end(): void
  /** The first line that an event stream can't hold, for the message if nothing else came. */
  readonly stray: string | undefined
}

const BYTE_ORDER_MARK = 0xfeff

export function createFrameReader(
  sink: Omit<FrameSink, 'stray'>,
  maxFrameSize: number,
): FrameReader {
  const decoder = new TextDecoder()
  let reader: TextReader | undefined
  let stopped = false
  let stray: string | undefined

  const guarded: FrameSink = {
    frame: (value, event) => {
      if (!stopped) sink.frame(value, event)
    },
    done: () => {
      if (stopped) return
      stopped = true
      sink.done()
    },
    fail: (failure) => {
      if (stopped) return
      stopped = true
      sink.fail(failure)
    },
    stray: (line) => {
      if (!stopped) stray ??= line
    },
  }

  const take = (text: string): void => {
    if (stopped) return
    if (reader) return reader.feed(text)
    const start = firstInk(text)
    if (start === text.length) return
    const first = text[start]
    reader =
      first === '{' || first === '['
        ? createJsonReader(guarded, maxFrameSize)
        : createSseReader(guarded, maxFrameSize)
    reader.feed(start === 0 ? text : text.slice(start))
  }

  return {
    feed(chunk) {
      // A string between bytes ends what the bytes had begun.
      take(typeof chunk === 'string' ? decoder.decode() + chunk : decoder.decode(chunk, STREAM))
    },
    end() {
      take(decoder.decode())
      if (!stopped) reader?.end()
      stopped = true
    },
    get stray() {
      return stray
    },
  }
}

const STREAM = { stream: true } as const

/** Where the first character stands that is neither white space nor a byte order mark. */
function firstInk(text: string): number {
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code > 32 && code !== BYTE_ORDER_MARK) break
    index++
  }
  return index
}
