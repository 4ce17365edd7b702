/**
 * Reads calls: from an opener to the end of the call, or through a failed one to where text goes on.
 *
 * An opener alone is no call: until a body grammar has proven one, all that was read may go back
 * into the text. It knows no grammar's inside (`Body`), writes no event of a call (`CallSink`), and
 * leaves markers to the machine, which says what a marker means once the state has changed.
 */
import { AfterCall, FENCE, FOREIGN } from './after-call.ts'
import type { Body, Grammar } from './bodies/body.ts'
import * as char from './chars.ts'
import {
  BODY_TAG,
  CALL_CLOSER,
  CALL_OPENER,
  type Compiled,
  type Marker,
  type Tag,
} from './compile.ts'
import type { RuleCode, WarningCode } from './errors.ts'
import { FailedCall } from './failed-call.ts'
import { type Header, NAME } from './headers.ts'
import type { Limits } from './limits.ts'
import { MarkerReader, type Sighting } from './marker-reader.ts'
import type { Holding, JsonReading, SpanKind } from './options.ts'
import type { Output } from './output.ts'
import type { JsonValue } from './events.ts'
import { SameCalls } from './same-calls.ts'
import { type CallHost, CallSink, DONE, FAILED, NOT_A_CALL, isName } from './sink.ts'
import type { Stops } from './stops.ts'
import type { Tools } from './tools.ts'

// What is being read, `|` being the place.
const NOTHING = 0
const OPENING = 1 // <tool_call> |  {: an opener whose body has not begun
const BODY = 2 // <tool_call>{"na|me"
const SKIP = 3 // <tool_call>{broken| … : a failed call
type State = 0 | 1 | 2 | 3

// Where a code fence inside the tag stands, `|` being the place.
const NO_FENCE = 0
const TICKS = 3 // ```|json: 1 and 2 are fewer backticks
const INFO = 4 // ```js|on
const FENCED = 5 // ```json⏎|
const BLANKS = 6 // ```json |⏎
type Fence = 0 | 1 | 2 | 3 | 4 | 5 | 6

const NO_MARKER = -1
/** A repaired character of the arguments has at most so many. */
const GROWTH = 6

/** What the calls need of the machine. */
export interface CallsHost {
  readonly base: number
  readonly ended: boolean
  /** Characters up to `end` were no call: they are text. */
  giveBack(text: string, end: number): void
  /** A call, or a failed one, takes an index: the message is no call as a whole. */
  callBegins(): void
  /** A call, or a failed one, has ended at `offset`: text may follow. */
  resume(offset: number): void
  /** The state has changed: what does the marker mean now? */
  again(sighting: Sighting): void
  makeId(): string
  /** What was decided of a marker, for those who asked. */
  note(rule: RuleCode, marker: string, start: number, end?: number): void
  /** Characters may turn out to be text: their backticks count. */
  scanQuotes(text: string, offset: number): void
  /** A marker is nobody's. */
  dropMarker(start: number, end: number): void
}

/** The machine's parts that the calls work with. */
export interface CallParts {
  readonly compiled: Compiled
  readonly limits: Limits
  readonly out: Output
  readonly stops: Stops
  readonly markers: MarkerReader
  readonly tools: Tools | undefined
  readonly reading: JsonReading
  readonly patches: boolean
  readonly failedAsText: boolean
  readonly stripOrphanTags: boolean
  /** Somebody asked which rules decided. */
  readonly explains: boolean
}

