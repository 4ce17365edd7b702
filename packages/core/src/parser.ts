/**
 * The machine: one loop that takes one run of characters per turn.
 *
 * It finds markers (`MarkerAutomaton`), decides what they mean where they stand, and hands the
 * insides of calls to body grammars. It knows no dialect by name and no grammar's inside. Held text
 * is a node of the automaton or a short header; nothing is appended to a buffer and searched again.
 * A whole text is one `feed` and one `end`: there is no second path.
 */
import type { Body, Grammar } from './bodies/body.ts'
import * as char from './chars.ts'
import { checkOptions, describe } from './check-options.ts'
import {
  CALL_CLOSER,
  CALL_OPENER,
  type Compiled,
  type Marker,
  REASONING_CLOSER,
  REASONING_OPENER,
  type Tag,
  compile,
} from './compile.ts'
import type { Dialect } from './dialect.ts'
import { MisuseError } from './errors.ts'
import type { FinishReason, Metadata, StreamEvent, Usage } from './events.ts'
import { FailedCall } from './failed-call.ts'
import { GOING, Header, NAME, TAKEN, TICK } from './headers.ts'
import { createIdGenerator } from './ids.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { UNSEEN } from './lines.ts'
import { Markdown } from './markdown.ts'
import type { Holding, MachineOptions, SpanKind, WithOnEvent } from './options.ts'
import { Output } from './output.ts'
import { type CallHost, CallSink, DONE, FAILED, NOT_A_CALL, isName } from './sink.ts'
import { Stops } from './stops.ts'
import { toolNames } from './tools.ts'

// What the loop reads, `|` being the place.
const GAP = 0 // text |  <tool_call>: white space before a part
const RUN = 1 // te|xt, or reasoning
const OPENING = 2 // <tool_call> |  {: an opener whose body has not begun
const BODY = 3 // <tool_call>{"na|me"
const SKIP = 4 // <tool_call>{broken| … : a failed call
type Mode = 0 | 1 | 2 | 3 | 4

// Whether a marker counts where it stands.
const UNWANTED = 0
const WANTED = 1
/** A close marker that closes nothing: text, with a warning. */
const ORPHAN = 2
type Wanted = 0 | 1 | 2

/** Up to this length a chunk is looked at character by character, in the hope of one run. */
const LANE = 24
/** Longest header beside its name: other attributes, blanks. */
const HEADER_ROOM = 1_024
const NO_MARKER = -1
const UNKNOWN = -1

/** What the source says at its end; all optional. */
export interface EndInfo {
  /** Default: `tool-calls` if a call was completed, else `stop`. */
  readonly reason?: FinishReason
  readonly rawReason?: string
  readonly usage?: Usage
  readonly metadata?: Metadata
}

/** A push parser. `feed` may cut the input anywhere; events are emitted before it returns. */
export interface Parser {
  /** Takes the next piece of the input. Throws `MisuseError` after the end. */
  feed(chunk: string): void
  /** The input is complete. */
  end(info?: EndInfo): void
  /** The source failed: closing events, `error`, `finish`. Does nothing after the end. */
  fail(error: unknown): void
  /** The consumer gave up: closing events, `finish` with `aborted`. Does nothing after the end. */
  abort(): void
  /** Makes the parser new. */
  reset(): void
  /**
   * Closes the open part of text or reasoning at a boundary that the source knows; what was held is
   * released. Returns false, and changes nothing, inside a call.
   */
  cut(): boolean
  /** What keeps characters back at the moment. */
  readonly holding: Holding | undefined
  /** Code units looked at so far. */
  readonly visited: number
}

/** A parser for the given dialects, all on at once. */
export function createMachine(
  options: MachineOptions & WithOnEvent & { readonly dialects: readonly Dialect[] },
): Parser {
  checkOptions(options, ['onEvent', 'dialects'])
  return new Machine(compile(options.dialects), options)
}

class Machine implements Parser, CallHost {
  visitedUnits = 0
  private readonly compiled: Compiled
  private readonly options: MachineOptions & WithOnEvent
  private readonly limits: Limits
  private readonly out: Output
  private readonly sink: CallSink
  private readonly stops: Stops
  private readonly markdown = new Markdown()
  private readonly header = new Header()
  /** A marker's header is being read. */
  private inHeader = false
  private readonly bodies = new Map<Grammar, Body>()
  private readonly tools: ReadonlySet<string> | undefined
  /** Tools are off: every call is text. */
  private readonly off: boolean
  private nextId: () => string
  private mode: Mode = GAP
  private ended = false
  /** Within `feed`. */
  private busy = false
  /** By code: characters at which a chunk is more than a run; absent if it may be more anyway. */
  private lane: Uint8Array | undefined
  /** Offset of the current chunk's first character. */
  private base = 0
  /** A high surrogate that waits for its other half. */
  private half = 0
  /** What the automaton holds; 0: nothing. */
  private node = 0
  /** A whole marker that may still become a longer one, and where it ended. */
  private candidate = NO_MARKER
  private candidateEnd = 0
  /** Close marker of the open reasoning; empty outside. */
  private thinking = ''
  /** The last character of reasoning before what is held. */
  private lastUnit = 0
  /** Offset of the input's first character that is not white space. */
  private ink = UNKNOWN
  /** Offset of the first character after the last gap. */
  private gapEnd = UNKNOWN
  /** Directly after a call, only layout since. */
  private after = false
  private separated = false
  private listed = false
  /** Tags that are still open after a call, outermost first. */
  private tags: Tag[] = []
  /** A close marker of another family stood after the call. */
  private mismatched = false
  /** The call had no wrapper: closers of any right after it are swallowed. */
  private bare = false
  /** Close markers that may still come for tags that counted as closed. */
  private readonly late: string[] = []
  private body: Body | undefined
  /** Tags around the call at hand, outermost first; `name` from the innermost's header. */
  private callTags: Tag[] = []
  private name: string | undefined
  private callStart = 0
  /** White space read before the body. */
  private opened = 0
  /** The opener goes on with the tags after a call. */
  private continues = false
  /** The call has taken an index: it is no text any more. */
  private committed = false
  /** Spans to trace once that is so. */
  private readonly marks: { readonly kind: SpanKind; readonly end: number }[] = []
  private failed: FailedCall | undefined
  private calls = 0
  private completed = 0

