/**
 * The machine: one loop that takes one run of characters per turn.
 *
 * It reads text and reasoning, says what a marker means where it stands, and hands calls to
 * `CallReader`. It knows no dialect by name and no grammar's inside. Held text is a node of the
 * automaton or a short header (`MarkerReader`); nothing is appended to a buffer and searched again.
 * A whole text is one `feed` and one `end`: there is no second path.
 */
import { CallReader, type CallsHost } from './calls.ts'
import * as char from './chars.ts'
import { checkOptions, describe } from './check-options.ts'
import {
  CALL_CLOSER,
  CALL_OPENER,
  type Compiled,
  type Marker,
  REASONING_CLOSER,
  REASONING_OPENER,
  compile,
} from './compile.ts'
import type { Dialect } from './dialect.ts'
import { ERROR_CODES, MisuseError } from './errors.ts'
import type { FinishReason } from './events.ts'
import type { Header } from './headers.ts'
import { createIdGenerator } from './ids.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { NO_BREAK, UNSEEN } from './lines.ts'
import { Markdown } from './markdown.ts'
import { type MarkerHost, MarkerReader, type Sighting } from './marker-reader.ts'
import type { EndInfo, Holding, MachineOptions, Parser, WithOnEvent } from './options.ts'
import { Output } from './output.ts'
import { Stops } from './stops.ts'
import { toolNames } from './tools.ts'

// What the loop reads, `|` being the place.
const GAP = 0 // text |  <tool_call>: white space before a part
const RUN = 1 // te|xt, or reasoning
const CALL = 2 // <tool_call>|{"name": "f"}
type Mode = 0 | 1 | 2

// Whether a marker counts where it stands.
const UNWANTED = 0
const WANTED = 1
/** A close marker that closes nothing: text, with a warning. */
const ORPHAN = 2
type Wanted = 0 | 1 | 2

/** Up to this length a chunk is looked at character by character, in the hope of one run. */
const LANE = 24
const BROKEN =
  'A listener may only abort the parser; one that threw leaves it of no use until `reset`.'
/** The opener stood in the prompt, unseen: any closer of reasoning is its own. */
const ANY = '*'
const NO_MARKER = -1
const UNKNOWN = -1

/** A parser for the given dialects, all on at once. */
export function createMachine(
  options: MachineOptions & WithOnEvent & { readonly dialects: readonly Dialect[] },
): Parser {
  checkOptions(options, 'createMachine')
  return new Machine(compile(options.dialects), options)
}

class Machine implements Parser, CallsHost, MarkerHost {
  /** Offset of the current chunk's first character. */
  base = 0
  private readonly compiled: Compiled
  private readonly options: MachineOptions & WithOnEvent
  private readonly out: Output
  private readonly stops: Stops
  private readonly markdown = new Markdown()
  private readonly markers: MarkerReader
  private readonly calls: CallReader
  /** Tools are off: every call is text. */
  private readonly off: boolean
  private nextId: () => string
  private mode: Mode = GAP
  ended = false
  /** Events are being emitted: a listener may abort, and do nothing else. */
  private busy = false
  /** Busy, or a listener threw: what is open is known, where reading stands is not. */
  private broken = false
  /** By code: characters at which a chunk is more than a run; absent if it may be more anyway. */
  private lane: Uint8Array | undefined
  /** Code units looked at beside what the parts count. */
  private looks = 0
  /** A high surrogate that waits for its other half. */
  private half = 0
  /** Close marker of the open reasoning; empty outside. */
  private thinking = ''
  /** The last character of reasoning before what is held. */
  private lastUnit = 0
  /** Offset of the input's first character that is not white space. */
  private ink = UNKNOWN
  /** Offset of the first character after the last gap. */
  private gapEnd = UNKNOWN

  constructor(compiled: Compiled, options: MachineOptions & WithOnEvent) {
    const { trace, whitespace, patches, onEvent } = options
    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    const tools = options.tools && toolNames(options.tools)
    this.compiled = compiled
    this.options = options
    this.out = new Output(onEvent, limits.whitespace, whitespace === 'exact', trace)
    this.stops = new Stops(compiled)
    this.markers = new MarkerReader(this, compiled, limits.name)
    const { out, stops, markers } = this
    const parts = { compiled, limits, out, stops, markers, tools, patches: patches === true }
    this.calls = new CallReader(this, parts)
    this.off = tools?.size === 0 || options.toolChoice === 'none'
    this.nextId = options.generateId ?? createIdGenerator()
    this.begin()
  }