export class CallReader implements CallHost {
  readonly after: AfterCall = new AfterCall()
  readonly sink: CallSink
  /** Calls that were completed. */
  completed = 0
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  private readonly host: CallsHost
  private readonly parts: CallParts
  private readonly bodies = new Map<Grammar, Body>()
  private state: State = NOTHING
  private body: Body | undefined
  /** Tags around the call at hand, outermost first. */
  private tags: Tag[] = []
  /** The name in the innermost tag's header. */
  private name: string | undefined
  private nameStart = 0
  private start = 0
  /** White space read before the body. */
  private space = 0
  /** Length of the outermost opener. */
  private openerSize = 0
  /** Openers inside the outermost one. */
  private readonly inner: Sighting[] = []
  /** Where a code fence around the body stands. */
  private fence: Fence = NO_FENCE
  /** The call has no opener, and that is worth a warning. */
  private unopened = false
  private readonly same = new SameCalls()
  /** The opener goes on inside the tags of the call before. */
  private continues = false
  /** The call has taken an index: it is no text any more. */
  private committed = false
  /** Something else than a marker stood where the body had to begin. */
  private strayed = false
  /** Spans to trace once that is so. */
  private readonly marks: { readonly kind: SpanKind; readonly end: number }[] = []
  private failed: FailedCall | undefined
  private count = 0

  constructor(host: CallsHost, parts: CallParts) {
    this.host = host
    this.parts = parts
    const { out, limits, patches, reading } = parts
    this.sink = new CallSink(this, out, limits, patches, reading)
  }

  clear(): void {
    this.state = NOTHING
    this.committed = false
    this.failed = undefined
    this.completed = 0
    this.count = 0
    this.visited = 0
    this.after.clear()
    this.same.clear()
  }

  /** Whether a call, a failed one or an opener is being read. */
  get active(): boolean {
    return this.state !== NOTHING
  }

  /** Whether what is read may still be text. */
  get mayBeText(): boolean {
    return this.state === NOTHING || (this.state !== SKIP && !this.committed && !this.failed)
  }

  /** Whether a call, or a failed one, is under way. */
  get pending(): boolean {
    return this.state === BODY || this.state === SKIP || this.failed !== undefined
  }

  get holding(): Holding | undefined {
    if (this.state === SKIP || this.failed) return 'failed-call'
    if (this.state === OPENING) return 'opening'
    if (this.state !== BODY) return undefined
    if (this.sink.started) return this.body!.holds === true ? 'json-token' : undefined
    return this.sink.early ? 'early-arguments' : 'call-header'
  }

  /** Whether the next characters are a call's and can't be text any more. */
  get steady(): boolean {
    return this.state === BODY && this.committed
  }

  /** See `Body.verbatim`. */
  get verbatim(): Uint8Array | undefined {
    return this.state === BODY && this.committed ? this.body!.verbatim : undefined
  }

  // ------------------------------------------------------------------ openers

  /** An opener counts. False if the call may not stand here. */
  open(tag: Tag, sighting: Sighting): boolean {
    const continues = this.after.continues(tag)
    if (tag.lineStart && !continues && !this.isCallable(sighting.name)) return false
    this.begin(tag, sighting, continues)
    return true
  }

  /** The input begins inside a call. */
  openAtStart(tag: Tag): void {
    this.tags = [tag]
    this.beginCandidate(undefined, 0, '', 0)
  }

  /** A call without an opener, proven by what follows it, begins at `start`. */
  openBare(tag: Tag, grammar: Grammar, start: number, warned: boolean): void {
    this.tags = [tag]
    this.beginCandidate(undefined, 0, '', start)
    this.unopened = warned
    this.openBody(grammar)
  }

  /** A character after a call, inside its tags, that is no white space. True if it was taken. */
  takeAfter(code: number, offset: number): boolean {
    const { after } = this
    const { out } = this.parts
    if (!after.open) return false
    if (code === char.BACKTICK && after.ticks > 0) {
      // Fewer than a fence has would be text.
      out.space('`')
      if (--after.ticks === 0) {
        out.dropGap()
        out.span('layout', offset + 1)
      }
      return true
    }
    if ((code === char.CLOSE_BRACE || code === char.CLOSE_BRACKET) && !after.separated) {
      if (code === char.CLOSE_BRACKET && after.listed) after.listed = false
      else if (code === char.CLOSE_BRACE && after.doubled) after.doubled = false
      else this.warn('surplus-closer', offset, offset + 1)
      out.dropGap()
      out.span('layout', offset + 1)
      return true
    }
    if (!after.takesMore) return false
    if (code === char.CLOSE_BRACKET && after.separated && after.listed) {
      // The list ends in a comma.
      this.warn('surplus-closer', offset, offset + 1)
      after.listed = false
      after.separated = false
      out.dropGap()
      out.span('layout', offset + 1)
      return true
    }
    if ((code === char.COMMA || code === char.SEMICOLON) && !after.separated) {
      after.separated = true
      out.space(String.fromCharCode(code))
      return true
    }
    if (code === char.OPEN_BRACE) this.openAnother(offset)
    return false
  }