  constructor(compiled: Compiled, options: MachineOptions & WithOnEvent) {
    this.compiled = compiled
    this.stops = new Stops(compiled)
    this.options = options
    this.limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.out = new Output(
      options.onEvent,
      this.limits.whitespace,
      options.whitespace === 'exact',
      options.trace,
    )
    this.sink = new CallSink(this, this.limits, options.patches === true)
    this.tools = options.tools && toolNames(options.tools)
    this.off = this.tools?.size === 0 || options.toolChoice === 'none'
    this.nextId = options.generateId ?? createIdGenerator()
    this.begin()
  }

  // ------------------------------------------------------------------ what a caller sees

  get visited(): number {
    return this.visitedUnits + this.stops.visited + this.markdown.lines.visited
  }

  get holding(): Holding | undefined {
    if (this.half !== 0) return 'surrogate'
    if (this.inHeader) return 'header'
    if (this.mode === SKIP || this.failed) return 'failed-call'
    if (this.mode === OPENING) return 'opening'
    if (this.mode === BODY && !this.sink.started)
      return this.sink.early ? 'early-arguments' : 'call-header'
    if (this.node !== 0) return 'marker'
    return this.mode === GAP && this.out.gap !== '' ? 'whitespace' : undefined
  }

  feed(chunk: string): void {
    if (typeof chunk !== 'string' || this.ended || this.busy) this.refuseFeed(chunk)
    this.busy = true
    if (this.lane === undefined || !this.takeLane(chunk, this.lane)) this.feedSlowly(chunk)
    this.busy = false
  }

  end(info: EndInfo = {}): void {
    if (this.ended) throw new MisuseError('ended', 'The parser has ended already.')
    this.drain()
    this.endMode()
    this.finish(info.reason ?? (this.completed > 0 ? 'tool-calls' : 'stop'), info)
  }

  fail(error: unknown): void {
    if (this.ended) return
    this.drain()
    this.closeAborted()
    const message = error instanceof Error ? error.message : String(error)
    this.out.emit({ type: 'error', code: 'source-failed', message, cause: error })
    this.finish('error', {})
  }

  abort(): void {
    if (this.ended) return
    this.drain()
    this.closeAborted()
    this.finish('aborted', {})
  }

  cut(): boolean {
    if (this.ended || this.mode === BODY || this.mode === SKIP || this.failed) return false
    this.lane = undefined
    this.drain()
    if (this.mode === OPENING) this.giveBack()
    if (this.mode > RUN) return false
    this.endPart(this.base)
    return true
  }

  reset(): void {
    this.ended = false
    this.busy = false
    this.lane = undefined
    this.base = 0
    this.half = 0
    this.node = 0
    this.candidate = NO_MARKER
    this.inHeader = false
    this.thinking = ''
    this.ink = UNKNOWN
    this.after = false
    this.tags = []
    this.late.length = 0
    this.failed = undefined
    this.calls = 0
    this.completed = 0
    this.visitedUnits = 0
    this.stops.visited = 0
    this.markdown.lines.visited = 0
    this.nextId = this.options.generateId ?? createIdGenerator()
    this.out.reset()
    this.begin()
  }

  private refuseFeed(chunk: unknown): never {
    if (typeof chunk !== 'string') {
      throw new MisuseError('not-a-string', `Expected a string to feed, found ${describe(chunk)}.`)
    }
    if (this.ended) {
      throw new MisuseError('ended', 'The parser has ended: call `reset` before `feed`.')
    }
    const why = 'A listener may not feed the parser; one that threw leaves it of no use until `reset`.'
    throw new MisuseError('busy', why)
  }

  /**
   * A chunk that is one run of the open part's text, or of a string in the arguments: the same as
   * `takeRun` and `takeBody` would do, which promise 1 binds it to. At one character per chunk it
   * halves the time. False, and nothing done, if the chunk is anything else.
   */
  private takeLane(chunk: string, lane: Uint8Array): boolean {
    const size = chunk.length
    if (size === 0 || size > LANE) return false
    for (let index = 0; index < size; index++) {
      if (lane[chunk.charCodeAt(index)] !== 0) return false
    }
    if (this.mode === BODY) {
      if (size > this.sink.room) return false
      this.base += size
      this.visitedUnits += size
      this.sink.passPiece(chunk)
      return true
    }
    this.base += size
    this.visitedUnits += size
    if (this.thinking === '') this.markdown.lines.pass(this.base)
    else this.lastUnit = chunk.charCodeAt(size - 1)
    this.out.delta(chunk)
    return true
  }

