/**
 * The slow twin's answer to the question whether an opener opens a call: its header, and the first
 * characters of the body behind it.
 */
import { BARE_KEY, Broken, CallNotes, Json, type JsonRules } from './reference-json.ts'
import {
  FOREIGN_CLOSER,
  FUNCTION,
  FUNCTION_NAME,
  isBareName,
  isCutCloser,
  isName,
  matchAt,
  NAME_ATTRIBUTE,
  NAMED_FUNCTION,
  NAMED_TOOL_CALL,
  type Tag,
  TAGS,
  TOOL_CALL,
} from './reference-tags.ts'

export interface CallRules extends JsonRules {
  /** A tag that opens nothing is no text. */
  readonly stripOrphanTags?: boolean
  /** In reasoning, where other close markers of reasoning are text. */
  readonly thinking?: boolean
  /** The declared tools; absent: not stated. */
  readonly parametersOf?: ReadonlyMap<string, readonly string[] | undefined> | undefined
}

/** An opener that counts. */
export interface Opening {
  readonly tag: Tag
  readonly start: number
  /** Behind the opener. */
  readonly body: number
  /** From the header. */
  readonly name?: string
}

/** A call that is named by an element. */
export interface Element {
  readonly name: string
  /** Where the arguments stand, or the close marker for none. */
  readonly body: number
}