  /** A close marker stands in the text after a call. */
  close(close: string, start: number, end: number): void {
    const { after } = this
    const { out } = this.parts
    // Inside a tag white space is layout, whatever the option says.
    if (after.tags.length > 0) out.dropGap()
    out.close(start)
    if (after.close(close) === FOREIGN) this.warn('mismatched-close-tag', start, end)
    out.span('marker', end)
  }

  private openAnother(offset: number): void {
    const tag = this.after.tags.findLast(({ grammars }) => grammars.some(isSeveral))
    if (!tag) return
    this.tags = [...this.after.tags]
    this.beginCandidate(undefined, 0, '', offset)
    this.continues = true
    this.openBody(tag.grammars.find(isSeveral)!)
  }

  private begin(
    tag: Tag,
    { name, nameStart, text, start, end }: Sighting,
    continues: boolean,
  ): void {
    this.tags = continues ? [...this.after.tagsAround(tag), tag] : [tag]
    this.beginCandidate(name, nameStart, text, start)
    this.continues = continues
    this.openerSize = text.length
    this.mark('marker', end)
    if (continues) this.startNamed(end)
  }

  private beginCandidate(
    name: string | undefined,
    nameStart: number,
    raw: string,
    start: number,
  ): void {
    this.state = OPENING
    this.space = 0
    this.openerSize = 0
    if (this.inner.length > 0) this.inner.length = 0
    this.fence = NO_FENCE
    this.unopened = false
    this.committed = false
    this.strayed = false
    this.continues = false
    this.name = name
    this.nameStart = nameStart
    this.start = start
    if (this.marks.length > 0) this.marks.length = 0
    this.sink.begin(raw, start)
  }

  private mark(kind: SpanKind, end: number): void {
    const { out } = this.parts
    if (this.committed) out.span(kind, end)
    else if (out.tracing) this.marks.push({ kind, end })
  }

  private openBody(grammar: Grammar): void {
    if (this.refuseLongName()) return
    let body = this.bodies.get(grammar)
    if (!body) this.bodies.set(grammar, (body = grammar.create()))
    body.open(this.name)
    this.body = body
    this.state = BODY
    if (this.fence === FENCED) this.sink.repair('code-fence')
  }

  /** A named section inside another: the name proves the call. */
  private startNamed(offset: number): void {
    if (this.name === undefined || this.refuseLongName()) return
    this.sink.start(this.name, offset)
    this.settle(offset)
  }

  /** True if the header's name is too long: the call has failed. */
  private refuseLongName(): boolean {
    const { name } = this
    const limit = this.parts.limits.name
    if (name === undefined || name.length <= limit) return false
    const offset = this.nameStart + limit
    this.sink.fail('limit', `a name of ${limit} characters at the most`, offset)
    this.settle(offset)
    return true
  }

  /** Whether an unwrapped call may have this name. */
  private isCallable(name: string | undefined): boolean {
    return name !== undefined && isName(name) && !this.isUnknownTool(name)
  }

  // ------------------------------------------------------------------ reading on

  /** Takes a run from `index` on; returns where it stopped. */
  take(chunk: string, index: number): number {
    switch (this.state) {
      case BODY:
        return this.takeBody(chunk, index)
      case OPENING:
        return this.takeOpening(chunk, index)
      default:
        return this.takeSkip(chunk, index)
    }
  }