  /** What the next chunk may be passed on by. */
  private chooseLane(): Uint8Array | undefined {
    if (this.node !== 0 || this.inHeader || this.half !== 0 || this.out.tracing) return undefined
    if (this.mode === BODY) return this.committed ? this.body!.verbatim : undefined
    if (this.mode !== RUN || !this.out.open) return undefined
    const { markdown } = this
    if (this.thinking === '' && (markdown.waits || !markdown.lines.settled)) return undefined
    return this.compiled.marked
  }

  private feedSlowly(chunk: string): void {
    if (chunk === '') return
    if (this.half !== 0) {
      chunk = String.fromCharCode(this.half) + chunk
      this.half = 0
    }
    const last = chunk.charCodeAt(chunk.length - 1)
    if (char.isHighSurrogate(last)) {
      this.half = last
      chunk = chunk.slice(0, -1)
      if (chunk === '') {
        this.lane = undefined
        return
      }
    }
    this.run(chunk)
    this.lane = this.chooseLane()
  }

  private begin(): void {
    this.mode = GAP
    this.markdown.reset(0)
    const { startIn } = this.options
    const { markers, tags } = this.compiled
    if (startIn === 'reasoning') {
      const marker = markers.find((known) => known.kind === REASONING_CLOSER)
      if (!marker) throw new MisuseError('no-reasoning', 'No dialect in use has reasoning markers.')
      this.openReasoning(marker.close)
    } else if (startIn === 'call' && !this.off) this.openTag(tags[0]!, undefined, '', 0, 0)
    if (this.mode !== GAP || this.thinking !== '') this.ink = 0
  }

  // ------------------------------------------------------------------ the loop

  private run(chunk: string): void {
    const { lines } = this.markdown
    this.sink.base = this.base
    lines.begin(chunk, this.base)
    this.stops.begin()
    this.loop(chunk)
    if (this.thinking === '' && !this.committed && this.mode !== SKIP) lines.keep(this.stops.breaks)
    this.base += chunk.length
  }

  private loop(chunk: string): void {
    const size = chunk.length
    let index = 0
    while (index < size && !this.ended) {
      if (this.node !== 0) index = this.takeMarker(chunk, index)
      else if (this.inHeader) index = this.takeHeader(chunk, index)
      else {
        switch (this.mode) {
          case RUN:
            index = this.takeRun(chunk, index)
            continue
          case BODY:
            index = this.takeBody(chunk, index)
            continue
          case GAP:
            index = this.takeGap(chunk, index)
            continue
          case OPENING:
            index = this.takeOpening(chunk, index)
            continue
          case SKIP:
            index = this.takeSkip(chunk, index)
        }
      }
    }
  }

  /** Reads characters that were held behind a marker; they begin at `offset`. */
  private replay(text: string, offset: number): void {
    const { base } = this
    this.base = offset
    this.sink.base = offset
    this.loop(text)
    this.base = base
    this.sink.base = base
  }

  // ------------------------------------------------------------------ text and reasoning

  private takeRun(chunk: string, index: number): number {
    const { automaton } = this.compiled
    const { markdown, base } = this
    const size = chunk.length
    const quoting = this.thinking === ''
    let at = quoting && markdown.waits ? markdown.go(chunk, index) : index
    for (;;) {
      at = this.stops.find(chunk, at)
      if (at === size) {
        this.emitRun(chunk, index, size)
        return size
      }
      if (!automaton.begins(chunk.charCodeAt(at))) {
        at = quoting ? markdown.take(chunk, at, base) : at + 1
        continue
      }
      // A marker may begin. What turns out to be none is not cut out of the run.
      let node = 0
      const from = at
      do {
        const next = automaton.step(node, chunk.charCodeAt(at))
        if (next === 0) break
        node = next
        at++
        const found = automaton.match[node]!
        if (found === NO_MARKER) continue
        const start = at - automaton.depth[node]!
        const whole = automaton.markers[found]!.length === at - start && automaton.leaf[node] === 1
        const marker = this.compiled.markers[found]!
        const wanted = whole ? this.wants(marker, base + start) : WANTED
        if (wanted !== UNWANTED) {
          this.emitRun(chunk, index, start)
          index = start
        }
        if (wanted === WANTED) {
          this.visitedUnits += at - from
          return this.found(found, whole, node, at, whole)
        }
        if (wanted === ORPHAN) this.warnOrphan(marker, base + start)
        node = automaton.fail[node]!
      } while (at < size && node !== 0)
      this.visitedUnits += at - from
      if (at === size && node !== 0) {
        this.emitRun(chunk, index, size - automaton.depth[node]!)
        this.node = node
        return size
      }
    }
  }

  /** A marker ends at `index` of the chunk; `whole`: no longer one can follow. */
  private found(
    marker: number,
    whole: boolean,
    node: number,
    index: number,
    wanted: boolean,
  ): number {
    const end = this.base + index
    if (whole) {
      this.node = 0
      this.resolve(marker, end - this.compiled.markers[marker]!.literal.length, end, wanted)
    } else {
      this.node = node
      this.candidate = marker
      this.candidateEnd = end
    }
    return index
  }

