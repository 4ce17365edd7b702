/**
 * The slow twin: reads a whole text as the Hermes family does, with any look-ahead it likes.
 *
 * It goes through the text character by character, asks at each one whether a marker stands there,
 * and reads a call by recursive descent. It shares no code with the machine, so the two can only
 * agree by reading the same contract. It knows no cut, no limit and no warning.
 */
import type { ErrorCode, JsonValue } from '../src/index.ts'
import { Broken, Json } from './reference-json.ts'

export interface Prose {
  readonly kind: 'text' | 'reasoning'
  text: string
}

export interface ReadCall {
  readonly kind: 'call'
  readonly name: string
  /** The JSON text of the arguments. */
  readonly arguments: string
  readonly input: JsonValue
  /** Offset of the arguments; of nothing if the call has none. */
  readonly argumentsAt?: number
  /** Offset behind the character that proved the name and the grammar. */
  readonly provedAt: number
  /** Offset behind the character that made the call complete. */
  readonly completeAt: number
}

export interface ReadFailure {
  readonly kind: 'failed'
  /** Absent if the call failed before its name was known. */
  readonly name?: string
  readonly code: ErrorCode
  readonly raw: string
  /** As in a call, if it had started. */
  readonly provedAt?: number
}

export type ReadPart = Prose | ReadCall | ReadFailure

export interface Reading {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ReadCall[]
  readonly failed: readonly ReadFailure[]
  readonly parts: readonly ReadPart[]
}

export interface ReadOptions {
  /** Names of the declared tools. Absent: not stated. Empty: calls are text. */
  readonly tools?: readonly string[]
  readonly startIn?: 'text' | 'reasoning' | 'call'
}

/** A kind of tag, and what may stand in it. */
interface Tag {
  readonly opener: RegExp
  readonly closer: RegExp
  readonly name: string
  /** Opens or continues a tag of this kind when openers and closers are counted. */
  readonly counted: RegExp
  /** Whether objects with a name stand in it; else arguments alone, the name being in its header. */
  readonly objects: boolean
  /** Whether `<function=NAME>` may stand in it. */
  readonly functions: boolean
  readonly inner: readonly Tag[]
}