  private takeBody(chunk: string, index: number): number {
    const { sink } = this
    const body = this.body!
    const { base } = this.host
    // A limit may lie within the chunk: up to there first, so that it counts at one character.
    const near = (chunk.length - index) * GROWTH > sink.room
    const view = near ? this.viewOf(chunk, index) : chunk
    if (!sink.open) return index
    const end = body.take(view, index, sink)
    this.visited += end - index
    if (!this.committed && body.proven !== true)
      this.host.scanQuotes(chunk.slice(index, end), base + index)
    if (this.committed && this.parts.out.tracing) this.parts.out.span('call', base + end)
    if (sink.room < 0 && sink.open) sink.overLimit(base + end)
    if (!sink.open) {
      this.settle(base + end)
      return end
    }
    if (end === view.length) return end
    if (this.mayBegin(chunk, end)) return this.parts.markers.take(chunk, end)
    body.give(chunk.charAt(end), base + end, sink)
    this.settle(base + end)
    return sink.open ? end + 1 : end
  }

  /** What of the chunk can't pass the arguments' limit, or one character; past it the call fails. */
  private viewOf(chunk: string, index: number): string {
    const { sink } = this
    let end = index + Math.max(Math.floor(sink.room / GROWTH), 1)
    // The limit must not fall between the halves of a pair.
    if (char.splitsPair(chunk, end)) end++
    if (this.body!.passing && sink.room < Math.min(end, chunk.length) - index) {
      sink.overLimit(this.host.base + index)
      this.settle(this.host.base + index)
    }
    return chunk.slice(0, end)
  }

  private takeOpening(chunk: string, index: number): number {
    const { sink } = this
    const size = chunk.length
    const { base } = this.host
    let end = index
    if (this.fence !== NO_FENCE && this.fence !== FENCED) return this.takeFence(chunk, index)
    while (end < size && char.isSpace(chunk.charCodeAt(end))) end++
    this.visited += end - index
    const room = this.parts.limits.whitespace - this.space
    if (end - index > room) {
      sink.skip(chunk, index, index + room)
      this.mark('layout', base + index + room)
      this.refuseOpening(base + index + room, true)
      return index + room
    }
    sink.skip(chunk, index, end)
    this.space += end - index
    if (end > index) this.mark('layout', base + end)
    if (end === size) return end
    const code = chunk.charCodeAt(end)
    const grammar = this.grammarFor(code)
    // A bracket may begin a marker, too: that shows with the next character.
    if (code === char.OPEN_BRACKET && this.mayBegin(chunk, end)) {
      return this.parts.markers.take(chunk, end)
    }
    if (grammar) this.openBody(grammar)
    else if (code === char.BACKTICK && this.mayFence) {
      return this.takeFence(chunk, end)
    } else if (this.mayBegin(chunk, end)) return this.parts.markers.take(chunk, end)
    else this.refuseOpening(base + end, true)
    return end
  }

  /** The grammar of a body that begins with the character, in the innermost tag. */
  private grammarFor(code: number): Grammar | undefined {
    const inside = this.tags.length > 1
    return this.tags
      .at(-1)!
      .grammars.find((known) => known.begins(code) && (inside || known.inside !== true))
  }

  /** The bracket at `offset` begins no marker. False if it begins no body either. */
  private openList(offset: number): boolean {
    const grammar = this.grammarFor(char.OPEN_BRACKET)
    if (!grammar) return false
    const { sink } = this
    this.openBody(grammar)
    if (this.state !== BODY) return true
    sink.base = offset
    this.body!.take('[', 0, sink)
    sink.base = this.host.base
    return true
  }

  /** Whether a code fence may stand around the body. */
  private get mayFence(): boolean {
    return this.fence === NO_FENCE && !this.parts.reading.strict
  }

  /** A code fence around the body, up to its line break: "```json". */
  private takeFence(chunk: string, index: number): number {
    const { sink } = this
    const { base } = this.host
    const from = index
    let next: Fence | undefined = this.fence
    while (index < chunk.length && next !== undefined && next !== FENCED) {
      next = fenceStep(next, chunk.charCodeAt(index))
      if (++this.space > this.parts.limits.whitespace) next = undefined
      if (next !== undefined) {
        this.fence = next
        index++
      }
    }
    this.visited += index - from
    sink.skip(chunk, from, index)
    this.host.scanQuotes(chunk.slice(from, index), base + from)
    this.mark('layout', base + index)
    if (next === undefined) this.refuseOpening(base + index, true)
    return index
  }