  // ------------------------------------------------------------------ what a caller sees

  get visited(): number {
    const { looks, stops, markers, calls, markdown } = this
    return looks + stops.visited + markers.visited + calls.visited + markdown.lines.visited
  }

  get holding(): Holding | undefined {
    if (this.half !== 0) return 'surrogate'
    if (this.markers.openHeader) return 'header'
    const { holding } = this.calls
    if (holding !== undefined) return holding
    if (this.markers.busy) return 'marker'
    return this.mode === GAP && this.out.gap !== '' ? 'whitespace' : undefined
  }

  feed(chunk: string): void {
    if (typeof chunk !== 'string' || this.ended || this.broken) this.refuseFeed(chunk)
    this.busy = true
    this.broken = true
    try {
      if (this.lane === undefined || !this.takeLane(chunk, this.lane)) this.feedSlowly(chunk)
      this.broken = false
    } finally {
      this.busy = false
    }
  }

  end(info: EndInfo = {}): void {
    if (this.ended) throw new MisuseError('ended', 'The parser has ended already.')
    this.refuseIfBroken()
    this.emitting(() => {
      this.drain()
      this.endAll()
      this.finish(info.reason ?? (this.calls.completed > 0 ? 'tool-calls' : 'stop'), info)
    })
  }

  fail(error: unknown): void {
    if (this.ended) return
    this.close()
    const message = error instanceof Error ? error.message : String(error)
    this.out.emit({ type: 'error', code: 'source-failed', message, cause: error })
    this.finish('error', {})
  }

  abort(): void {
    if (this.ended) return
    this.close()
    this.finish('aborted', {})
  }

  cut(): boolean {
    this.refuseIfBroken()
    if (this.ended || this.calls.pending) return false
    return this.emitting(() => this.cutHere())
  }

  private cutHere(): boolean {
    this.lane = undefined
    this.drain()
    if (this.calls.pending) return false
    const held = this.takeHeld()
    if (this.mode === CALL) this.calls.end(this.base, held)
    else if (held !== '') this.release(held, this.base - held.length)
    this.endPart(this.base)
    return true
  }

  reset(): void {
    if (this.busy) throw new MisuseError('busy', 'A listener may not reset the parser.')
    this.ended = false
    this.broken = false
    this.lane = undefined
    this.base = 0
    this.looks = 0
    this.half = 0
    this.thinking = ''
    this.ink = UNKNOWN
    this.gapEnd = UNKNOWN
    this.stops.visited = 0
    this.markers.visited = 0
    this.markdown.lines.visited = 0
    this.markers.clear()
    this.calls.clear()
    this.nextId = this.options.generateId ?? createIdGenerator()
    this.out.reset()
    this.begin()
  }

  private begin(): void {
    this.mode = GAP
    this.markdown.reset(0)
    const { startIn } = this.options
    const { markers, tags } = this.compiled
    if (startIn === 'reasoning') {
      if (!markers.some((known) => known.kind === REASONING_CLOSER)) {
        throw new MisuseError('no-reasoning', 'No dialect in use has reasoning markers.')
      }
      this.openReasoning(ANY)
      this.ink = 0
    } else if (startIn === 'call' && !this.off) {
      if (tags.length === 0) throw new MisuseError('no-calls', 'No dialect in use has calls.')
      this.calls.openAtStart(tags[0]!)
      this.mode = CALL
      this.ink = 0
    }
  }

  /** Does what may emit events, as `feed` does. */
  private emitting<T>(act: () => T): T {
    this.busy = true
    this.broken = true
    try {
      const result = act()
      this.broken = false
      return result
    } finally {
      this.busy = false
    }
  }

  private refuseIfBroken(): void {
    if (this.broken) throw new MisuseError('busy', BROKEN)
  }

  private refuseFeed(chunk: unknown): never {
    if (typeof chunk !== 'string') {
      throw new MisuseError('not-a-string', `Expected a string to feed, found ${describe(chunk)}.`)
    }
    if (this.ended) {
      throw new MisuseError('ended', 'The parser has ended: call `reset` before `feed`.')
    }
    throw new MisuseError('busy', BROKEN)
  }