  private emitRun(chunk: string, from: number, to: number): void {
    if (to <= from) return
    if (this.thinking !== '') this.lastUnit = chunk.charCodeAt(to - 1)
    const piece = from === 0 && to === chunk.length ? chunk : chunk.slice(from, to)
    this.emitText(piece, this.base + to)
  }

  private emitText(text: string, end: number): void {
    if (this.after) this.leaveCall(end - text.length)
    this.mode = RUN
    this.out.text(text, end)
  }

  /** White space before a part; after a call also brackets and separators. */
  private takeGap(chunk: string, index: number): number {
    const size = chunk.length
    let end = index
    this.stops.breaks = UNSEEN
    while (end < size && char.isSpace(chunk.charCodeAt(end))) end++
    this.visitedUnits += end - index
    if (end > index) {
      this.out.space(chunk.slice(index, end))
      if (end === size) return end
    }
    this.gapEnd = this.base + end
    if (this.ink === UNKNOWN) this.ink = this.gapEnd
    if (this.after && this.takeAfterCall(chunk.charCodeAt(end), this.base + end)) return end + 1
    if (this.mode === GAP) this.mode = RUN
    return end
  }

  /** A character after a call that is no white space. True if it was taken. */
  private takeAfterCall(code: number, offset: number): boolean {
    const { out } = this
    if (this.tags.length === 0) return false
    const bracket = code === char.CLOSE_BRACE || code === char.CLOSE_BRACKET
    if (bracket && !this.separated) {
      if (!(code === char.CLOSE_BRACKET && this.listed))
        this.warn('surplus-closer', offset, offset + 1)
      else this.listed = false
      out.dropGap()
      out.span('layout', offset + 1)
      return true
    }
    if ((code === char.COMMA || code === char.SEMICOLON) && !this.separated) {
      this.separated = true
      out.space(String.fromCharCode(code))
      return true
    }
    if (code !== char.OPEN_BRACE) return false
    const tag = this.tags.findLast((open) => open.grammars.some((grammar) => grammar.several))
    if (!tag) return false
    this.callTags = [...this.tags]
    this.openCall(undefined, '', offset)
    this.continues = true
    this.openBody(tag.grammars.find((grammar) => grammar.several)!)
    return false
  }

  /** Something else than layout stands after a call: its tags count as closed. */
  private leaveCall(offset: number): void {
    this.after = false
    for (const { close } of this.tags) this.late.push(close)
    if (this.tags.length > 0 && !this.mismatched) this.warn('trailing-text', offset, offset)
    this.tags = []
  }

  private endPart(offset: number): void {
    this.out.close(offset)
    this.mode = GAP
    this.markdown.reset(offset)
  }

  // ------------------------------------------------------------------ markers

  /** Goes on with a marker; what turns out to be none is released where it stands. */
  private takeMarker(chunk: string, index: number): number {
    const { automaton } = this.compiled
    const { depth, match, leaf, markers } = automaton
    const size = chunk.length
    while (index < size) {
      const before = this.node
      const next = automaton.step(before, chunk.charCodeAt(index))
      const offset = this.base + index
      const start = offset - depth[before]!
      if (
        this.candidate !== NO_MARKER &&
        offset + (next === 0 ? 0 : 1) - depth[next]! > this.candidateStart
      ) {
        this.commitCandidate(offset)
        return index
      }
      this.visitedUnits++
      const released = depth[before]! + 1 - depth[next]!
      if (next === 0) {
        this.node = 0
        this.release(automaton.textOf(before), start)
        return index
      }
      this.node = next
      index++
      if (released > 0) this.release(automaton.textOf(before).slice(0, released), start)
      const found = match[next]!
      if (found === NO_MARKER) continue
      const whole = markers[found]!.length === depth[next] && leaf[next] === 1
      this.found(found, whole, next, index, false)
      if (whole) return index
    }
    return index
  }

  private get candidateStart(): number {
    return this.candidateEnd - this.compiled.automaton.markers[this.candidate]!.length
  }

  /** No longer marker came: the shorter one counts, and what was held behind it is read again. */
  private commitCandidate(offset: number): void {
    const { candidate, candidateStart, candidateEnd, node } = this
    const held = this.compiled.automaton.textOf(node)
    const start = offset - held.length
    this.node = 0
    this.candidate = NO_MARKER
    if (start < candidateStart) this.release(held.slice(0, candidateStart - start), start)
    this.resolve(candidate, candidateStart, candidateEnd, false)
    if (candidateEnd < offset) this.replay(held.slice(candidateEnd - start), candidateEnd)
  }

  private takeHeader(chunk: string, index: number): number {
    const { header } = this
    this.stops.breaks = UNSEEN
    const end = header.take(chunk, index)
    this.visitedUnits += end - index
    if (header.status === GOING) return end
    this.inHeader = false
    const { start, text } = header
    const marker = this.compiled.markers[header.marker]!
    if (header.status === TAKEN && header.kind === TICK)
      this.closeReasoning(start, start + text.length)
    else if (header.status === TAKEN)
      this.apply(marker, header.name, text, start, start + text.length)
    else this.refuseHeader()
    return end
  }