  private mayBegin(chunk: string, index: number): boolean {
    return this.parts.compiled.automaton.begins(chunk.charCodeAt(index))
  }

  /** What stands at `offset` is no body. `strayed`: nor is it a marker. */
  private refuseOpening(offset: number, strayed: boolean): void {
    if (this.sink.started) {
      this.strayed = strayed
      this.sink.fail('malformed-arguments', 'the arguments', offset, 'something else')
      this.settle(offset)
    } else this.giveBack()
  }

  private takeSkip(chunk: string, index: number): number {
    const { stops, markers } = this.parts
    let end = stops.find(chunk, index)
    while (end < chunk.length && !this.mayBegin(chunk, end)) end = stops.find(chunk, end + 1)
    if (end > index) this.skip(chunk.slice(index, end), this.host.base + end)
    return end < chunk.length ? markers.take(chunk, end) : end
  }

  /** Held characters are data where they stand. */
  release(text: string, start: number): void {
    const { sink } = this
    if (this.state === BODY) {
      this.body!.give(text, start, sink)
      this.settle(start)
      if (sink.open) return
    } else if (this.state === OPENING) {
      if (text === '[' && this.openList(start)) return
      this.refuseOpening(start, true)
    }
    if (this.failed) this.skip(text, start + text.length)
    else this.host.giveBack(text, start + text.length)
  }

  // ------------------------------------------------------------------ markers inside

  sighted(sighting: Sighting): void {
    switch (this.state) {
      case SKIP:
        return this.sightedSkipping(sighting)
      case BODY:
        return this.sightedInBody(sighting)
      default:
        return this.sightedOpening(sighting)
    }
  }

  private sightedOpening(sighting: Sighting): void {
    const { tag, marker, text, start, end } = sighting
    const outer = this.tags.at(-1)!
    if (tag && outer.wraps.has(tag.open)) {
      this.sink.skip(text, 0, text.length)
      this.mark('marker', end)
      this.inner.push(sighting)
      this.tags.push(tag)
      this.name = sighting.name
      this.nameStart = sighting.nameStart
      return this.startNamed(end)
    }
    const grammar = outer.grammars.find(({ tags }) => tags?.[0] === marker.literal)
    if (grammar) {
      this.openBody(grammar)
      if (this.state === BODY) return this.sightedInBody(sighting)
    } else if (
      this.name !== undefined &&
      this.fence === NO_FENCE &&
      marker.kind === CALL_CLOSER &&
      marker.close === outer.close
    ) {
      this.openBody(outer.grammars[0]!)
      if (this.state === BODY) return this.sightedInBody(sighting)
    } else this.refuseOpening(start, false)
    this.host.again(sighting)
  }

  private sightedInBody(sighting: Sighting): void {
    const { sink } = this
    const { marker, text, start } = sighting
    const own = this.tags.some((tag) => tag.close === marker.close)
    if (marker.kind === CALL_CLOSER || (own && marker.close === marker.literal)) {
      this.body!.closeSeen(own, start, sink)
    } else if (marker.kind === CALL_OPENER) this.body!.openSeen(start, sink)
    else if (marker.kind === BODY_TAG) this.body!.tagSeen?.(text)
    if (sink.open) {
      this.body!.give(text, start, sink)
      this.settle(start)
      if (sink.open) {
        const structures = marker.kind === BODY_TAG || marker.kind === CALL_CLOSER
        this.host.note(structures ? 'structure' : 'in-arguments', text, start)
        return
      }
    } else this.settle(start)
    this.host.again(sighting)
  }

  private sightedSkipping(sighting: Sighting): void {
    const failed = this.failed!
    const { tag, marker, text, start, end } = sighting
    const closer = marker.kind === CALL_CLOSER || marker.close === marker.literal
    if (tag && failed.early && !tag.lineStart && !closer) return this.begin(tag, sighting, false)
    if (tag && failed.opens(tag) && !closer) failed.opened()
    if (!closer || !failed.closed(marker.close)) {
      this.host.note('failed-call', text, start)
      return this.skip(text, end)
    }
    this.host.note('closes', text, start)
    failed.add(text)
    this.parts.out.span('marker', end)
    this.endFailed()
    this.state = NOTHING
    this.host.resume(end)
  }

