/**
 * Finds out what the input is: raw model text, an answer of a llama-server, or a recording of our
 * own events.
 *
 * The first bytes tell most of it, the first frame's shape the rest: prose may begin with `data:`
 * and a model's answer with a JSON object. What may still be a frame is held back, at most its
 * line, or the object if it is laid out over lines; each character is looked at once, however the
 * input is cut.
 */
import { LaidOutObject } from './laid-out-object.ts'
import { isEventLike } from './replay.ts'

export type Form =
  | 'text'
  /** Server-sent events or JSON: the reader of a llama-server's answers takes both. */
  | 'server'
  /** Events of ours, one a line. */
  | 'events'

/** How much of a first line is held while it may be a frame, in UTF-16 units. */
export const HELD_LIMIT: number = 1024 * 1024

/** Takes the beginning of the input; answers once. */
export class Detector {
  /** Everything that came, in pieces. */
  readonly held: string[] = []
  private size = 0
  /** The line that stands open: its pieces, and its first characters in one string. */
  private line: string[] = []
  private head = ''
  /** Lines of server-sent events that carry no data have come: comments, `event:` and the like. */
  private fields = false
  /** They were empty comments all: a server's sign of life. */
  private pings = false
  /** An object that is laid out over lines, as `jq` does it. */
  private object: LaidOutObject | undefined
  private readonly json: boolean

  /** `json`: the input is known to be JSON, so that it can't be text. */
  constructor({ json = false }: { readonly json?: boolean } = {}) {
    this.json = json
  }

  /** Undefined: more input is needed. */
  take(text: string): Form | undefined {
    this.held.push(text)
    this.size += text.length
    for (let start = 0; start < text.length;) {
      const stop = endOfLine(text, start)
      const piece = text.slice(start, stop)
      this.line.push(piece)
      if (this.head.length < HEAD) this.head = (this.head + piece).slice(0, HEAD)
      if (stop === text.length) break
      const form = this.judgeLine(this.line.join(''))
      if (form !== undefined) return form
      this.line = []
      this.head = ''
      start = stop + 1
    }
    if (this.json) return this.size > HELD_LIMIT ? 'server' : undefined
    return this.judgeHead()
  }

  /** The answer when no more input comes. */
  end(): Form {
    const line = this.line.join('')
    const form = this.judgeLine(line)
    if (form === 'text' && CUT_DATA.test(line)) return 'server'
    return form ?? (this.pings || this.json ? 'server' : 'text')
  }

  /** What a whole line says. */
  private judgeLine(line: string): Form | undefined {
    if (line.trim() === '') return undefined
    if (this.object) return this.judgeObject(this.object, line)
    if (!this.json && !this.fields && line.trim() === '{') {
      this.object = new LaidOutObject()
      return undefined
    }
    if (this.json || (!this.fields && line.trimStart().startsWith('{'))) {
      const value = parse(line)
      if (!isFrame(value) && isEventLike(value)) return 'events'
      return this.json || isFrame(value) ? 'server' : 'text'
    }
    const data = DATA.exec(line)?.[1]
    if (data !== undefined) {
      if (data.trim() === '') return undefined
      return data.trim() === '[DONE]' || isObjectOrNull(data) ? 'server' : 'text'
    }
    if (!FIELD.test(line)) return 'text'
    this.pings = line === ':' && (this.pings || !this.fields)
    this.fields = true
    return undefined
  }

  /** What the next line of an object says. */
  private judgeObject(object: LaidOutObject, line: string): Form | undefined {
    if (object.empty && !mayBeFrame(`{${line}`)) return 'text'
    switch (object.take(line)) {
      case 'open':
        return undefined
      case 'closed':
        return isFrame(parse(object.text())) ? 'server' : 'text'
      case 'no object':
        return 'text'
    }
  }

  /** What the beginning of an unfinished line rules out. */
  private judgeHead(): Form | undefined {
    const { head, object } = this
    if (this.size > HELD_LIMIT) return CUT_DATA.test(head) ? 'server' : 'text'
    if (object) {
      const fits = object.empty ? mayBeFrame(`{${head}`) : LaidOutObject.mayBegin(head)
      return fits ? undefined : 'text'
    }
    const body = head.trimStart()
    if (body === '') return this.size > WHITESPACE ? 'text' : undefined
    if (!this.fields && body.startsWith('{')) return mayBeFrame(body) ? undefined : 'text'
    if (head.startsWith('data:')) return mayBeData(head.slice(5).trimStart()) ? undefined : 'text'
    // Some servers send comments of a few kilobytes, to get through a proxy's buffer.
    if (head.length === HEAD && (!head.startsWith(':') || this.size > COMMENTS)) return 'text'
    return NAMES.some((name) => name.startsWith(head)) || FIELD.test(head) ? undefined : 'text'
  }
}

/** How much of a line is looked at before it is whole. */
const HEAD = 256
/** How much white space may come first. */
const WHITESPACE = 4_096
/** How much of the input may pass until a long comment ends. */
const COMMENTS = 16_384

const NAMES = ['data:', 'event:', 'id:', 'retry:']
const DATA = /^data:(.*)$/s
/** A line of server-sent events other than data. Any line that begins with a colon is a comment. */
const FIELD = /^(?:event:|id:|retry:|:)/
/** The beginning of a data line that was cut off. */
const CUT_DATA = /^data: ?\{\s*"/

/**
 * Keys that a frame of llama-server, or of a server that speaks its protocols, may begin with. The
 * object of a tool call begins with none of them, so it is known as text by its first key.
 */
const FIRST_KEYS: ReadonlySet<string> = new Set([
  ...['index', 'content', 'tokens', 'stop', 'id_slot', 'completion_probabilities', 'timings'],
  ...['choices', 'created', 'id', 'model', 'system_fingerprint', 'object', 'usage'],
  ...['error', 'type', 'created_at', 'response', 'message', 'done'],
])

function mayBeFrame(body: string): boolean {
  const match = /^\{\s*(?:$|"(?:([^"\\]*)("?)))/.exec(body)
  if (!match) return false
  const [, key = '', quote = ''] = match
  if (quote === '') return body.length < HEAD
  return FIRST_KEYS.has(key)
}

function mayBeData(body: string): boolean {
  if (body.startsWith('{')) return /^\{\s*(?:$|"|\})/.test(body)
  return '[DONE]'.startsWith(body) || 'null'.startsWith(body)
}

/**
 * Whether a value has the shape of a frame: a llama-server's, or one of a server whose frames its
 * reader knows by name and declines with the reason.
 */
function isFrame(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('choices' in value) return Array.isArray(value.choices)
  if ('error' in value) return typeof value.error === 'object' || typeof value.error === 'string'
  if ('done' in value) return 'response' in value || 'message' in value
  if (!('content' in value) || !('stop' in value)) return false
  return typeof value.content === 'string' && typeof value.stop === 'boolean'
}

function isObjectOrNull(json: string): boolean {
  return typeof parse(json) === 'object'
}

/** The JSON value, or undefined. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Where the line ends that goes on at `start`. */
function endOfLine(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x0a || code === 0x0d) return index
  }
  return text.length
}