  /** The header that was held is no header. Inside a tag a broken name fails the call. */
  private refuseHeader(): void {
    const { header } = this
    const tag = this.compiled.markers[header.marker]!.namedTag
    if (
      this.mode === OPENING &&
      header.kind === NAME &&
      tag &&
      this.callTags.at(-1)!.wraps.has(tag.open)
    ) {
      const { sink } = this
      sink.skip(header.text, 0, header.text.length)
      const code = header.tooLong ? 'limit' : 'malformed-call'
      const expected = header.tooLong
        ? `a name of ${this.limits.name} characters at the most`
        : 'a name and “>”'
      sink.fail(code, expected, header.start + header.text.length)
      this.settle(header.start + header.text.length)
    } else this.release(header.text, header.start)
  }

  /** A literal marker stands here. `wanted`: already asked for. */
  private resolve(id: number, start: number, end: number, wanted: boolean): void {
    const marker = this.compiled.markers[id]!
    if (this.mode <= RUN && !wanted && !this.accepts(marker, start)) {
      return this.release(marker.literal, start)
    }
    const tick =
      marker.kind === REASONING_CLOSER && this.thinking !== '' && this.lastUnit === char.BACKTICK
    if (marker.header === undefined && !(tick && this.mode === RUN)) {
      this.apply(marker, undefined, marker.literal, start, end)
      return
    }
    const limit =
      (marker.header === NAME ? marker.literal.length + 1 : HEADER_ROOM) + this.limits.name
    this.inHeader = true
    this.header.begin(marker.header ?? TICK, id, marker.literal, start, limit)
  }

  /** Whether a marker counts in text or reasoning, where it stands. */
  private wants(marker: Marker, start: number): Wanted {
    const { kind, close } = marker
    if (this.thinking !== '') {
      return kind === REASONING_CLOSER && close === this.thinking ? WANTED : UNWANTED
    }
    // Text that was not sent yet may stand between the call and the marker.
    const after = this.after && start === this.gapEnd
    if (kind === CALL_OPENER) {
      if (this.off) return UNWANTED
      const tag = marker.tag ?? marker.namedTag!
      if (after && this.tags.at(-1)?.wraps.has(tag.open)) return WANTED
      return this.isBare(start, tag.lineStart)
    }
    if (kind === REASONING_OPENER) return this.isBare(start, true)
    if (this.isBare(start, false) === UNWANTED) return UNWANTED
    if (kind === CALL_CLOSER) {
      if (after || this.late.includes(close)) return WANTED
      if (this.after && this.tags.some((tag) => tag.close === close)) return WANTED
    } else if (this.ink === start) return WANTED
    return this.off ? UNWANTED : ORPHAN
  }

  private isBare(start: number, lineStart: boolean): Wanted {
    if (this.markdown.quotedAt(start)) return UNWANTED
    return lineStart && !this.markdown.startsLine(start) ? UNWANTED : WANTED
  }

  private accepts(marker: Marker, start: number): boolean {
    const wanted = this.wants(marker, start)
    if (wanted === ORPHAN) this.warnOrphan(marker, start)
    return wanted === WANTED
  }

  private warnOrphan(marker: Marker, start: number): void {
    this.warn('orphan-close-tag', start, start + marker.literal.length)
  }

  /** A marker counts, header and all; what it means depends on where it stands. */
  private apply(
    marker: Marker,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    const tag = name === undefined ? marker.tag : (marker.namedTag ?? marker.tag)
    if (marker.kind === CALL_OPENER && !tag) return this.release(text, start)
    switch (this.mode) {
      case SKIP:
        return this.applySkipping(marker, tag, name, text, start, end)
      case BODY:
        return this.applyInBody(marker, name, text, start, end)
      case OPENING:
        return this.applyOpening(marker, tag, name, text, start, end)
      default:
    }
    switch (marker.kind) {
      case CALL_OPENER:
        return this.applyOpener(tag!, name, text, start, end)
      case CALL_CLOSER:
        return this.applyCloser(marker.close, start, end)
      case REASONING_OPENER:
        if (this.after && this.tags.length > 0) this.warn('unclosed-tag', start, start)
        this.endPart(start)
        this.out.span('marker', end)
        return this.openReasoning(marker.close)
      default:
        return this.closeReasoning(start, end)
    }
  }

  /** Held characters are data where they stand. */
  private release(text: string, start: number): void {
    const end = start + text.length
    switch (this.mode) {
      case SKIP:
        return this.skip(text, end)
      case BODY:
        this.body!.give(text, start, this.sink)
        this.settle(start)
        if (this.mode !== BODY) this.release(text, start)
        return
      case OPENING:
        if (this.sink.started) {
          this.sink.fail('malformed-arguments', 'the arguments', start)
          this.settle(start)
        } else this.giveBack()
        return this.release(text, start)
      default:
        if (this.thinking !== '') this.lastUnit = text.charCodeAt(text.length - 1)
        return this.emitText(text, end)
    }
  }

  private openReasoning(close: string): void {
    this.thinking = close
    this.lastUnit = 0
    this.after = false
    this.out.reasoning = true
  }

  private closeReasoning(start: number, end: number): void {
    this.endPart(start)
    this.out.span('marker', end)
    this.markdown.reset(end)
    this.thinking = ''
    this.out.reasoning = false
  }