  /** A header inside an opener is none. Where it had to hold a name, the call has failed. */
  refused(marker: Marker, header: Header): void {
    if (this.isInnerName(marker, header)) return this.failHeader(header)
    // The beginning of an opener is no value: reading may resume at the next one.
    if (this.state === OPENING) this.refuseOpening(header.start, false)
    this.release(header.text, header.start)
  }

  /** The same inside the tags of the call before. False if it is text. */
  refusedAfter(marker: Marker, header: Header): boolean {
    const { namedTag } = marker
    if (header.kind !== NAME || !namedTag || !this.after.continues(namedTag)) return false
    this.beginInside(namedTag, header.start)
    this.failHeader(header)
    return true
  }

  /** The input ends within a header or a marker inside the tags of the call before. */
  endAfter(held: string, offset: number): boolean {
    const { after } = this
    const inner = after.tags.at(-1)
    if (!after.takesMore || !inner || !this.beginsNamed(held, inner)) return false
    this.beginInside(inner, offset - held.length)
    this.end(offset, held)
    return true
  }

  private beginInside(tag: Tag, start: number): void {
    this.tags = [...this.after.tagsAround(tag), tag]
    this.beginCandidate(undefined, 0, '', start)
    this.continues = true
  }

  private failHeader({ text, start, tooLong }: Header): void {
    const { sink } = this
    const end = start + text.length
    const limit = `a name of ${this.parts.limits.name} characters at the most`
    sink.skip(text, 0, text.length)
    if (tooLong) sink.fail('limit', limit, end)
    else sink.fail('malformed-call', 'a name and “>”', end, 'something else')
    this.settle(end)
  }

  private isInnerName(marker: Marker, header: Header): boolean {
    const { namedTag } = marker
    if (this.state !== OPENING || header.kind !== NAME || !namedTag) return false
    return this.tags.at(-1)!.wraps.has(namedTag.open)
  }

  // ------------------------------------------------------------------ how it went

  /** The body has spoken: goes on after the call, in the failed call, or in the text. */
  private settle(offset: number): void {
    // A listener may have ended the stream.
    if (this.host.ended) return
    const { outcome } = this.sink
    if (outcome === NOT_A_CALL) this.giveBack()
    else if (outcome === FAILED && this.state !== SKIP) this.startSkipping()
    else if (outcome === DONE) {
      this.parts.out.span('call', offset)
      this.completed++
      this.committed = false
      this.state = NOTHING
      this.after.begin(this.tags, this.sink.listed, this.sink.doubledRoot)
      if (this.fence === FENCED) this.after.ticks = FENCE
      this.host.resume(offset)
    }
  }

  /** The opener and what followed were no call: back into the text, or the failed call. */
  private giveBack(): void {
    const { raw } = this.sink
    const end = this.start + raw.length
    const opener = raw.slice(0, this.openerSize)
    this.noteOpeners(this.failed ? 'failed-call' : 'no-grammar')
    if (this.failed) {
      this.state = SKIP
      this.skip(raw, end)
      return
    }
    this.state = NOTHING
    const tags = opener !== '' || this.inner.length > 0
    if (!this.parts.stripOrphanTags || !tags) return this.host.giveBack(raw, end)
    let at = this.start + opener.length
    if (opener !== '') this.host.dropMarker(this.start, at)
    for (const { text, start } of this.inner) {
      if (start > at) this.host.giveBack(raw.slice(at - this.start, start - this.start), start)
      at = start + text.length
      this.host.dropMarker(start, at)
    }
    this.host.giveBack(raw.slice(at - this.start), end)
  }

