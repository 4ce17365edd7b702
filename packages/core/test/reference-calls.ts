/**
 * The slow twin's reading of calls: what stands in a tag, and where reading goes on behind it. It
 * knows nothing of the text around.
 */
import type { ErrorCode, RepairCode, WarningCode } from '../src/errors.ts'
import type { JsonValue } from '../src/events.ts'
import { Broken, CallNotes, Json } from './reference-json.ts'
import {
  beginRoot,
  endsDoubled,
  Envelope,
  type Found,
  readObject,
  Unfit,
} from './reference-object.ts'
import {
  type CallRules,
  closerAt,
  type Element,
  type Openers,
  type Opening,
} from './reference-openers.ts'
import { afterBalance, nextMarker } from './reference-resume.ts'
import {
  BRACKET_MARKERS,
  FUNCTION,
  isCutCloser,
  isCutHeader,
  isName,
  MARKER,
  matchAt,
  NAMED_FUNCTION,
  REASONING,
  type Tag,
  TAGS,
  TOOL_CALL,
} from './reference-tags.ts'

export interface ReadCall {
  readonly kind: 'call'
  readonly name: string
  /** The JSON text of the arguments. */
  readonly arguments: string
  readonly input: JsonValue
  /** Offset of the opener, or of what stands for it. */
  readonly start: number
  readonly repairs: readonly RepairCode[]
  /** Offset of the arguments; of nothing if the call has none, or not as its own object. */
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

export interface ReadWarning {
  readonly code: WarningCode
  readonly start: number
}

/** The calls of one tag. */
export interface Run {
  readonly parts: readonly (ReadCall | ReadFailure)[]
  readonly warnings: readonly ReadWarning[]
  /** Where reading goes on. */
  readonly at: number
  /** Where the last call or its last closer ended. */
  readonly partEnd: number
  /** Tags that closed without their marker, which may still come. */
  readonly late: readonly Tag[]
  /** The input ended inside a string. */
  readonly opaque: boolean
}

/** Call objects that no opener stands before. */
export interface Bare {
  readonly parts: readonly ReadCall[]
  readonly warnings: readonly ReadWarning[]
  readonly end: number
}

/** What could have been a call is text up to `end`. */
export interface Refuted {
  readonly end: number
  /** The input ended inside a string. */
  readonly opaque: boolean
}

/** Where the next call begins, and the tags around it, the innermost first. */
interface Next {
  readonly at: number
  readonly tags: readonly Tag[]
}

/** Reads the calls of an opener that counts. */
export function readCalls(
  source: string,
  rules: CallRules,
  openers: Openers,
  opening: Opening,
): Run {
  return new TagReader(openers, source, rules).read(opening)
}

/** Call objects without an opener at `at`, or where they turned out to be none. */
export function readBareCalls(
  source: string,
  rules: CallRules,
  openers: Openers,
  at: number,
): Bare | Refuted {
  return new TagReader(openers, source, rules).readBare(at)
}

/** Reads what stands in one tag, to where text goes on. */
class TagReader {
  private readonly openers: Openers
  private readonly source: string
  private readonly rules: CallRules
  private readonly parts: (ReadCall | ReadFailure)[] = []
  private readonly warnings: ReadWarning[] = []
  private at = 0
  private partEnd = 0
  private late: readonly Tag[] = []
  private opaque = false
  /** Where objects without an opener begin. */
  private bareStart = 0
  /** In a list whose bracket has not come. */
  private listed = false
  /** In a fence that has not been closed. */
  private fenced = false
  /** It began before the call at hand. */
  private fenceBegan = false

  constructor(openers: Openers, source: string, rules: CallRules) {
    this.openers = openers
    this.source = source
    this.rules = rules
  }

  read({ tag, start, body, name }: Opening): Run {
    if (name === undefined) this.readTag(tag, start, body)
    else this.readNamed(name, start, body, [tag])
    const { parts, warnings, at, partEnd, late, opaque } = this
    return { parts, warnings, at, partEnd, late, opaque }
  }

  /** A call object without an opener, or a list of them. */
  readBare(start: number): Bare | Refuted {
    const list = this.source[start] === '['
    const notes = new CallNotes()
    this.bareStart = start
    try {
      if (list) return this.readBareList(start, notes)
      try {
        const found = this.readBareObject(start, notes)
        if (!found.arguments) return { end: found.end, opaque: false }
        return this.bare(this.endOf(found))
      } catch (error) {
        if (!(error instanceof Envelope)) throw error
        if (this.source[error.at] !== '[') return { end: error.at, opaque: false }
        const calls = this.readBareList(error.at, notes)
        const end = this.openers.afterSpace(calls.end)
        return 'parts' in calls && this.source[end] === '}' ? { ...calls, end: end + 1 } : calls
      }
    } catch (error) {
      // An envelope holds calls only as the root.
      if (error instanceof Unfit || error instanceof Envelope)
        return { end: error.at, opaque: false }
      if (!(error instanceof Broken)) throw error
      return { end: Math.min(error.at, this.source.length), opaque: error.opaque }
    }
  }