  private applyCloser(close: string, start: number, end: number): void {
    const { out } = this
    if (this.after) {
      const { tags } = this
      let own = tags.length - 1
      while (own >= 0 && tags[own]!.close !== close) own--
      // Inside a tag white space is layout, whatever the option says.
      if (tags.length > 0) out.dropGap()
      out.close(start)
      if (own >= 0) {
        while (tags.length - 1 > own) this.late.push(tags.pop()!.close)
        tags.pop()
      } else if (this.tags.length > 0) {
        if (!this.mismatched) this.warn('mismatched-close-tag', start, end)
        this.mismatched = true
      }
      this.separated = false
      this.mode = GAP
      this.markdown.reset(end)
      if (this.tags.length === 0) this.after = this.bare
    } else {
      this.late.splice(this.late.indexOf(close), 1)
      if (!out.open) this.endPart(start)
    }
    out.span('marker', end)
  }

  // ------------------------------------------------------------------ calls

  private applyOpener(
    tag: Tag,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    if (
      tag.lineStart &&
      !(this.after && this.tags.at(-1)?.wraps.has(tag.open)) &&
      !this.isCallable(name)
    ) {
      return this.release(text, start)
    }
    this.openTag(tag, name, text, start, end)
  }

  private openTag(
    tag: Tag,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    const continues = this.after && this.tags.at(-1)?.wraps.has(tag.open) === true
    this.callTags = continues ? [...this.tags, tag] : [tag]
    this.openCall(name, text, start)
    this.continues = continues
    this.mark('marker', end)
    if (continues && name !== undefined) this.startNamed(name, end)
  }

  private openCall(name: string | undefined, raw: string, start: number): void {
    this.mode = OPENING
    this.opened = 0
    this.committed = false
    this.continues = false
    this.name = name
    this.callStart = start
    if (this.marks.length > 0) this.marks.length = 0
    this.sink.begin(raw, start)
  }

  private mark(kind: SpanKind, end: number): void {
    if (this.committed) this.out.span(kind, end)
    else if (this.options.trace) this.marks.push({ kind, end })
  }

  private openBody(grammar: Grammar): void {
    if (this.isTooLong()) return
    let body = this.bodies.get(grammar)
    if (!body) this.bodies.set(grammar, (body = grammar.create()))
    body.open(this.name)
    this.body = body
    this.mode = BODY
  }

  /** Whether the header's name is too long; then the call has failed. */
  private isTooLong(): boolean {
    const { name, limits, sink } = this
    if (name === undefined || name.length <= limits.name) return false
    const offset = this.header.nameStart + limits.name
    sink.fail('limit', `a name of ${limits.name} characters at the most`, offset)
    this.settle(offset)
    return true
  }

  /** A named section inside another: the name proves the call. */
  private startNamed(name: string, offset: number): void {
    if (this.isTooLong()) return
    this.sink.start(name, offset)
    this.settle(offset)
  }

  private takeOpening(chunk: string, index: number): number {
    const size = chunk.length
    this.stops.breaks = UNSEEN
    let end = index
    while (end < size && char.isSpace(chunk.charCodeAt(end))) end++
    this.visitedUnits += end - index
    const room = this.limits.whitespace - this.opened
    if (end - index > room) {
      this.sink.skip(chunk, index, index + room)
      return this.refuseOpening(index + room)
    }
    this.sink.skip(chunk, index, end)
    this.opened += end - index
    if (end > index) this.mark('layout', this.base + end)
    if (end === size) return end
    const code = chunk.charCodeAt(end)
    for (const grammar of this.callTags.at(-1)!.grammars) {
      if (!grammar.begins(code)) continue
      this.openBody(grammar)
      return end
    }
    if (!this.compiled.automaton.begins(code)) return this.refuseOpening(end)
    return this.takeMarker(chunk, end)
  }

  /** What stands here is no body. */
  private refuseOpening(index: number): number {
    if (this.sink.started) {
      this.sink.fail('malformed-arguments', 'the arguments', this.base + index)
      this.settle(this.base + index)
    } else this.giveBack()
    return index
  }

  private applyOpening(
    marker: Marker,
    tag: Tag | undefined,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    const { sink, callTags } = this
    const outer = callTags.at(-1)!
    if (tag && outer.wraps.has(tag.open)) {
      sink.skip(text, 0, text.length)
      this.mark('marker', end)
      callTags.push(tag)
      this.name = name
      if (name !== undefined) this.startNamed(name, end)
      return
    }
    if (this.name !== undefined && marker.kind === CALL_CLOSER && marker.close === outer.close) {
      this.openBody(outer.grammars[0]!)
      return this.applyInBody(marker, name, text, start, end)
    }
    if (sink.started) {
      sink.fail('malformed-arguments', 'the arguments', start)
      this.settle(start)
    } else this.giveBack()
    this.applyAgain(marker, name, text, start, end)
  }

  /** The state changed: what does the marker mean now? */
  private applyAgain(
    marker: Marker,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    if (this.mode <= RUN && !this.accepts(marker, start)) this.release(text, start)
    else this.apply(marker, name, text, start, end)
  }