  private startSkipping(): void {
    const { sink } = this
    const tag = this.tags[0]!
    const early = this.state === OPENING ? !this.strayed : !this.body!.begun
    const { raw } = sink
    this.parts.out.span('call', this.start + raw.length)
    const from = early || this.state === OPENING ? NO_MARKER : this.body!.lastString
    const count = from < 0 ? 1 : 1 + this.countMarkers(raw.slice(from - this.start), tag)
    const { arguments: limit } = this.parts.limits
    this.failed = new FailedCall(sink.failure!, tag, early, raw, count, limit)
    this.committed = false
    this.after.clear()
    this.state = SKIP
  }

  /** Openers less closers of the tag's kind in a piece of text, headers and all. */
  private countMarkers(text: string, tag: Tag): number {
    const { compiled, limits } = this.parts
    let count = 0
    const nothing = (): void => {}
    const reader = new MarkerReader(
      {
        base: 0,
        accepts: () => true,
        isTicked: () => false,
        sighted: ({ marker, tag: opened }) => {
          if (marker.kind === CALL_CLOSER && marker.close === tag.close) count--
          else if (opened?.stem === tag.stem) count++
        },
        release: nothing,
        refused: nothing,
        replay: nothing,
      },
      compiled,
      limits.name,
    )
    for (let index = 0; index < text.length;) {
      const begins = reader.busy || compiled.automaton.begins(text.charCodeAt(index))
      index = begins ? reader.take(text, index) : index + 1
    }
    this.visited += text.length
    // A header that the failure cut off may have been one.
    const cut = reader.openHeader && compiled.markers[reader.openHeader.marker]!
    return (cut?.tag ?? cut?.namedTag)?.stem === tag.stem ? count + 1 : count
  }

  private skip(text: string, end: number): void {
    this.failed!.add(text)
    this.parts.out.span('discarded', end)
  }

  private endFailed(): void {
    const { failed } = this
    const { out, failedAsText } = this.parts
    this.failed = undefined
    if (!failed) return
    const event = failed.event()
    out.finish(event)
    if (failedAsText && event.raw) out.text(event.raw, 0)
  }

  // ------------------------------------------------------------------ the end

  /** The input ends at `offset`; `held`: the beginning of a marker, header and all. */
  end(offset: number, held: string): void {
    const { sink } = this
    if (this.state === OPENING && held === '[' && this.openList(offset - 1)) held = ''
    switch (this.state) {
      case OPENING:
        if (!sink.started && !this.isCutInside(held)) {
          this.giveBack()
          if (held !== '') this.release(held, offset - held.length)
          break
        }
        sink.skip(held, 0, held.length)
        if (this.isCutOpener())
          sink.fail('malformed-arguments', 'the arguments', offset, 'an opener')
        else sink.fail('incomplete-call', 'the rest of the call', offset)
        this.settle(offset)
        break
      case BODY:
        sink.skip(held, 0, held.length)
        this.body!.end(offset, held, this.isClosing(held), sink)
        this.settle(offset)
        break
      default:
        if (held !== '') this.skip(held, offset)
    }
    this.endFailed()
    this.state = NOTHING
  }

  /** Whether what is held has begun a close marker of the call's own tags, from its slash on. */
  private isClosing(held: string): boolean {
    const begun = held.trimEnd()
    return begun.length > 1 && this.tags.some(({ close }) => close.startsWith(begun))
  }

  /** The stream breaks off at `offset`: an open call must not be run. */
  abort(offset: number, held: string): void {
    const { sink } = this
    if (this.state === SKIP) {
      if (held !== '') this.skip(held, offset)
    } else if (this.state === BODY || this.committed) {
      sink.skip(held, 0, held.length)
      sink.fail('aborted', 'the rest of the call', offset)
      this.settle(offset)
    } else {
      this.giveBack()
      if (held !== '') this.release(held, offset - held.length)
    }
    this.endFailed()
    this.state = NOTHING
  }

  /** Whether the input ended in the header of an opener that can't stand here. */
  private isCutOpener(): boolean {
    const header = this.parts.markers.openHeader
    const marker = header && this.parts.compiled.markers[header.marker]!
    return marker?.kind === CALL_OPENER && !this.isInnerName(marker, header!)
  }