  private readBareList(start: number, notes: CallNotes): Bare | Refuted {
    let at = this.openers.afterSpace(start + 1)
    for (;;) {
      if (this.source[at] !== '{') return { end: at, opaque: false }
      const found = this.readBareObject(at, this.parts.length === 0 ? notes : new CallNotes())
      if (!found.arguments) return { end: found.end, opaque: false }
      at = this.endOf(found)
      if (this.source[at] === ']') return this.bare(at + 1)
      if (this.source[at] !== ',') return { end: at, opaque: false }
      at = this.openers.afterSpace(at + 1)
    }
  }

  private bare(end: number): Bare {
    const { parts, warnings } = this
    return { parts: parts.filter(isCall), warnings, end }
  }

  /** Behind an object, and white space. */
  private endOf(found: Found): number {
    return this.openers.afterSpace(found.end)
  }

  private readBareObject(at: number, notes: CallNotes): Found {
    const { source, rules } = this
    const parameters = (): undefined => undefined
    const context = { source, rules, tags: [TOOL_CALL], parameters, bare: true }
    const found = readObject(context, notes, at)
    // What stands before the first object is its own.
    const start = this.parts.length === 0 ? this.bareStart : at
    if (found.arguments) this.addCall(start, notes, found)
    return found
  }

  private warn(code: WarningCode, start: number): void {
    this.warnings.push({ code, start })
  }

  /** The calls inside a tag: objects, a list of them, functions, or a further tag around them. */
  private readTag(outermost: Tag, opener: number, body: number): void {
    let tags: readonly Tag[] = [outermost]
    let start = opener
    let at = this.bodyStart(body)
    for (;;) {
      const named = this.openers.functionAt(at)
      const inner = named
        ? undefined
        : tags[0]!.inner.find((tag) => matchAt(tag.opener, this.source, at))
      if (inner) {
        tags = [inner, ...tags]
        at = this.bodyStart(matchAt(inner.opener, this.source, at)!.end)
        continue
      }
      const element = tags[0] === FUNCTION ? this.openers.elementAt(at, tags.length > 1) : undefined
      const next: Next | undefined = element
        ? this.readElement(element, start, tags)
        : this.source[at] === '<'
          ? this.readFunction(start, at, tags)
          : this.readCall(start, tags, (notes) => this.readObject(notes, tags, at))
      if (!next) return
      start = at = next.at
      tags = next.tags
    }
  }

  private bodyStart(at: number): number {
    const body = this.openers.bodyOf(at)
    this.fenced ||= body.fenced
    this.fenceBegan ||= body.fenced
    return body.at
  }

  private readObject(notes: CallNotes, tags: readonly Tag[], at: number): Found {
    const { source, rules } = this
    const parameters = (name: string): readonly string[] | undefined =>
      rules.parametersOf?.get(name)
    if (source[at] !== '[') return readObject({ source, rules, tags, parameters }, notes, at)
    this.listed = true
    const closers = tags.map((tag) => tag.closer)
    const json = new Json(source, notes, rules, closers)
    json.at = at + 1
    if (json.space() !== '{') json.fail(json.at)
    return readObject({ source, rules, tags, parameters }, notes, json.at)
  }