  private takeBody(chunk: string, index: number): number {
    const { sink } = this
    this.stops.breaks = UNSEEN
    const body = this.body!
    // A limit may lie within the chunk: up to there first, so that it counts at one character.
    const view = chunk.length - index > sink.room ? this.viewOf(chunk, index) : chunk
    if (!sink.open) return index
    const end = body.take(view, index, sink)
    this.visitedUnits += end - index
    if (this.committed && this.out.tracing) this.out.span('call', this.base + end)
    if (!sink.open) {
      this.settle(this.base + end)
      return end
    }
    if (end === view.length) return end
    if (this.compiled.automaton.begins(chunk.charCodeAt(end))) return this.takeMarker(chunk, end)
    body.give(chunk.charAt(end), this.base + end, sink)
    this.settle(this.base + end)
    return sink.open ? end + 1 : end
  }

  /** What of the chunk the arguments' limit allows; past it the call fails. */
  private viewOf(chunk: string, index: number): string {
    const { sink } = this
    if (sink.room === 0 && this.body!.passing) {
      sink.overLimit(this.base + index)
      this.settle(this.base + index)
    }
    return chunk.slice(0, index + Math.max(sink.room, 1))
  }

  private applyInBody(
    marker: Marker,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    const { sink } = this
    const body = this.body!
    if (marker.kind === CALL_CLOSER) {
      body.closeSeen(
        this.callTags.some((tag) => tag.close === marker.close),
        start,
        sink,
      )
    } else if (marker.kind === CALL_OPENER) body.openSeen(start, sink)
    if (sink.open) return this.release(text, start)
    this.settle(start)
    this.applyAgain(marker, name, text, start, end)
  }

  /** The body has spoken: goes on after the call, in the failed call, or in the text. */
  private settle(offset: number): void {
    const { sink } = this
    if (this.ended) return
    if (sink.outcome === NOT_A_CALL) this.giveBack()
    else if (sink.outcome === DONE) {
      this.out.span('call', offset)
      this.completed++
      this.tags = this.callTags
      this.bare = this.callTags[0]!.lineStart
      this.listed ||= sink.listed
      this.after = true
      this.separated = false
      this.mismatched = false
      this.committed = false
      this.endPart(offset)
    } else if (sink.outcome === FAILED && this.mode !== SKIP) this.startSkipping()
  }

  /** The opener and what followed were no call: back into the text, or the failed call. */
  private giveBack(): void {
    const { raw } = this.sink
    const end = this.callStart + raw.length
    this.marks.length = 0
    if (this.failed) {
      this.mode = SKIP
      this.skip(raw, end)
      return
    }
    this.mode = RUN
    const ink = raw.length - raw.trimStart().length
    // A stream may start in a call, so that what comes back begins with white space.
    if (!this.out.open && ink > 0) this.out.space(raw.slice(0, ink))
    if (ink < raw.length) this.emitText(raw.slice(this.out.open ? 0 : ink), end)
    else this.mode = GAP
  }

  // ------------------------------------------------------------------ failed calls

  private startSkipping(): void {
    const { sink, callTags } = this
    const tag = callTags[0]!
    const early = this.mode === OPENING || !this.body!.begun
    const { raw } = sink
    this.out.span('call', this.callStart + raw.length)
    this.committed = false
    this.after = false
    this.tags = []
    this.mode = SKIP
    const from = early ? NO_MARKER : this.body!.lastString
    const count = from < 0 ? 1 : 1 + this.countMarkers(raw.slice(from - this.callStart), tag)
    this.failed = new FailedCall(sink.failure!, tag, early, raw, count, this.limits.arguments)
  }

  /** Openers less closers of the tag's kind in a piece of text. */
  private countMarkers(text: string, tag: Tag): number {
    const { automaton, markers } = this.compiled
    let count = 0
    let node = 0
    for (let index = 0; index < text.length; index++) {
      node = automaton.step(node, text.charCodeAt(index))
      const found = automaton.match[node]!
      if (found === NO_MARKER) continue
      const { kind, close, tag: plain, namedTag } = markers[found]!
      if (kind === CALL_CLOSER && close === tag.close) count--
      else if (kind === CALL_OPENER && (plain ?? namedTag)!.stem === tag.stem) count++
    }
    this.visitedUnits += text.length
    return count
  }

  private takeSkip(chunk: string, index: number): number {
    let end = this.stops.find(chunk, index)
    while (end < chunk.length && !this.compiled.automaton.begins(chunk.charCodeAt(end))) {
      end = this.stops.find(chunk, end + 1)
    }
    if (end > index) this.skip(chunk.slice(index, end), this.base + end)
    return end < chunk.length ? this.takeMarker(chunk, end) : end
  }

  private skip(text: string, end: number): void {
    this.failed!.add(text)
    this.out.span('discarded', end)
  }

  private applySkipping(
    marker: Marker,
    tag: Tag | undefined,
    name: string | undefined,
    text: string,
    start: number,
    end: number,
  ): void {
    const failed = this.failed!
    if (tag && failed.early && !tag.lineStart) return this.openTag(tag, name, text, start, end)
    if (tag && failed.opens(tag)) failed.opened()
    if (marker.kind !== CALL_CLOSER || !failed.closed(marker.close)) return this.skip(text, end)
    failed.add(text)
    this.out.span('marker', end)
    this.endFailed()
    this.endPart(end)
  }

  private endFailed(): void {
    const { failed } = this
    if (!failed) return
    this.failed = undefined
    this.out.emit(failed.event())
  }

  // ------------------------------------------------------------------ what the sink asks

  emit(event: StreamEvent): void {
    this.out.emit(event)
  }