  /** Whether what is held has begun an opener that proves a call inside the one at hand. */
  private isCutInside(held: string): boolean {
    const { markers, compiled } = this.parts
    const header = markers.openHeader
    if (header) return this.isInnerName(compiled.markers[header.marker]!, header)
    return this.beginsNamed(held, this.tags.at(-1)!)
  }

  /** Whether the text is, or begins, the literal part of a named opener inside the tag. */
  private beginsNamed(held: string, { wraps }: Tag): boolean {
    return this.parts.compiled.markers.some(
      ({ namedTag, literal, header }) =>
        header === NAME &&
        namedTag !== undefined &&
        wraps.has(namedTag.open) &&
        held !== '' &&
        (literal.startsWith(held) || held.startsWith(literal)),
    )
  }

  // ------------------------------------------------------------------ what the sink asks

  beginCall(): number {
    const { after, start, continues } = this
    const { out } = this.parts
    this.endFailed()
    this.host.callBegins()
    this.count++
    if (continues) out.dropGap()
    else if (after.takesMore) this.warn('unclosed-tag', start, start)
    out.close(start)
    after.end(continues)
    this.committed = true
    for (const { kind, end } of this.marks) out.span(kind, end)
    if (this.unopened || (this.tags.length === 1 && this.tags[0]!.lineStart)) {
      this.warn('missing-open-tag', start, start)
    }
    this.noteOpeners('call')
    return out.nextIndex++
  }

  /** What became of the openers at hand. */
  private noteOpeners(rule: RuleCode): void {
    const { host, openerSize, sink, start } = this
    if (!this.parts.explains) return
    if (openerSize > 0) host.note(rule, sink.raw.slice(0, openerSize), start)
    for (const opener of this.inner) host.note(rule, opener.text, opener.start)
  }

  /** The call is complete: is there anything odd about it? */
  completes(name: string, text: string, input: JsonValue): void {
    const { start, sink } = this
    if (this.holdsMarker(text)) {
      this.warn('suspicious-arguments', start, start + sink.raw.length, name)
    }
    if (this.same.add(name, text, input)) {
      this.warn('duplicate-call', start, start + sink.raw.length, name)
    }
  }

  /** Whether the arguments hold a marker of a call. */
  private holdsMarker(text: string): boolean {
    return this.parts.compiled.callStops.some((stop) => this.holdsMarkerAt(text, stop))
  }

  private holdsMarkerAt(text: string, stop: string): boolean {
    const { automaton, markers } = this.parts.compiled
    let at = text.indexOf(stop)
    while (at >= 0) {
      let node = 0
      const from = at
      while (at < text.length && (node = automaton.step(node, text.charCodeAt(at))) !== 0) {
        const found = automaton.match[node]!
        if (found !== NO_MARKER && markers[found]!.kind <= CALL_CLOSER) return true
        at++
      }
      this.visited += at - from
      at = text.indexOf(stop, Math.max(at, from + 1))
    }
    return false
  }

  makeId(): string {
    return this.host.makeId()
  }

  get full(): boolean {
    return this.count >= this.parts.limits.calls
  }

  /** Whether the tool is declared, or none was stated. */
  isKnownTool(name: string): boolean {
    return !this.isUnknownTool(name)
  }

  isUnknownTool(name: string): boolean {
    const { tools } = this.parts
    return tools !== undefined && !tools.has(name)
  }

  parameters(name: string): ReadonlySet<string> | undefined {
    return this.parts.tools?.parameters(name)
  }

  warn(code: WarningCode, start: number, end: number, name?: string): void {
    this.parts.out.warn(code, start, end, name)
  }
}

function isSeveral({ several }: Grammar): boolean {
  return several
}

/** What a character makes of a fence's line; nothing if it can't stand there. */
function fenceStep(fence: Fence, code: number): Fence | undefined {
  if (code === char.BACKTICK) return fence < TICKS ? ((fence + 1) as Fence) : undefined
  if (fence < TICKS) return undefined
  if (code === char.NEWLINE) return FENCED
  if (char.isBlank(code)) return BLANKS
  return fence !== BLANKS && char.isWordCharacter(code) ? INFO : undefined
}