  private readFunction(start: number, at: number, tags: readonly Tag[]): Next | undefined {
    const header = this.openers.functionAt(at)
    if (header) return this.readNamed(header.name, start, header.end, [NAMED_FUNCTION, ...tags])
    return this.readCall(start, tags, () => {
      const name = at + '<function='.length
      const broken = /[>\r\n<"'`]/.exec(this.source.slice(name) + (this.rules.behind ?? ''))
      if (!broken) throw new Broken('incomplete-call', this.source.length)
      throw new Broken('malformed-call', name + broken.index)
    })
  }

  private readElement(
    { name, body }: Element,
    start: number,
    tags: readonly Tag[],
  ): Next | undefined {
    const { source, rules } = this
    return this.readCall(start, tags, (notes) => {
      const closers = tags.map((tag) => tag.closer)
      const json = new Json(source, notes, rules, closers)
      const closer = matchAt(FUNCTION.closer, source, body)
      if (!closer && source[body] !== '{') throw new Broken('incomplete-call', source.length)
      if (!isName(name.trim())) throw new Broken('malformed-call', body)
      notes.name = name.trim()
      notes.provedAt = closer?.end ?? body + 1
      notes.committed = !closer
      if (closer) return { end: body, completeAt: closer.end }
      const found = this.readArguments(json, body, tags)
      const behind = matchAt(/\s*<\/arguments>/y, source, found.end)
      return { ...found, end: behind?.end ?? found.end, completeAt: found.end }
    })
  }

  private readArguments(json: Json, from: number, tags: readonly Tag[]): Found {
    const { source, rules } = this
    json.at = from
    beginRoot(json, { source, rules })
    json.inside = true
    json.object(undefined, undefined, true)
    const found = { arguments: json.out, argumentsAt: from, end: json.at }
    if (!json.notes.doubled) return found
    const at = matchAt(/[ \t\r\n]*/y, source, json.at)!.end
    if (source[at] === '}') return { ...found, end: at + 1 }
    const closer = endsDoubled(at, { source, rules, tags })
    if (closer === undefined) json.fail(at)
    json.repair('missing-brace')
    return { ...found, completeAt: closer }
  }

  /** A call whose header names it: JSON arguments follow. */
  private readNamed(
    name: string,
    start: number,
    body: number,
    tags: readonly Tag[],
  ): Next | undefined {
    const { source, rules } = this
    return this.readCall(start, tags, (notes) => {
      const json = new Json(
        source,
        notes,
        rules,
        tags.map((tag) => tag.closer),
      )
      const from = this.bodyStart(body)
      this.noteFence(notes)
      const closer = this.fenced ? undefined : matchAt(tags[0]!.closer, source, from)
      notes.committed = source[from] === '{'
      if (!isName(name.trim())) throw new Broken('malformed-call', body)
      notes.name = name.trim()
      // Inside a tag the header is proof; elsewhere what follows it.
      notes.provedAt = tags.length > 1 ? body : (closer?.end ?? from + 1)
      if (closer) return { end: from, completeAt: closer.end }
      // A marker that stands here belongs to no value of this call.
      notes.committed ||= !MARKER.test(source.slice(from))
      if (source[from] !== '{') {
        const { behind = '' } = rules
        const rest = source.slice(from) + behind
        const marker = rest !== '' && BRACKET_MARKERS.some((known) => isBegun(rest, known))
        const fence = !rules.strict && /^(?:`{1,2}|```[\w-]*[ \t\r]*)$/.test(rest)
        if (marker || (fence && !this.fenced)) throw new Broken('incomplete-call', source.length)
        const header = TAGS.some((tag) => isCutHeader(rest, tag))
        if (header) throw new Broken('malformed-arguments', from)
        json.fail(from)
      }
      return this.readArguments(json, from, tags)
    })
  }

  /**
   * Reads one call and what stands behind it. `tags` are open, the innermost first. Returns where
   * the next call inside them begins, if there is one.
   */
  private readCall(
    start: number,
    tags: readonly Tag[],
    body: (notes: CallNotes) => Found,
  ): Next | undefined {
    const notes = new CallNotes()
    this.noteFence(notes)
    this.late = []
    try {
      const found = body(notes)
      if (this.parts.length === 0 && tags.at(-1) === NAMED_FUNCTION)
        this.warn('missing-open-tag', start)
      this.addCall(start, notes, found)
      return this.behindCall(found.end, tags)
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      this.opaque = error.opaque
      const tag = tags.at(-1)!
      this.at = this.partEnd = notes.committed
        ? afterBalance(this.source, error.end, notes.lastString, tag)
        : nextMarker(this.source, this.openers, error.end, tag)
      this.warnOfName(start, notes)
      if (this.parts.length === 0 && tags.at(-1) === NAMED_FUNCTION)
        this.warn('missing-open-tag', start)
      this.parts.push({
        kind: 'failed',
        ...(notes.name !== undefined && { name: notes.name, provedAt: notes.provedAt }),
        code: error.code,
        raw: this.source.slice(start, this.at),
      })
      return undefined
    }
  }

  /** A fence behind the opener is a repair of the first call in it. */
  private noteFence(notes: CallNotes): void {
    if (this.fenceBegan) notes.repairs.add('code-fence')
    this.fenceBegan = false
  }

  private addCall(start: number, notes: CallNotes, found: Found): void {
    const { arguments: text = '{}', end, completeAt = end } = found
    this.warnOfName(start, notes)
    for (const [keyStart] of found.unknownKeys ?? []) this.warn('unknown-key', keyStart)
    if (notes.suspicious) this.warn('suspicious-escape', notes.suspicious[0])
    this.parts.push({
      kind: 'call',
      name: notes.name!,
      arguments: text,
      input: JSON.parse(text) as JsonValue,
      start,
      repairs: [...notes.repairs],
      ...(found.argumentsAt !== undefined && { argumentsAt: found.argumentsAt }),
      provedAt: notes.provedAt,
      completeAt,
    })
  }

  private warnOfName(start: number, { name }: CallNotes): void {
    if (name !== undefined && !this.openers.isCallable(name)) this.warn('unknown-tool', start)
  }

  // ---- behind a call

  /** What may stand between the end of a call and the close markers of its tags. */
  private behindCall(end: number, tags: readonly Tag[]): Next | undefined {
    const { source, openers } = this
    const { behind = '' } = this.rules
    const outermost = tags.at(-1)!
    let open = tags
    let foreign = false
    this.at = this.partEnd = end
    for (;;) {
      const at = openers.afterSpace(this.at)
      const closed = !open.includes(outermost)
      const closer = closerAt(source, at)
      // One of another family counts, too; behind an unwrapped function so does any.
      if (closer && (!closed || outermost === NAMED_FUNCTION)) {
        const left = open.filter((tag) => !matchAt(tag.closer, source, at))
        if (left.length === open.length && !closed) {
          if (!foreign) this.warn('mismatched-close-tag', at)
          foreign = true
        }
        open = left
        this.at = this.partEnd = closer.end
        continue
      }
      this.late = open
      if (closed) return undefined
      const rest = source.slice(at)
      if (/^[}\]]/.test(rest)) {
        const free = rest[0] === ']' && this.listed
        if (!free) this.warn('surplus-closer', at)
        else this.listed = false
        this.at = at + 1
        continue
      }
      if (this.fenced && rest.startsWith('```')) {
        this.fenced = false
        this.at = at + 3
        continue
      }
      const separator = /^[,;]?\s*/.exec(rest)![0]
      const next = at + separator.length
      // Behind another family's closer only closers follow.
      const around = foreign ? undefined : this.tagsOfAnother(next, open)
      if (around) return { at: next, tags: around }
      const cut = open.some((tag) => isCutCloser(source.slice(next) + behind, tag))
      if (cut) this.at = source.length
      const orphan = this.rules.stripOrphanTags && !this.rules.thinking
      const reasoning = REASONING.find(([, close]) => source.startsWith(close, at))?.[1]
      if (orphan && reasoning) {
        this.warn('orphan-close-tag', at)
        this.at = at + reasoning.length
        continue
      }
      // A tag that opens nothing may be no text.
      const stripped = this.rules.stripOrphanTags ? this.tagAt(at) : undefined
      if (stripped && !this.markerAt(at)) {
        this.at = stripped.end
        const body = openers.afterSpace(stripped.end)
        if (openers.refuted?.from !== body && source[body] !== '`') continue
        this.warn('trailing-text', at)
        return undefined
      }
      // What separates nothing is layout, too.
      const marker = this.markerAt(next)
      if (foreign || separator === '' || !marker) {
        const unclosed = cut || (marker && separator === '')
        if (!foreign) this.warn(unclosed ? 'unclosed-tag' : 'trailing-text', at)
        return undefined
      }
      this.at = next
    }
  }