const BLANKS = '[ \\t\\r\\n]*'
const ATTRIBUTES = `((?:[ \\t\\r\\n]+[A-Za-z0-9_:-]+${BLANKS}=${BLANKS}(?:"[^"<\\n\`]*"|'[^'<\\n\`]*'))*)`
const NAME_ATTRIBUTE = /[ \t\r\n]name[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)')/
const FUNCTION_NAME = /<function=([^>\r\n<"'`]*)>/y
const NAMED = /<function=[^\S\r\n]*[^\s<>"'`]+[^\S\r\n]*>/

function defineTag(name: string, holds: Pick<Tag, 'objects' | 'functions' | 'inner'>): Tag {
  const opener = new RegExp(`<${name}${ATTRIBUTES}${BLANKS}>`, 'y')
  return {
    opener,
    closer: new RegExp(`</${name}${BLANKS}>`, 'y'),
    name,
    counted: name === 'function' ? new RegExp(`${opener.source}|${NAMED.source}`, 'y') : opener,
    ...holds,
  }
}

const FUNCTION = defineTag('function', { objects: true, functions: false, inner: [] })
const FUNCTION_CALL = defineTag('function_call', { objects: true, functions: true, inner: [] })
const TOOL_CALL = defineTag('tool_call', {
  objects: true,
  functions: true,
  inner: [FUNCTION_CALL, FUNCTION],
})
/** `<tool_call name="NAME">` and `<function=NAME>`. */
const NAMED_TOOL_CALL: Tag = { ...TOOL_CALL, objects: false, functions: false, inner: [] }
const NAMED_FUNCTION: Tag = { ...FUNCTION, objects: false }
const TAGS: readonly Tag[] = [TOOL_CALL, FUNCTION_CALL, FUNCTION]

/** A body begins: an object with a key, a list of such; or the end of input cuts it there. */
const OBJECT = /^\{[ \t\r\n]*("|$)/
const BODY = /^(?:\[[ \t\r\n]*)?\{[ \t\r\n]*("|$)|^\[[ \t\r\n]*$/

const MARKER =
  /^<\/?(?:(?:tool_call|function_call|function)[ \t\r\n>]|(?:think|thinking|reasoning)>)|^<function=[^\s<>"'`]+>/

const REASONING: readonly string[] = ['think', 'thinking', 'reasoning']

const NAME_KEYS: readonly string[] = ['name', 'tool', 'function', 'tool_name']
const ARGUMENT_KEYS: readonly string[] = ['arguments', 'parameters', 'args', 'input']

/** Where the next call begins, and the tags around it, the innermost first. */
interface Next {
  readonly at: number
  readonly tags: readonly Tag[]
}

/** What one call is made of. */
interface Found {
  /** Where the arguments stand, if there are any. */
  readonly arguments?: readonly [number, number]
  readonly end: number
  /** Default `end`. */
  readonly completeAt?: number
}

/** Reads a whole text. */
export function read(source: string, options: ReadOptions = {}): Reading {
  return new Reader(source, options).read()
}

class Reader {
  private readonly source: string
  private readonly options: ReadOptions
  private at = 0
  private readonly parts: ReadPart[] = []
  private prose: Prose | undefined
  /** White space that belongs to the next prose, if there is any. */
  private space = ''
  /** Tags that closed without their marker, which may still come. */
  private late: readonly Tag[] = []
  /** Where the last call or its last closer ended. */
  private partEnd = 0
  private lineStart = true
  private fence = ''
  private inline = 0
  private blockQuote = false

  constructor(source: string, options: ReadOptions) {
    this.source = source
    this.options = options
  }

  read(): Reading {
    if (this.options.startIn === 'reasoning') this.readReasoning(...REASONING)
    if (this.options.startIn === 'call' && this.bodyFollows(0, TOOL_CALL))
      this.readTag(TOOL_CALL, 0, 0)
    while (this.at < this.source.length) this.step()
    const joined = (kind: Prose['kind']): string =>
      this.parts.map((part) => (part.kind === kind ? part.text : '')).join('')
    return {
      text: joined('text'),
      reasoning: joined('reasoning'),
      calls: this.parts.filter((part) => part.kind === 'call'),
      failed: this.parts.filter((part) => part.kind === 'failed'),
      parts: this.parts,
    }
  }

  // ---- prose

  private step(): void {
    const { source, at } = this
    if (!this.quoted) {
      const opened = REASONING.find((name) => source.startsWith(`<${name}>`, at))
      if (opened && this.lineStart) {
        this.endPart()
        this.at += opened.length + 2
        return this.readReasoning(opened)
      }
      const closed = REASONING.find((name) => source.startsWith(`</${name}>`, at))
      if (closed && source.slice(0, at).trim() === '') {
        this.endPart()
        this.at += closed.length + 3
        return
      }
      const late = this.late.find((tag) => matchAt(tag.closer, source, at))
      if (late) {
        this.late = this.late.filter((tag) => tag !== late)
        this.at = matchAt(late.closer, source, at)!.end
        this.lineStart = false
        return
      }
      const call = this.options.tools?.length === 0 ? undefined : this.callAt(at)
      if (call) {
        this.endPart()
        call()
        this.endPart()
        // Brackets behind the call stand on the line, too.
        this.lineStart = /(^|\n)[ \t\r]*$/.test(source.slice(this.partEnd, this.at))
        return
      }
    }
    this.character()
  }

  /** One character of text, or one run of quote characters. */
  private character(): void {
    const { source, at } = this
    // A fence's info string has no backtick, else the backticks are inline code.
    const fence = this.lineStart ? matchAt(/`{3,}(?![^\n]*`)|~{3,}/y, source, at)?.text : undefined
    const ticks = this.fence ? undefined : matchAt(/`+/y, source, at)?.text
    if (fence && !this.fence && !this.blockQuote) this.fence = fence
    else if (fence && this.fence && fence.startsWith(this.fence)) {
      if (matchAt(/[ \t\r]*(\n|$)/y, source, at + fence.length)) this.fence = ''
    } else if (ticks && this.inline === 0) this.inline = ticks.length
    else if (ticks && this.inline === ticks.length) this.inline = 0
    else if (source[at] === '>' && this.lineStart && !this.fence) this.blockQuote = true
    const run = fence ?? ticks ?? source.charAt(at)
    if (run === '\n') {
      this.lineStart = true
      this.inline = 0
      this.blockQuote = false
    } else if (!/[ \t\r]/.test(run)) this.lineStart = false
    this.put('text', run)
    this.at += run.length
  }

  private get quoted(): boolean {
    return this.fence !== '' || this.inline > 0 || this.blockQuote
  }

  private put(kind: Prose['kind'], text: string): void {
    if (this.prose) {
      this.prose.text += text
      return
    }
    this.space += text
    if (this.space.trim() === '') return
    this.prose = { kind, text: this.space }
    this.parts.push(this.prose)
    this.space = ''
  }

  /** White space that no prose followed was layout. A part ends every quote. */
  private endPart(): void {
    this.prose = undefined
    this.space = ''
    this.lineStart = true
    this.fence = ''
    this.inline = 0
    this.blockQuote = false
  }

  /** Up to a closer of one of the names; several if the opener stood in the prompt. */
  private readReasoning(...names: readonly string[]): void {
    const closers = names.map((name) => `</${name}>`)
    while (this.at < this.source.length) {
      const close = closers.find((closer) => this.source.startsWith(closer, this.at))
      const end = this.at + (close?.length ?? 0)
      const inTicks = this.source[this.at - 1] === '`' && this.source[end] === '`'
      if (close !== undefined && !inTicks) {
        this.at = end
        break
      }
      this.put('reasoning', this.source.charAt(this.at++))
    }
    this.endPart()
  }

  // ---- calls

  /** The call that begins at `at`: its marker stands there and the grammar of a call follows. */
  private callAt(at: number): (() => void) | undefined {
    return this.wrapperAt(at) ?? (this.lineStart ? this.unwrappedAt(at) : undefined)
  }

  private wrapperAt(at: number, tags: readonly Tag[] = TAGS): (() => void) | undefined {
    for (const tag of tags) {
      const opener = matchAt(tag.opener, this.source, at)
      if (!opener) continue
      const name = tag === TOOL_CALL ? NAME_ATTRIBUTE.exec(opener.group) : null
      if (name) {
        if (!this.argumentsFollow(opener.end, tag)) return undefined
        const text = name[1] ?? name[2]!
        return () => void this.readNamed(text, at, opener.end, [NAMED_TOOL_CALL])
      }
      if (!this.bodyFollows(opener.end, tag)) return undefined
      return () => this.readTag(tag, at, opener.end)
    }
    return undefined
  }

  private unwrappedAt(at: number): (() => void) | undefined {
    const opener = matchAt(FUNCTION_NAME, this.source, at)
    if (!opener || !isBareName(opener.group)) return undefined
    const { tools } = this.options
    if (tools && !tools.includes(opener.group.trim())) return undefined
    if (!this.argumentsFollow(opener.end, FUNCTION)) return undefined
    return () => void this.readNamed(opener.group, at, opener.end, [NAMED_FUNCTION])
  }

  /** Behind a header that names the call: arguments, or the close marker for none. */
  private argumentsFollow(at: number, tag: Tag): boolean {
    const body = this.afterSpace(at)
    return this.source[body] === '{' || matchAt(tag.closer, this.source, body) !== undefined
  }

  private bodyFollows(at: number, tag: Tag): boolean {
    const body = this.afterSpace(at)
    const rest = this.source.slice(body)
    if (BODY.test(rest)) return true
    if (tag.functions && rest !== '' && begins(rest, '<function=')) return true
    return this.wrapperAt(body, tag.inner) !== undefined
  }

  /** A marker that counts stands at `at`, or the input ends there. */
  private markerAt(at: number, lineStart: boolean): boolean {
    if (at >= this.source.length || this.wrapperAt(at)) return true
    if (lineStart && REASONING.some((name) => this.source.startsWith(`<${name}>`, at))) return true
    return TAGS.some((tag) => matchAt(tag.closer, this.source, at))
  }

  /** The calls inside a tag: objects, a list of them, functions, or a further tag around them. */
  private readTag(outermost: Tag, opener: number, body: number): void {
    let tags: readonly Tag[] = [outermost]
    let start = opener
    let at = this.afterSpace(body)
    for (;;) {
      const inner = tags[0]!.inner.find((tag) => matchAt(tag.opener, this.source, at))
      if (inner) {
        tags = [inner, ...tags]
        at = this.afterSpace(matchAt(inner.opener, this.source, at)!.end)
        continue
      }
      if (this.source[at] === '[') at = this.afterSpace(at + 1)
      const next: Next | undefined =
        this.source[at] === '<'
          ? this.readFunction(start, at, tags)
          : this.readCall(start, tags, (json) => this.callObject(json, at))
      if (!next) return
      start = at = next.at
      tags = next.tags
    }
  }

  private readFunction(start: number, at: number, tags: readonly Tag[]): Next | undefined {
    const header = matchAt(FUNCTION_NAME, this.source, at)
    if (header && isBareName(header.group))
      return this.readNamed(header.group, start, header.end, [NAMED_FUNCTION, ...tags])
    return this.readCall(start, tags, () => {
      const name = at + '<function='.length
      const broken = /[>\r\n<"'`]/.exec(this.source.slice(name))
      if (!broken) throw new Broken('incomplete-call', this.source.length)
      throw new Broken('malformed-call', name + broken.index)
    })
  }

  /** A call whose header names it: JSON arguments follow. */
  private readNamed(
    name: string,
    start: number,
    body: number,
    tags: readonly Tag[],
  ): Next | undefined {
    return this.readCall(start, tags, (json) => {
      const from = this.afterSpace(body)
      const closer = matchAt(tags[0]!.closer, this.source, from)
      json.committed = this.source[from] === '{'
      if (!isName(name.trim())) throw new Broken('malformed-call', body)
      json.name = name.trim()
      // Inside a tag the header is proof; elsewhere what follows it.
      json.provedAt = tags.length > 1 ? body : (closer?.end ?? from + 1)
      if (closer) return { end: from, completeAt: closer.end }
      // A marker that stands here belongs to no value of this call.
      json.committed ||= !MARKER.test(this.source.slice(from))
      if (this.source[from] !== '{') json.fail(from)
      return { arguments: [from, json.value(from)], end: json.at }
    })
  }

  /**
   * Reads one call and what stands behind it. `tags` are open, the innermost first. Returns where
   * the next call inside them begins, if there is one.
   */
  private readCall(
    start: number,
    tags: readonly Tag[],
    body: (json: Json) => Found,
  ): Next | undefined {
    const json = new Json(this.source)
    this.late = []
    try {
      const { arguments: span, end, completeAt } = body(json)
      const text = span ? this.source.slice(...span) : '{}'
      this.parts.push({
        kind: 'call',
        name: json.name!,
        arguments: text,
        input: JSON.parse(text) as JsonValue,
        ...(span && { argumentsAt: span[0] }),
        provedAt: json.provedAt,
        completeAt: completeAt ?? end,
      })
      return this.behindCall(end, tags)
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      const tag = tags.at(-1)!
      this.at = this.partEnd = json.committed
        ? this.afterBalance(error.at, json.lastString, tag)
        : this.nextMarker(error.at, tag)
      this.parts.push({
        kind: 'failed',
        ...(json.name !== undefined && { name: json.name, provedAt: json.provedAt }),
        code: error.code,
        raw: this.source.slice(start, this.at),
      })
      return undefined
    }
  }

  /** An object that holds a name and arguments. */
  private callObject(json: Json, at: number): Found {
    let span: readonly [number, number] | undefined
    let argumentsKey: string | undefined
    let others = false
    let description = false
    const member = (key: string, value: number, outer: boolean): void => {
      const first = this.source[value]
      if (outer && key === 'function' && first === '{')
        return json.object(value, (inner, innerValue) => member(inner, innerValue, false), true)
      if (key === 'id' || key === 'type') return void json.value(value)
      if (outer ? NAME_KEYS.includes(key) : key === 'name') {
        if (first !== '"') json.fail(value)
        const name = json.text(value, true).trim()
        if (!isName(name) || (json.name !== undefined && json.name !== name)) json.fail(json.at - 1)
        if (json.name === undefined) json.provedAt = json.at
        json.name = name
        return
      }
      const isArguments = ARGUMENT_KEYS.includes(key)
      // A marker, or the end, begins no value.
      if (first === undefined || first === '<') json.fail(value)
      if (isArguments && argumentsKey !== undefined) json.fail(value)
      json.committed = true
      if (isArguments) argumentsKey = key
      else others = true
      description ||= key === 'description'
      if (description && argumentsKey === 'parameters') throw new Broken('declaration', value)
      if (isArguments && first !== '{') json.fail(value)
      json.value(value)
      if (isArguments) span = [value, json.at]
    }
    json.object(at, (key, value) => member(key, value, true), true)
    if (json.name === undefined || (!span && others)) json.fail(json.at - 1)
    return { ...(span && { arguments: span }), end: json.at }
  }

  // ---- behind a call

  /** What may stand between the end of a call and the close markers of its tags. */
  private behindCall(end: number, tags: readonly Tag[]): Next | undefined {
    const outermost = tags.at(-1)!
    let open = tags
    let foreign = false
    this.at = this.partEnd = end
    for (;;) {
      const at = this.afterSpace(this.at)
      const closed = !open.includes(outermost)
      const closer = TAGS.map((tag) => matchAt(tag.closer, this.source, at)).find(Boolean)
      // One of another family counts, too; behind an unwrapped function so does any.
      if (closer && (!closed || outermost === NAMED_FUNCTION)) {
        const left = open.filter((tag) => !matchAt(tag.closer, this.source, at))
        foreign ||= left.length === open.length
        open = left
        this.at = this.partEnd = closer.end
        continue
      }
      this.late = open
      if (closed) return undefined
      const rest = this.source.slice(at)
      if (/^[}\]]/.test(rest)) {
        this.at = at + 1
        continue
      }
      const separator = /^[,;]?\s*/.exec(rest)![0]
      const next = at + separator.length
      // Behind another family's closer only closers follow.
      if (!foreign && this.anotherAt(next, open)) return { at: next, tags: open }
      if (open.some((tag) => isCutCloser(rest, `</${tag.name}>`))) this.at = this.source.length
      // What separates nothing is layout, too.
      if (foreign || separator === '' || !this.markerAt(next, separator.includes('\n')))
        return undefined
      this.at = next
    }
  }

  /** Another call stands at `at`, inside the tags that are open. */
  private anotherAt(at: number, open: readonly Tag[]): boolean {
    const rest = this.source.slice(at)
    if (open.some((tag) => tag.objects) && OBJECT.test(rest)) return true
    if (open.some((tag) => tag.functions) && rest.startsWith('<function=')) return true
    return this.wrapperAt(at, open[0]?.inner ?? []) !== undefined
  }

  /** Behind a failure among the arguments: after the closer that balances the openers. */
  private afterBalance(brokeAt: number, from: number, tag: Tag): number {
    const before = from < brokeAt ? this.source.slice(from, brokeAt) : ''
    // The failure may have cut off the last opener's header: that counts, too.
    const opened = count(before, tag.counted.source) + count(before, cutHeader(tag.name))
    let open = Math.max(1, 1 + opened - count(before, tag.closer.source))
    for (let at = brokeAt; at < this.source.length; at++) {
      if (matchAt(tag.counted, this.source, at)) open++
      const closer = matchAt(tag.closer, this.source, at)
      if (closer && --open === 0) return closer.end
    }
    return this.source.length
  }

  /** Behind a failure before the arguments: the next opener, or after the next closer. */
  private nextMarker(brokeAt: number, tag: Tag): number {
    for (let at = brokeAt; at < this.source.length; at++) {
      const closer = matchAt(tag.closer, this.source, at)
      if (closer) return closer.end
      if (this.wrapperAt(at)) return at
    }
    return this.source.length
  }

  private afterSpace(at: number): number {
    while (at < this.source.length && /\s/.test(this.source.charAt(at))) at++
    return at
  }
}

/** A name has a letter or a digit, and no `<`, quote or line break. */
function isName(name: string): boolean {
  return /[\p{L}\p{N}]/u.test(name) && !/[<"'`\r\n]/.test(name)
}

/** Outside quotes it has no white space either; blanks around it are the tag's. */
function isBareName(name: string): boolean {
  return isName(name) && !/\s/.test(name.trim())
}

/** The beginning of an opener, in its attributes or its name, up to the end of the text. */
function cutHeader(name: string): string {
  const value = `=${BLANKS}(?:"[^"<\\n\`]*|'[^'<\\n\`]*)?`
  const attribute = `[ \\t\\r\\n]+(?:[A-Za-z0-9_:-]+${BLANKS}(?:${value})?)?`
  const attributes = `<${name}(?=[ \\t\\r\\n])${ATTRIBUTES}(?:${attribute})?$`
  return name === 'function' ? `${attributes}|<function=[^<>"'\`\\r\\n]*$` : attributes
}

function count(text: string, pattern: string): number {
  return text.match(new RegExp(pattern, 'g'))?.length ?? 0
}

/** The end of input cuts a close marker: in its name, or in the blanks behind it. */
function isCutCloser(rest: string, close: string): boolean {
  return (rest.length > 1 && close.startsWith(rest)) || rest.trimEnd() === close.slice(0, -1)
}

/** `text` is the beginning of `literal`, or begins with it. */
function begins(text: string, literal: string): boolean {
  return literal.startsWith(text) || text.startsWith(literal)
}

function matchAt(
  pattern: RegExp,
  source: string,
  at: number,
): { readonly text: string; readonly end: number; readonly group: string } | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(source)
  if (!found) return undefined
  return { text: found[0], end: at + found[0].length, group: found[1] ?? found[2] ?? '' }
}