  // ------------------------------------------------------------------ the loop

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
    if (this.mode === CALL) {
      const { sink } = this.calls
      if (size > sink.room) return false
      this.base += size
      this.looks += size
      sink.passPiece(chunk)
      return true
    }
    this.base += size
    this.looks += size
    if (this.thinking === '') this.markdown.lines.pass(this.base)
    else this.lastUnit = chunk.charCodeAt(size - 1)
    this.out.delta(chunk)
    return true
  }

  /** What the next chunk may be passed on by. */
  private chooseLane(): Uint8Array | undefined {
    if (this.markers.busy || this.half !== 0 || this.out.tracing) return undefined
    if (this.mode === CALL) return this.calls.verbatim
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
    }
    if (chunk === '') this.lane = undefined
    else if (!this.calls.steady || this.markers.busy) this.run(chunk, 0)
    else this.runCall(chunk)
    this.lane = this.chooseLane()
  }

  /** A chunk inside a call: most end there, too, and need nothing of what text needs. */
  private runCall(chunk: string): void {
    const { calls } = this
    calls.sink.base = this.base
    const end = calls.take(chunk, 0)
    if (end === chunk.length && calls.steady && !this.markers.busy) this.base += end
    else this.run(chunk, end)
  }

  private run(chunk: string, index: number): void {
    const { lines } = this.markdown
    this.calls.sink.base = this.base
    lines.begin(chunk, this.base)
    this.stops.begin()
    if (index > 0) this.stops.breaks = UNSEEN
    this.loop(chunk, index)
    if (this.thinking === '' && (this.mode !== CALL || this.calls.mayBeText)) {
      lines.keep(this.stops.breaks)
    }
    this.base += chunk.length
  }

  private loop(chunk: string, index: number): void {
    const size = chunk.length
    while (index < size && !this.ended) {
      if (this.markers.busy) {
        this.stops.breaks = UNSEEN
        index = this.markers.take(chunk, index)
        continue
      }
      switch (this.mode) {
        case RUN:
          index = this.takeRun(chunk, index)
          continue
        case CALL:
          this.stops.breaks = UNSEEN
          index = this.calls.take(chunk, index)
          continue
        case GAP:
          index = this.takeGap(chunk, index)
      }
    }
  }

  /** Reads characters that were held behind a marker; they begin at `offset`. */
  replay(text: string, offset: number): void {
    const { base } = this
    this.base = offset
    this.calls.sink.base = offset
    this.loop(text, 0)
    this.base = base
    this.calls.sink.base = base
  }

  // ------------------------------------------------------------------ text and reasoning

  private takeRun(chunk: string, index: number): number {
    const { automaton, markers } = this.compiled
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
      // A marker may begin. What turns out to be none is not cut out of the run; it may hold a
      // line break that the scan for stops does not see.
      if (this.stops.breaks === NO_BREAK) this.stops.breaks = UNSEEN
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
        const wanted = whole ? this.wants(markers[found]!, base + start) : WANTED
        if (wanted !== UNWANTED) {
          this.emitRun(chunk, index, start)
          index = start
        }
        if (wanted === WANTED) {
          this.looks += at - from
          this.markers.found(found, whole, node, base + at, whole)
          return at
        }
        if (wanted === ORPHAN) this.warnOrphan(markers[found]!, base + start)
        node = 0
      } while (at < size && node !== 0)
      this.looks += at - from
      if (at === size && node !== 0) {
        this.emitRun(chunk, index, size - automaton.depth[node]!)
        this.markers.hold(node)
        return size
      }
    }
  }

  private emitRun(chunk: string, from: number, to: number): void {
    if (to <= from) return
    if (this.thinking !== '') this.lastUnit = chunk.charCodeAt(to - 1)
    const piece = from === 0 && to === chunk.length ? chunk : chunk.slice(from, to)
    this.emitText(piece, this.base + to)
  }

  private emitText(text: string, end: number): void {
    const { after } = this.calls
    if (after.active && after.leave()) {
      const start = end - text.length
      this.out.warn('trailing-text', start, start)
    }
    this.mode = RUN
    this.out.text(text, end)
  }

  /** White space before a part; after a call also brackets and separators. */
  private takeGap(chunk: string, index: number): number {
    const size = chunk.length
    let end = index
    this.stops.breaks = UNSEEN
    while (end < size && char.isSpace(chunk.charCodeAt(end))) end++
    this.looks += end - index
    if (end > index) {
      this.out.space(chunk.slice(index, end))
      if (end === size) return end
    }
    this.gapEnd = this.base + end
    if (this.ink === UNKNOWN) this.ink = this.gapEnd
    const { calls } = this
    if (!calls.after.active) this.mode = RUN
    else if (calls.takeAfter(chunk.charCodeAt(end), this.gapEnd)) return end + 1
    else this.mode = calls.active ? CALL : RUN
    return end
  }

  private endPart(offset: number): void {
    this.out.close(offset)
    this.mode = GAP
    this.markdown.reset(offset)
  }

  private openReasoning(close: string): void {
    this.thinking = close
    this.lastUnit = 0
    if (this.calls.after.active) this.calls.after.leave()
    this.out.reasoning = true
  }

  private closeReasoning(start: number, end: number): void {
    this.endPart(start)
    this.out.span('marker', end)
    this.markdown.reset(end)
    this.thinking = ''
    this.out.reasoning = false
  }

  // ------------------------------------------------------------------ what a marker means

  /** Whether a marker counts in text or reasoning, where it stands. */
  private wants(marker: Marker, start: number): Wanted {
    const { kind, close } = marker
    if (this.thinking !== '') {
      const closes = close === this.thinking || this.thinking === ANY
      return kind === REASONING_CLOSER && closes ? WANTED : UNWANTED
    }
    const { after } = this.calls
    // Text that was not sent yet may stand between the call and the marker.
    const directly = after.active && start === this.gapEnd
    if (kind === CALL_OPENER) {
      if (this.off) return UNWANTED
      const tag = marker.tag ?? marker.namedTag!
      if (directly && after.continues(tag)) return WANTED
      return this.isBare(start, tag.lineStart)
    }
    if (kind === REASONING_OPENER) return this.isBare(start, true)
    if (this.isBare(start, false) === UNWANTED) return UNWANTED
    if (kind === REASONING_CLOSER) {
      if (this.ink === start) return WANTED
    } else if (directly || after.isLate(close)) return WANTED
    return this.off ? UNWANTED : ORPHAN
  }

  /** Whether nothing quotes what stands at `start`. */
  private isBare(start: number, lineStart: boolean): Wanted {
    if (this.markdown.quotedAt(start)) return UNWANTED
    return lineStart && !this.markdown.startsLine(start) ? UNWANTED : WANTED
  }

  private warnOrphan(marker: Marker, start: number): void {
    this.out.warn('orphan-close-tag', start, start + marker.literal.length)
  }

  accepts(marker: Marker, start: number): boolean {
    if (this.mode === CALL) return true
    const wanted = this.wants(marker, start)
    if (wanted === ORPHAN) this.warnOrphan(marker, start)
    return wanted === WANTED
  }

  isTicked(marker: Marker): boolean {
    if (this.mode !== RUN || this.thinking === '') return false
    return marker.kind === REASONING_CLOSER && this.lastUnit === char.BACKTICK
  }

  sighted(sighting: Sighting): void {
    const { marker, tag, text, start, end } = sighting
    if (marker.kind === CALL_OPENER && !tag) return this.release(text, start)
    if (this.mode === CALL) return this.calls.sighted(sighting)
    switch (marker.kind) {
      case CALL_OPENER:
        if (!this.calls.open(tag!, sighting)) return this.release(text, start)
        this.mode = CALL
        return
      case CALL_CLOSER:
        return this.closeTag(marker.close, start, end)
      case REASONING_OPENER:
        if (this.calls.after.open) this.out.warn('unclosed-tag', start, start)
        this.endPart(start)
        this.out.span('marker', end)
        return this.openReasoning(marker.close)
      default:
        return this.closeReasoning(start, end)
    }
  }

  again(sighting: Sighting): void {
    if (this.accepts(sighting.marker, sighting.start)) this.sighted(sighting)
    else this.release(sighting.text, sighting.start)
  }

  private closeTag(close: string, start: number, end: number): void {
    const { after } = this.calls
    if (after.active) {
      this.calls.close(close, start, end)
      this.mode = GAP
      this.markdown.reset(end)
      return
    }
    after.takeLate(close)
    if (!this.out.open) {
      this.endPart(start)
      this.markdown.reset(end)
    }
    this.out.span('marker', end)
  }

  release(text: string, start: number): void {
    if (this.mode === CALL) return this.calls.release(text, start)
    if (this.thinking !== '') this.lastUnit = text.charCodeAt(text.length - 1)
    this.emitText(text, start + text.length)
  }

  refused(marker: Marker, header: Header): void {
    const { calls } = this
    if (this.mode === CALL) calls.refused(marker, header)
    else if (header.start === this.gapEnd && calls.refusedAfter(marker, header)) this.mode = CALL
    else this.release(header.text, header.start)
  }

  // ------------------------------------------------------------------ what the calls ask

  giveBack(text: string, end: number): void {
    const { out } = this
    this.mode = out.open ? RUN : GAP
    // A stream may start in a call, so that what comes back begins with white space.
    const ink = out.open ? 0 : text.length - text.trimStart().length
    if (ink > 0) out.space(text.slice(0, ink))
    if (ink < text.length) this.emitText(text.slice(ink), end)
  }

  resume(offset: number): void {
    this.endPart(offset)
  }

  makeId(): string {
    return this.nextId()
  }

  // ------------------------------------------------------------------ the end

  /** Reads what was held whole: half of a pair, a marker that waited for a longer one. */
  private drain(): void {
    if (this.half !== 0) {
      const unit = String.fromCharCode(this.half)
      this.half = 0
      this.run(unit, 0)
    }
    this.markers.settle(this.base)
  }

  /** The beginning of a marker, header and all; it is held no more. */
  private takeHeld(): string {
    const { held } = this.markers
    this.markers.clear()
    return held
  }

  private endAll(): void {
    const { base, calls, out } = this
    const header = this.markers.openHeader
    if (this.mode === CALL) {
      calls.end(base, this.markers.held)
      this.markers.clear()
    } else if (header) this.endHeader(header)
    else this.endLiteral(this.takeHeld())
    if (calls.after.open) out.warn('unclosed-tag', base, base)
    if (this.thinking !== '') out.warn('unclosed-reasoning', base, base)
    out.close(base)
  }

  /** The input ended within a header, or behind a marker that waited for one more character. */
  private endHeader(header: Header): void {
    const { text, start } = header
    const marker = this.compiled.markers[header.marker]!
    const end = start + text.length
    this.markers.clear()
    if (marker.kind === REASONING_CLOSER) this.closeReasoning(start, end)
    else if (this.calls.after.active && marker.kind === CALL_CLOSER) {
      this.closeTag(marker.close, start, end)
    } else if (start !== this.gapEnd || !this.calls.endAfter(text, end)) this.release(text, start)
  }

  /** The input ended within the literal part of a marker. */
  private endLiteral(text: string): void {
    const { base, out } = this
    const { after } = this.calls
    if (text === '') return
    const start = base - text.length
    // A close marker that has clearly begun is not shown.
    const closes = after.active && after.tags.some(({ close }) => close.startsWith(text))
    if (!closes || text.length < 2) {
      if (start === this.gapEnd && text.length > 1 && this.calls.endAfter(text, base)) return
      return this.release(text, start)
    }
    out.warn('unclosed-tag', start, base)
    after.clear()
    out.close(start)
    out.span('marker', base)
  }

  /** Closing events for an abort or a failed source. */
  private close(): void {
    if (this.broken) this.closeSeen()
    else this.emitting(() => this.closeAll())
  }

  /** The machine is in the middle of something: ends just the part that a listener has seen begin. */
  private closeSeen(): void {
    const { out } = this
    const { seen } = out
    if (seen?.type === 'text-start') out.finish({ type: 'text-end', index: seen.index })
    else if (seen?.type === 'reasoning-start') {
      out.finish({ type: 'reasoning-end', index: seen.index })
    } else if (seen?.type === 'tool-call-start') {
      const { index, id, name } = seen
      const code = 'aborted'
      const { argumentsSent: text, raw } = this.calls.sink
      const message = ERROR_CODES[code]
      out.finish({ type: 'tool-call-error', index, id, name, code, message, arguments: text, raw })
    }
  }

  private closeAll(): void {
    this.drain()
    const held = this.takeHeld()
    if (this.mode === CALL) this.calls.abort(this.base, held)
    else if (held !== '') this.release(held, this.base - held.length)
    this.out.close(this.base)
  }

  private finish(reason: FinishReason, info: EndInfo): void {
    // A listener that heard the closing events may have ended the stream.
    if (this.ended) return
    const { usage, metadata } = info
    let { rawReason } = info
    if (reason === 'tool-calls' && this.calls.completed === 0) {
      reason = 'other'
      rawReason ??= 'tool-calls'
    }
    this.ended = true
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