  beginCall(): number {
    const { out, callStart } = this
    this.endFailed()
    if (this.after && !this.continues && this.tags.length > 0)
      this.warn('unclosed-tag', callStart, callStart)
    if (this.after && this.continues) out.dropGap()
    out.close(callStart)
    this.after = false
    if (this.late.length > 0) this.late.length = 0
    this.committed = true
    if (!this.continues) this.listed = false
    for (const { kind, end } of this.marks) out.span(kind, end)
    if (this.callTags.at(-1)!.lineStart && this.callTags.length === 1)
      this.warn('missing-open-tag', callStart, callStart)
    return out.nextIndex++
  }

  makeId(): string {
    return this.nextId()
  }

  countCall(): boolean {
    return ++this.calls <= this.limits.calls
  }

  isUnknownTool(name: string): boolean {
    return this.tools !== undefined && !this.tools.has(name)
  }

  warn(code: Parameters<Output['warn']>[0], start: number, end: number, name?: string): void {
    this.out.warn(code, start, end, name)
  }

  /** Whether an unwrapped call may have this name. */
  private isCallable(name: string | undefined): boolean {
    return name !== undefined && isName(name) && (this.tools === undefined || this.tools.has(name))
  }

  // ------------------------------------------------------------------ the end

  /** Lets go of all that was held, save an open call. */
  private drain(): void {
    if (this.half !== 0) {
      const unit = String.fromCharCode(this.half)
      this.half = 0
      this.run(unit)
    }
    if (this.candidate !== NO_MARKER) this.commitCandidate(this.base)
  }

  private endMode(): void {
    const { base, header } = this
    if (this.inHeader) this.endHeader()
    else if (this.node !== 0) this.endMarker()
    if (this.mode === OPENING) {
      if (this.sink.started) {
        this.sink.fail('incomplete-call', 'the arguments', base)
        this.settle(base)
      } else this.giveBack()
    } else if (this.mode === BODY) {
      this.body!.end(base, this.sink)
      this.settle(base)
    }
    this.endFailed()
    if (this.after && this.tags.length > 0) this.warn('unclosed-tag', base, base)
    if (this.thinking !== '') this.warn('unclosed-reasoning', base, base)
    this.out.close(base)
  }

  private endHeader(): void {
    const { header, callTags } = this
    this.inHeader = false
    const end = header.start + header.text.length
    const marker = this.compiled.markers[header.marker]!
    if (header.kind === TICK) this.closeReasoning(header.start, end)
    else if (this.after && marker.kind === CALL_CLOSER)
      this.applyCloser(marker.close, header.start, end)
    else if (
      this.mode === OPENING &&
      header.kind === NAME &&
      callTags.at(-1)!.wraps.has(marker.namedTag!.open)
    ) {
      this.sink.skip(header.text, 0, header.text.length)
      this.sink.fail('incomplete-call', 'the rest of the name', end)
      this.settle(end)
    } else this.release(header.text, header.start)
  }

  /** The input ended within a marker. */
  private endMarker(): void {
    const { automaton, markers } = this.compiled
    const { node, sink } = this
    const text = automaton.textOf(node)
    const start = this.base - text.length
    this.node = 0
    const cut = (literal: string): boolean => literal.startsWith(text)
    if (this.mode === OPENING) {
      const { wraps } = this.callTags.at(-1)!
      const inner = markers.some(
        (known) => known.namedTag && wraps.has(known.namedTag.open) && cut(known.literal),
      )
      if (inner) {
        sink.skip(text, 0, text.length)
        sink.fail('incomplete-call', 'the rest of the tag', this.base)
        return this.settle(this.base)
      }
    }
    const closes = this.after && text.length > 1 && this.tags.some((tag) => cut(tag.close))
    if (closes) {
      this.warn('unclosed-tag', start, this.base)
      this.tags = []
      this.out.close(start)
      this.out.span('marker', this.base)
    } else if (this.mode === BODY) {
      this.sink.skip(text, 0, text.length)
      sink.fail('incomplete-call', 'the rest of the call', this.base)
      this.settle(this.base)
    } else this.release(text, start)
  }

  /** Closing events for an abort or a failed source. */
  private closeAborted(): void {
    const held = this.inHeader ? this.header.text : this.compiled.automaton.textOf(this.node)
    this.inHeader = false
    this.node = 0
    if (held !== '') {
      if (this.mode === BODY || this.mode === OPENING) this.sink.skip(held, 0, held.length)
      else this.release(held, this.base - held.length)
    }
    if (this.mode === BODY || this.mode === OPENING) {
      if (this.committed || this.mode === BODY) {
        this.sink.fail('aborted', 'the rest of the call', this.base)
        this.settle(this.base)
      } else this.giveBack()
    }
    this.endFailed()
    this.out.close(this.base)
  }

  private finish(reason: FinishReason, info: EndInfo): void {
    const { usage, metadata } = info
    let { rawReason } = info
    this.ended = true
    this.node = 0
    this.inHeader = false
    if (reason === 'tool-calls' && this.completed === 0) {
      reason = 'other'
      rawReason ??= 'tool-calls'
    }
    this.out.flushSpan()
    this.out.emit({
      type: 'finish',
      reason,
      ...(rawReason !== undefined && { rawReason }),
      ...(usage && { usage }),
      ...(metadata && { metadata }),
    })
    this.out.mute()
  }
}
