/**
 * The event stream of an HTTP answer to decoded JSON frames.
 *
 * `eventsource-parser` finds the lines; here their data becomes JSON. The limit on a frame holds
 * however the stream is cut: the parser's own counts only what it keeps between two chunks, so whole
 * events are measured as well. A line that the end of the connection cuts is no frame and no
 * failure; whether the answer was complete is for the reader of the frames to know.
 */
import { createParser } from 'eventsource-parser'
import { excerpt } from './failure.ts'
import { type FrameSink, type TextReader, tooLarge } from './frame-sink.ts'

/** Room for `data: `, line ends and the like beside the data itself. */
const LINE_OVERHEAD = 64

/** What an event stream knows beside comments. */
const FIELDS = ['data', 'event', 'id', 'retry']

export function createSseReader(sink: FrameSink, maxFrameSize: number): TextReader {
  let ending = false
  let dead = false

  const fits = (size: number): boolean => {
    if (size <= maxFrameSize) return true
    dead = true
    sink.fail(tooLarge(maxFrameSize))
    return false
  }

  const take = (data: string, event: string | undefined): void => {
    if (!fits(data.length)) return
    const trimmed = data.trim()
    if (trimmed === '') return
    if (trimmed === '[DONE]') return sink.done()
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch (cause) {
      if (ending) return
      return sink.fail(
        event === 'error'
          ? { code: 'server-error', message: data }
          : {
              code: 'malformed-frame',
              message: `Expected JSON in a data line of the event stream, found ${excerpt(data)}.`,
              cause,
            },
      )
    }
    sink.frame(value, event)
  }

  const unknown = (field: string, value: string): void => {
    if (!fits(field.length + value.length)) return
    if (field === 'error') {
      // Older llama-servers write their errors in a field of that name.
      let error: unknown = value
      try {
        error = JSON.parse(value)
      } catch {}
      sink.frame({ error })
      return
    }
    const isCut = ending && FIELDS.some((name) => name.startsWith(field))
    if (!isCut) sink.stray(value === '' ? field : `${field}: ${value}`)
  }

  const events = createParser({
    maxBufferSize: maxFrameSize + LINE_OVERHEAD,
    onEvent({ data, event }) {
      if (fits(event?.length ?? 0)) take(data, event)
    },
    onComment(comment) {
      fits(comment.length)
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') fits(Number.POSITIVE_INFINITY)
      else if (error.type === 'unknown-field') unknown(error.field ?? '', error.value ?? '')
    },
  })

  return {
    feed(text) {
      // The parser of a stream that broke the limit refuses more.
      if (!dead) events.feed(text)
    },
    end() {
      if (dead) return
      ending = true
      events.feed('\n\n')
    },
  }
}
