/**
 * Makes events of input in any form: raw model text, an answer of a llama-server (an event stream,
 * or JSON, one frame a line), or a recording of our own events. Each has one reader; where the form
 * has to be found out, what was held till then is given on as it came, so that finding out changes
 * nothing but the time.
 */
import { type ParserOptions, type StreamEvent, createParser } from '@talaria/core'
import { createLlamaServerReader } from '@talaria/llamacpp'
import { Detector, type Form } from './detect.ts'
import { HttpHead } from './http-head.ts'
import type { ModelText } from './model-text.ts'
import { createReplay } from './replay.ts'

/** What a user may call the form of the input. */
export const INPUTS = ['auto', 'text', 'sse', 'ndjson'] as const
export type InputForm = (typeof INPUTS)[number]

/** Takes input cut anywhere. The first of `end`, `fail` and `abort` ends it. */
export interface Reader {
  feed(text: string): void
  end(): void
  /** The source broke: closing events, `error`, `finish`. */
  fail(error: unknown): void
  /** The user stopped it: closing events, `finish`. */
  abort(): void
}

export interface InputOptions extends ParserOptions {
  readonly onEvent: (event: StreamEvent) => void
  /** Which of several answers in one stream. */
  readonly choice?: number
  /** Takes down the text that the parser reads. Throws a `Failure` if the input holds none. */
  readonly modelText?: ModelText
}

export function createReader(input: InputForm, options: InputOptions): Reader {
  switch (input) {
    case 'auto':
      return detecting(new Detector(), options)
    case 'text':
      return readerOf('text', options)
    case 'sse':
      return readerOf('server', options)
    case 'ndjson':
      return detecting(new Detector({ json: true }), options)
  }
}

function readerOf(form: Form, { modelText, ...options }: InputOptions): Reader {
  const reader = plainReaderOf(form, options)
  if (!modelText) return reader
  modelText.begin(form, options.choice)
  return {
    feed(text) {
      modelText.add(text)
      reader.feed(text)
    },
    end() {
      modelText.end()
      reader.end()
    },
    fail: (error) => reader.fail(error),
    abort: () => reader.abort(),
  }
}

function plainReaderOf(form: Form, options: Omit<InputOptions, 'modelText'>): Reader {
  const { choice: _, ...parserOptions } = options
  switch (form) {
    case 'text':
      return createParser(parserOptions)
    case 'server':
      return createLlamaServerReader(options)
    case 'events':
      return recording(options.onEvent)
  }
}

function detecting(detector: Detector, options: InputOptions): Reader {
  let head: HttpHead | undefined = new HttpHead()
  let reader: Reader | undefined
  const use = (form: Form): Reader => {
    reader = readerOf(form, options)
    for (const piece of detector.held) reader.feed(piece)
    detector.held.length = 0
    return reader
  }
  const take = (text: string): void => {
    const form = text === '' ? undefined : detector.take(text)
    if (form !== undefined) use(form)
  }
  const settled = (): Reader => {
    if (head) take(head.end())
    head = undefined
    return reader ?? use(detector.end())
  }
  return {
    feed(text) {
      if (reader) return reader.feed(text)
      const body = head ? head.take(text) : text
      if (body === undefined) return
      head = undefined
      take(body)
    },
    end: () => settled().end(),
    fail: (error) => settled().fail(error),
    abort: () => settled().abort(),
  }
}

/** Reads events, one JSON object a line. */
function recording(onEvent: (event: StreamEvent) => void): Reader {
  const replay = createReplay(onEvent)
  /** The open line, in pieces. */
  let pieces: string[] = []
  let count = 0
  const takeLine = (): void => {
    const line = pieces.join('').trim()
    pieces = []
    count++
    if (line !== '') replay.take(parseLine(line), `line ${count}`)
  }
  return {
    feed(text) {
      let start = 0
      for (let stop = text.indexOf('\n'); stop >= 0; stop = text.indexOf('\n', start)) {
        pieces.push(text.slice(start, stop))
        takeLine()
        start = stop + 1
      }
      if (start < text.length) pieces.push(text.slice(start))
    },
    end() {
      takeLine()
      replay.end()
    },
    fail: (error) => replay.fail(error),
    abort: () => replay.abort(),
  }
}

/** The value of a line; undefined, which is no event, if it is not JSON. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