const ELEMENT_NAME = /<name>([^<]*)<\/name>\s*/y
const NAME_FIRST = /([\w\u0080-\uffff][^\s<]*)\s*<\/function[ \t\r\n]*>\s*(?=\{)/y
const FENCE = /```[A-Za-z0-9_-]*[ \t\r]*\n\s*/y

export class Openers {
  private readonly source: string
  private readonly rules: CallRules
  /** What was last read behind an opener and was no call: it is not read again. */
  refuted: { readonly from: number; readonly to: number } | undefined
  /** Where openers stand that were read with another one, which opened nothing. */
  private readonly spent = new Set<number>()

  constructor(source: string, rules: CallRules) {
    this.source = source
    this.rules = rules
  }

  /** See `JsonRules`. */
  private get behind(): string {
    return this.rules.behind ?? ''
  }

  /** The opener at `at` that opens a call. */
  openingAt(at: number, lineStart: boolean): Opening | undefined {
    if (this.isSpent(at)) return undefined
    return this.wrapperAt(at) ?? (lineStart ? this.unwrappedAt(at) : undefined)
  }

  forget(): void {
    this.refuted = undefined
  }

  spend(at: number): void {
    this.spent.add(at)
  }

  /** An opener that was read with another one, which opened nothing. */
  isSpent(at: number): boolean {
    return this.spent.has(at)
  }

  /** Any opener of a tag. */
  tagAt(at: number): { readonly end: number } | undefined {
    return TAGS.map((tag) => matchAt(tag.opener, this.source, at)).find(Boolean)
  }

  /** One of `tags` that opens a call; it may stand inside those `around`. */
  wrapperAt(
    at: number,
    tags: readonly Tag[] = TAGS,
    around: readonly Tag[] = [],
  ): Opening | undefined {
    for (const tag of tags) {
      const opener = matchAt(tag.opener, this.source, at)
      if (!opener) continue
      const name = NAME_ATTRIBUTE.exec(opener.group)
      // A function that its header names is no wrapper.
      if (name && tag === FUNCTION) return undefined
      const opening = { tag, start: at, body: opener.end }
      if (name && tag === TOOL_CALL)
        return this.argumentsFollow(opener.end, tag)
          ? { ...opening, tag: NAMED_TOOL_CALL, name: name[1] ?? name[2]! }
          : undefined
      return this.bodyFollows(opener.end, tag, around) ? opening : undefined
    }
    return undefined
  }

  private unwrappedAt(at: number): Opening | undefined {
    const header = this.functionAt(at)
    if (!header || !isName(header.name) || !this.isCallable(header.name.trim())) return undefined
    if (!this.argumentsFollow(header.end, FUNCTION)) return undefined
    return { tag: NAMED_FUNCTION, start: at, body: header.end, name: header.name }
  }

  /** `<function=NAME>` or `<function name="NAME">`. */
  functionAt(at: number): { readonly name: string; readonly end: number } | undefined {
    const short = matchAt(FUNCTION_NAME, this.source, at)
    if (short) return isBareName(short.group) ? { name: short.group, end: short.end } : undefined
    const opener = matchAt(FUNCTION.opener, this.source, at)
    const name = opener && NAME_ATTRIBUTE.exec(opener.group)
    return name ? { name: name[1] ?? name[2]!, end: opener.end } : undefined
  }

  /** Declared, or no tools are stated. */
  isCallable(name: string): boolean {
    return this.rules.parametersOf === undefined || this.rules.parametersOf.has(name)
  }

  /** Behind a header that names the call: arguments, or the close marker for none. */
  argumentsFollow(at: number, tag: Tag): boolean {
    const { at: body, fenced } = this.bodyStart(at)
    if (this.source[body] === '{') return true
    return !fenced && matchAt(tag.closer, this.source, body) !== undefined
  }

  bodyFollows(at: number, tag: Tag, around: readonly Tag[] = []): boolean {
    const body = this.bodyStart(at).at
    const rest = this.source.slice(body)
    const tags = [tag, ...around]
    if (/^[{[]/.test(rest)) return this.objectBegins(body, tags)
    if (tag.functions && rest !== '' && begins(rest + this.behind, '<function=')) return true
    if (tag.functions && this.functionAt(body)) return true
    if (tag === FUNCTION && this.elementAt(body, around.length > 0)) return true
    if (this.wrapperAt(body, tag.inner, tags)) return true
    const nested = tag.inner.some(({ opener }) => matchAt(opener, this.source, body))
    if (nested) this.spend(body)
    return false
  }

  /** A call whose name is an element's text, or stands before the closer of its tag. */
  elementAt(at: number, inside: boolean): Element | undefined {
    const { source } = this
    const first = inside ? matchAt(NAME_FIRST, source, at) : undefined
    if (first) return { name: first.group, body: first.end }
    const element = matchAt(ELEMENT_NAME, source, at)
    const name = /[\w\u0080-\uffff-][^\s<]*\s*(?:<\/function[ \t\r\n]*>\s*)?/y
    const begun = inside ? matchAt(name, source, at) : undefined
    if (begun) this.refuted = { from: at, to: begun.end }
    if (!element) return undefined
    const { group: named } = element
    const opener = matchAt(/<arguments>\s*/y, source, element.end)
    if (opener && source[opener.end] === '{') return { name: named, body: opener.end }
    const body = opener?.end ?? element.end
    const rest = source.slice(body)
    // The end of input may stand here, or cut what has to follow.
    const cut = rest === '' || (!opener && '<arguments>'.startsWith(rest + this.behind))
    if (cut || isCutCloser(rest + this.behind, FUNCTION) || matchAt(FUNCTION.closer, source, body))
      return { name: named, body }
    return undefined
  }

  /** White space and a code fence may stand before a body. */
  private bodyStart(at: number): { readonly at: number; readonly fenced: boolean } {
    const start = this.afterSpace(at)
    const fence = this.rules.strict ? undefined : matchAt(FENCE, this.source, start)
    return fence ? { at: fence.end, fenced: true } : { at: start, fenced: false }
  }

  /** An object with a key begins, or a list of such; or the end of input cuts it there. */
  private objectBegins(at: number, tags: readonly Tag[]): boolean {
    const { source, rules } = this
    const closers = tags.map((tag) => tag.closer)
    const json = new Json(source, new CallNotes(), rules, closers)
    const goesOn = (): string | undefined => json.space()
    json.at = at
    const follows = this.keyFollows(json, goesOn)
    if (!follows) this.refuted = { from: at, to: json.at }
    return follows
  }

  private keyFollows(json: Json, goesOn: () => string | undefined): boolean {
    const { source, rules } = this
    try {
      if (json.first === '[') {
        json.at++
        if (goesOn() === undefined) return true
      }
      if (json.first !== '{') return false
      json.at++
      if (!rules.strict && json.first === '{') json.at++
      const first = goesOn()
      if (first === undefined || json.isQuote(first)) return true
      if (first === '“') return !rules.strict
      return !rules.strict && this.bareKeyFollows(json)
    } catch (error) {
      // A comment, cut by the end of input or no comment after all.
      const cut = !/^\/[^/*]/.test(source.slice(json.at))
      if (error instanceof Broken) return cut && error.code === 'incomplete-call'
      throw error
    }
  }

  /** A word that is a key: its colon follows. */
  private bareKeyFollows(json: Json): boolean {
    const word = matchAt(BARE_KEY, this.source, json.at)
    if (!word) return false
    json.at = word.end
    try {
      return json.space() === ':'
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      json.at = error.at
      return false
    }
  }

  /** The body behind an opener: where it begins, and whether in a fence. */
  bodyOf(at: number): { readonly at: number; readonly fenced: boolean } {
    return this.bodyStart(at)
  }

  /** Another object stands at `at`. */
  isObject(at: number, tags: readonly Tag[]): boolean {
    return this.source[at] === '{' && this.objectBegins(at, tags)
  }

  afterSpace(at: number): number {
    while (at < this.source.length && /\s/.test(this.source.charAt(at))) at++
    return at
  }
}

/** A close marker of calls, of any family. */
export function closerAt(source: string, at: number): { readonly end: number } | undefined {
  return (
    TAGS.map((tag) => matchAt(tag.closer, source, at)).find(Boolean) ??
    matchAt(FOREIGN_CLOSER, source, at)
  )
}

/** `text` is the beginning of `literal`, or begins with it. */
function begins(text: string, literal: string): boolean {
  return literal.startsWith(text) || text.startsWith(literal)
}