  private startsLine(at: number): boolean {
    return /(^|\n)[ \t\r]*$/.test(this.source.slice(this.partEnd, at))
  }

  /** Any opener of a tag. */
  private tagAt(at: number): { readonly end: number } | undefined {
    const { openers } = this
    return openers.tagAt(at) ?? (this.startsLine(at) ? openers.functionAt(at) : undefined)
  }

  /** A marker that counts stands at `at`, or the input ends there. */
  private markerAt(at: number): boolean {
    const { source, openers } = this
    const lineStart = this.startsLine(at)
    if (at >= source.length || openers.openingAt(at, lineStart)) return true
    if (lineStart && REASONING.some(([open]) => source.startsWith(open, at))) return true
    return closerAt(source, at) !== undefined
  }

  /** The tags around another call that stands at `at`, inside those that are open. */
  private tagsOfAnother(at: number, open: readonly Tag[]): readonly Tag[] | undefined {
    const { source, openers } = this
    if (open.some((tag) => tag.objects) && openers.isObject(at, open)) return open
    const rest = source.slice(at)
    const { behind = '' } = this.rules
    // The end of input may cut the header.
    const cut = rest.length > 1 && '<function='.startsWith(rest + behind)
    const named = cut || rest.startsWith('<function=') || openers.functionAt(at) !== undefined
    // Tags inside the one that holds it count as closed.
    const place = open.findIndex(
      (tag, i) => (named && tag.functions) || openers.wrapperAt(at, tag.inner, open.slice(i)),
    )
    if (place >= 0) return open.slice(place)
    // An opener that would have stood inside an open tag stands nowhere else.
    if (open.some(({ inner }) => inner.some(({ opener }) => matchAt(opener, source, at))))
      openers.spend(at)
    return undefined
  }
}

/** `text` is the beginning of `literal`, but not all of it. */
function isBegun(text: string, literal: string): boolean {
  return literal.startsWith(text) && literal !== text
}

function isCall(part: ReadCall | ReadFailure): part is ReadCall {
  return part.kind === 'call'
}
