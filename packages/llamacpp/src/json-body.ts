/**
 * The JSON of an HTTP answer that is no event stream: one value, or one a line.
 *
 * The first line decides: if it is a whole value, so is every line after it, and each is a frame as
 * soon as it ends; a line `[DONE]` is the end. Else all of the text is one value, read at its end.
 * A list holds one frame for each prompt of the request. The text is kept in pieces, joined once.
 */
import { excerpt } from './failure.ts'
import { type FrameSink, type TextReader, tooLarge } from './frame-sink.ts'

export function createJsonReader(sink: FrameSink, maxFrameSize: number): TextReader {
  let pieces: string[] = []
  let size = 0
  let mode: 'first-line' | 'lines' | 'one-value' = 'first-line'
  let dead = false

  const keep = (piece: string): void => {
    size += piece.length
    if (size > maxFrameSize) {
      dead = true
      pieces = []
      sink.fail(tooLarge(maxFrameSize))
    } else if (piece !== '') pieces.push(piece)
  }

  /** Reads what is kept as a value, or as the end. Returns whether it is one. */
  const take = (isLast: boolean): boolean => {
    const text = pieces.join('')
    if (mode === 'lines' && text.trim() === '[DONE]') {
      dead = true
      pieces = []
      sink.done()
      return true
    }
    let value: unknown
    try {
      value = text.trim() === '' ? [] : JSON.parse(text)
    } catch (cause) {
      if (mode === 'lines' || isLast) {
        dead = true
        sink.fail({
          code: 'malformed-frame',
          message: `Expected ${mode === 'lines' ? 'a JSON value a line' : 'a JSON value'}, found ${excerpt(text)}.`,
          cause,
        })
      }
      return false
    }
    pieces = []
    size = 0
    for (const frame of Array.isArray(value) ? value : [value]) sink.frame(frame)
    return true
  }

  return {
    feed(text) {
      let start = 0
      while (mode !== 'one-value' && !dead) {
        const end = text.indexOf('\n', start)
        if (end === -1) break
        keep(text.slice(start, end))
        if (dead) return
        const isValue = take(false)
        if (mode === 'first-line') mode = isValue ? 'lines' : 'one-value'
        start = end + 1
        if (!isValue) keep('\n')
      }
      if (!dead) keep(text.slice(start))
    },
    end() {
      if (!dead) take(true)
    },
  }
}
