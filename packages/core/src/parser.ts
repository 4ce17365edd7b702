/**
 * The machine: one loop that takes one run of characters per turn.
 *
 * It reads text and hands markers to those who know what they mean: `Meaning` in text, `CallReader`
 * in calls, and `Reasoning`, `TurnEnd` and `MessageStart` for what is held. It knows no dialect by
 * name and no grammar's inside. Held text is a node of the automaton or a short header
 * (`MarkerReader`); nothing is appended to a buffer and searched again. A whole text is one `feed`
 * and one `end`: there is no second path.
 */
import { withOptions } from './asked-for.ts'
import { CallReader, type CallsHost } from './calls.ts'
import * as char from './chars.ts'
import { checkOptions, describe } from './check-options.ts'
import {
  BARE,
  BODY_TAG,
  CALL_CLOSER,
  CALL_OPENER,
  type Compiled,
  type Marker,
  REASONING_CLOSER,
  REASONING_OPENER,
  RESULT_OPENER,
  type Tag,
  TURN_END,
  TURN_START,
  compile,
} from './compile.ts'
import type { Dialect } from './dialect.ts'
import { ERROR_CODES, MisuseError, type RuleCode } from './errors.ts'
import type { FinishReason } from './events.ts'
import type { Header } from './headers.ts'
import { createIdGenerator } from './ids.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { NO_BREAK, UNSEEN } from './lines.ts'
import { Markdown } from './markdown.ts'
import { type MarkerHost, MarkerReader, type Sighting } from './marker-reader.ts'
import { Meaning, SAID, UNWANTED, WANTED } from './meaning.ts'
import { MessageStart } from './message-start.ts'
import type { EndInfo, Holding, MachineOptions, Parser, WithOnEvent } from './options.ts'
import { Output } from './output.ts'
import {
  BARE_CALL,
  CALL,
  FENCED,
  GAP,
  HOLDING,
  type Mode,
  OBSERVING,
  RUN,
  type Reader,
  TURN_ENDING,
  WATCHING,
} from './reader.ts'
import { ANY, Reasoning } from './reasoning.ts'
import { Stops } from './stops.ts'
import { readTools } from './tools.ts'
import { TurnEnd } from './turn-end.ts'

/** Up to this length a chunk is looked at character by character, in the hope of one run. */
const LANE = 24
const BROKEN =
  'A listener may only abort the parser; one that threw leaves it of no use until `reset`.'
const NO_MARKER = -1
const UNKNOWN = -1

/** A parser for the given dialects, all on at once. */
export function createMachine(
  options: MachineOptions & WithOnEvent & { readonly dialects: readonly Dialect[] },
): Parser {
  checkOptions(options, 'createMachine')
  return new Machine(compile(withOptions(options.dialects, options)), options)
}

class Machine implements Parser, Reader, CallsHost, MarkerHost {
  /** Offset of the current chunk's first character. */
  base = 0
  readonly compiled: Compiled
  readonly options: MachineOptions & WithOnEvent
  readonly limits: Limits
  readonly out: Output
  readonly markdown: Markdown = new Markdown()
  readonly markers: MarkerReader
  readonly calls: CallReader
  readonly off: boolean
  mode: Mode = GAP
  ended = false
  over = false
  looks = 0
  ink: number = UNKNOWN
  gapEnd: number = UNKNOWN
  fresh = true
  thinking = false
  quoting = true
  attention = 0
  private readonly stops: Stops
  private readonly reasoning: Reasoning
  private readonly meaning: Meaning
  private readonly turnEnd: TurnEnd
  private readonly message: MessageStart
  private nextId: () => string
  /** Events are being emitted: a listener may abort, and do nothing else. */
  private busy = false
  /** Busy, or a listener threw: what is open is known, where reading stands is not. */
  private broken = false
  /** By code: characters at which a chunk is more than a run; absent if it may be more anyway. */
  private lane: Uint8Array | undefined
  /** A high surrogate that waits for its other half. */
  private half = 0
  /** The chunk at hand. */
  private chunk = ''
  /** A call was seen behind an opener that does not count. */
  private told = false

  constructor(compiled: Compiled, options: MachineOptions & WithOnEvent) {
    const { trace, whitespace, onEvent } = options
    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    const tools = options.tools && readTools(options.tools)
    const reading = {
      strict: options.strict === true,
      guessQuotes: options.guessQuotes === true,
      curlyQuotes: options.curlyQuotes === true,
      gluedArguments: options.gluedArguments ?? 'fail',
    }
    this.compiled = compiled
    this.options = options
    this.limits = limits
    this.out = new Output(onEvent, limits.whitespace, whitespace === 'exact', trace)
    this.stops = new Stops(compiled)
    this.markers = new MarkerReader(this, compiled, limits.name)
    const { out, stops, markers } = this
    this.calls = new CallReader(this, {
      ...{ compiled, limits, out, stops, markers, tools, reading },
      patches: options.patches === true,
      failedAsText: options.failedAsText === true,
      stripOrphanTags: options.stripOrphanTags === true,
      explains: options.explain !== undefined,
    })
    this.reasoning = new Reasoning(this)
    this.meaning = new Meaning(this, this.reasoning)
    this.turnEnd = new TurnEnd(this)
    this.message = new MessageStart(this, reading)
    this.off = tools?.size === 0 || options.toolChoice === 'none'
    this.nextId = options.generateId ?? createIdGenerator()
    this.begin()
  }

  // ------------------------------------------------------------------ what a caller sees

  get visited(): number {
    const { looks, stops, markers, calls, markdown, meaning } = this
    const inText = stops.visited + markdown.lines.visited + meaning.watch.visited
    return looks + inText + markers.visited + calls.visited
  }

  get holding(): Holding | undefined {
    if (this.half !== 0) return 'surrogate'
    if (this.reasoning.holds) return 'reasoning'
    if (this.mode > CALL) return 'message-start'
    if (this.turnEnd.text !== '') return 'special-token'
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
    if (this.over) return true
    this.drain()
    if (this.calls.pending) return false
    const end = this.turnEnd.cut()
    this.message.release(end, false)
    const held = this.takeHeld()
    if (this.mode === CALL) this.calls.end(end, held)
    else if (held !== '') this.release(held, end - held.length)
    this.reasoning.release(end)
    this.endPart(end)
    this.turnEnd.drop()
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
    this.ink = UNKNOWN
    this.gapEnd = UNKNOWN
    this.over = false
    this.reasoning.clear()
    this.meaning.clear()
    this.turnEnd.clear()
    this.message.dropFenced()
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
    this.fresh = true
    this.markdown.reset(0)
    const { startIn } = this.options
    const { markers, tags } = this.compiled
    if (startIn === 'reasoning') {
      if (!markers.some((known) => known.kind === REASONING_CLOSER)) {
        throw new MisuseError('no-reasoning', 'No dialect in use has reasoning markers.')
      }
      this.reasoning.open(ANY)
      this.ink = 0
    } else if (startIn === 'call' && !this.off) {
      if (tags.length === 0) throw new MisuseError('no-calls', 'No dialect in use has calls.')
      this.calls.openAtStart(tags[0]!)
      this.mode = CALL
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
    if (this.quoting) this.markdown.lines.pass(this.base)
    if (this.thinking) this.reasoning.lastUnit = chunk.charCodeAt(size - 1)
    this.out.delta(chunk)
    return true
  }

  /** What the next chunk may be passed on by. */
  private chooseLane(): Uint8Array | undefined {
    if (this.markers.busy || this.half !== 0 || this.out.tracing) return undefined
    if (this.attention !== 0) return undefined
    if (this.mode === CALL) return this.calls.verbatim
    if (this.mode !== RUN || !this.out.open) return undefined
    const { markdown } = this
    if (this.quoting && (markdown.waits || !markdown.lines.settled)) return undefined
    return this.compiled.marked
  }

  private feedSlowly(chunk: string): void {
    if (chunk === '') return
    if (this.over) {
      this.base += chunk.length
      this.out.span('discarded', this.base)
      return
    }
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
    else if (this.calls.steady && !this.markers.busy && this.attention === 0) {
      this.runCall(chunk)
    } else this.run(chunk, 0)
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
    this.chunk = chunk
    this.calls.sink.base = this.base
    lines.begin(chunk, this.base)
    this.stops.begin()
    if (index > 0) this.stops.breaks = UNSEEN
    this.loop(chunk, index)
    // What is held of a message is scanned once it is known to be text.
    if (this.quoting && (this.mode <= RUN || (this.mode === CALL && this.calls.mayBeText))) {
      lines.keep(this.stops.breaks)
    }
    this.base += chunk.length
    if (this.over) this.out.span('discarded', this.base)
  }

  private loop(chunk: string, index: number): void {
    const size = chunk.length
    while (index < size && !this.ended && !this.over) {
      if (this.markers.busy) {
        this.stops.breaks = UNSEEN
        index = this.markers.take(chunk, index)
        continue
      }
      if ((this.attention & TURN_ENDING) !== 0) {
        this.stops.breaks = UNSEEN
        index = this.turnEnd.take(chunk, index)
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
        case BARE_CALL:
          this.stops.breaks = UNSEEN
          index = this.message.takeBare(chunk, index)
          continue
        case FENCED:
          this.stops.breaks = UNSEEN
          index = this.message.takeFenced(chunk, index)
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

  reread(text: string, offset: number): void {
    this.markdown.reset(offset)
    this.readOn(text, offset)
  }

  /** Reads text that was held, and that no line knows of. */
  private readOn(text: string, offset: number): void {
    const { stops } = this
    this.markdown.lines.begin(text, offset)
    stops.begin()
    this.replay(text, offset)
    this.goBack(offset + text.length)
    stops.begin()
    stops.breaks = UNSEEN
  }

  tellLines(text: string, offset: number): void {
    this.markdown.lines.begin(text, offset)
    this.goBack(offset + text.length)
  }

  /** What was held ends at `offset`; lines go on in the chunk at hand. */
  private goBack(offset: number): void {
    const { lines } = this.markdown
    lines.resolve(offset)
    lines.begin(this.chunk, this.base)
  }

  rescan(text: string, offset: number): void {
    this.markdown.reset(offset)
    this.markdown.lines.begin(text, offset)
    this.scanQuotes(text, offset)
    this.goBack(offset + text.length)
  }

  // ------------------------------------------------------------------ text and reasoning

  private takeRun(chunk: string, index: number): number {
    const { automaton, markers } = this.compiled
    const { markdown, base, meaning, quoting } = this
    const size = chunk.length
    let at = quoting && markdown.waits ? markdown.go(chunk, index) : index
    if ((this.attention & WATCHING) !== 0) {
      at = this.lookOn(chunk, index, at)
      if (this.told) index = at
    }
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
        node = automaton.step(node, chunk.charCodeAt(at))
        if (node === 0) break
        at++
        const found = automaton.match[node]!
        if (found === NO_MARKER) continue
        const start = at - automaton.depth[node]!
        const whole = automaton.markers[found]!.length === at - start && automaton.leaf[node] === 1
        if ((this.attention & HOLDING) !== 0) {
          // What the text so far says of a call that is held counts for this marker.
          this.emitRun(chunk, index, start)
          index = start
        }
        const wanted = whole ? meaning.of(markers[found]!, base + start) : WANTED
        if (wanted !== UNWANTED) {
          this.emitRun(chunk, index, start)
          index = start
        }
        if (wanted === WANTED) {
          this.looks += at - from
          this.markers.found(found, whole, node, base + at, whole)
          return at
        }
        if (wanted === SAID) meaning.say(markers[found]!, base + start)
        node = 0
      } while (at < size && node !== 0)
      this.looks += at - from
      if ((this.attention & WATCHING) !== 0 && node === 0) {
        at = this.lookOn(chunk, index, at)
        if (this.told) index = at
      }
      if (at === size && node !== 0) {
        this.emitRun(chunk, index, size - automaton.depth[node]!)
        this.markers.hold(node)
        return size
      }
    }
  }

  /** Looks on behind an opener that does not count; returns where. */
  private lookOn(chunk: string, from: number, at: number): number {
    const { watch } = this.meaning
    this.stops.breaks = UNSEEN
    at = watch.take(chunk, at, this.base)
    this.told = watch.seen
    if (!watch.active) this.attention &= ~WATCHING
    if (watch.seen) {
      this.emitRun(chunk, from, at)
      this.meaning.tell()
    }
    return at
  }

  private emitRun(chunk: string, from: number, to: number): void {
    if (to <= from) return
    if (this.thinking) this.reasoning.lastUnit = chunk.charCodeAt(to - 1)
    const piece = from === 0 && to === chunk.length ? chunk : chunk.slice(from, to)
    this.emitText(piece, this.base + to)
  }

  emitText(text: string, end: number): void {
    const { after } = this.calls
    if (after.active && after.leave()) {
      const start = end - text.length
      this.out.warn('trailing-text', start, start)
    }
    this.mode = RUN
    this.fresh = false
    if (this.attention === 0 || !this.show(text, end)) this.out.text(text, end)
  }

  /** Shows text to those who want to see it. True if it is held. */
  private show(text: string, end: number): boolean {
    if ((this.attention & OBSERVING) !== 0) this.message.observe(text)
    return (this.attention & HOLDING) !== 0 && this.reasoning.hold(text, end)
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
    const code = chunk.charCodeAt(end)
    if (!calls.after.active) {
      if (!this.beginsMessage) this.mode = RUN
      else if (this.message.waitsForList(code)) return this.markers.take(chunk, end)
      else this.mode = this.message.begin(code)
    } else if (calls.takeAfter(code, this.gapEnd)) return end + 1
    else this.mode = calls.active ? CALL : RUN
    return end
  }

  /** Whether what comes is the first thing in a message. */
  private get beginsMessage(): boolean {
    return this.fresh && !this.thinking
  }

  endPart(offset: number): void {
    this.out.close(offset)
    this.mode = GAP
    this.meaning.endPart()
    this.markdown.reset(offset)
  }

  // ------------------------------------------------------------------ markers

  note(rule: RuleCode, marker: string, start: number, end: number = start + marker.length): void {
    this.options.explain?.({ marker, start, end, rule })
  }

  accepts(marker: Marker, start: number): boolean {
    const { kind } = marker
    if (this.turnEnd.text !== '') {
      if (kind === TURN_END || kind === TURN_START) return true
      this.turnEnd.flush()
    }
    if (this.mode >= CALL) {
      if (kind === TURN_END) return this.meaning.endsTurns
      if (this.mode === CALL) return kind !== TURN_START && kind !== BARE
      return this.mode === BARE_CALL && this.message.closes(marker)
    }
    const wanted = this.meaning.of(marker, start)
    if (wanted === SAID) this.meaning.say(marker, start)
    return wanted === WANTED
  }

  isTicked(marker: Marker): boolean {
    return this.mode === RUN && this.reasoning.isTicked(marker)
  }

  sighted(sighting: Sighting): void {
    const { marker, tag, text, start, end } = sighting
    const { kind } = marker
    if (kind === TURN_END) return this.turnEnd.add(sighting)
    if (kind === TURN_START) return this.turnEnd.beginTurn(sighting)
    if (kind === CALL_OPENER && !tag) return this.release(text, start)
    if (this.mode === CALL) return this.calls.sighted(sighting)
    if (this.mode === BARE_CALL) return this.message.closeBare(sighting)
    switch (kind) {
      case CALL_OPENER:
        if (marker.close === marker.literal && this.closesCall(marker, start)) {
          return this.closeTag(marker.close, text, start)
        }
        return this.openCall(tag!, sighting)
      case CALL_CLOSER:
        return this.closeTag(marker.close, text, start)
      case REASONING_OPENER:
        if (this.calls.after.takesMore) this.out.warn('unclosed-tag', start, start)
        this.note('reasoning', text, start)
        this.endPart(start)
        this.out.span('marker', end)
        this.markdown.reset(end)
        return this.reasoning.open(marker.close)
      case RESULT_OPENER:
        this.note('fabricated', text, start)
        this.endParts(start)
        this.out.warn('fabricated-result', start, end)
        this.over = true
        return
      case BARE:
        return this.message.beginLine(sighting)
      case BODY_TAG:
        this.out.dropGap()
        this.out.span('marker', end)
        this.mode = GAP
        return
      default:
        if (!this.thinking && this.ink !== start) return this.orphan(text, start)
        this.note('closes', text, start)
        if (this.calls.after.takesMore) this.out.warn('unclosed-tag', start, start)
        if (this.calls.after.active) this.calls.after.leave()
        return this.reasoning.end(start, end)
    }
  }

  private openCall(tag: Tag, sighting: Sighting): void {
    const { text, start } = sighting
    const { calls, markdown } = this
    // Only now is it known whether the header names the call.
    const placed = !tag.lineStart || calls.after.continues(tag) || markdown.startsLine(start)
    // A call ends the wait for what reasoning turns out to be.
    if (this.thinking && (this.attention & HOLDING) !== 0) this.reasoning.release(start)
    if (placed && calls.open(tag, sighting)) this.mode = CALL
    else {
      this.note(placed ? 'undeclared' : 'not-at-line-start', text, start)
      const strips = placed && this.options.stripOrphanTags === true
      if (strips) this.dropMarker(start, start + text.length)
      else this.release(text, start)
    }
  }

  /** Whether a marker closes a tag of the call before. */
  private closesCall({ close }: Marker, start: number): boolean {
    const { after } = this.calls
    const own = after.tags.some((tag) => tag.close === close)
    return own && (start === this.gapEnd || after.isLate(close))
  }

  /** A close marker that closes nothing: text, unless an option says otherwise. */
  private orphan(text: string, start: number): void {
    const end = start + text.length
    this.note('orphan', text, start)
    this.out.warn('orphan-close-tag', start, end)
    if (this.options.stripOrphanTags === true) this.dropMarker(start, end)
    else this.emitText(text, end)
  }

  again(sighting: Sighting): void {
    // A listener may have ended the stream.
    if (this.ended) return
    if (this.accepts(sighting.marker, sighting.start)) this.sighted(sighting)
    else this.release(sighting.text, sighting.start)
  }

  private closeTag(close: string, text: string, start: number): void {
    const end = start + text.length
    const { after } = this.calls
    if (after.active) {
      this.note('closes', text, start)
      this.calls.close(close, start, end)
      this.mode = GAP
      this.markdown.reset(end)
      return
    }
    if (!after.isLate(close)) return this.orphan(text, start)
    this.note('closes-late', text, start)
    after.takeLate(close)
    if (!this.out.open) {
      this.endPart(start)
      this.markdown.reset(end)
    }
    this.out.span('marker', end)
  }

  release(text: string, start: number, plain = false): void {
    this.turnEnd.flush()
    if (this.mode === CALL) return this.calls.release(text, start)
    if (this.mode > CALL) {
      if (this.mode === FENCED) this.message.releaseFenced()
      else if (this.message.giveBare(text, start)) return
      // It is text now, and may hold a marker that counts there.
      if (!plain) return this.readOn(text, start)
      this.tellLines(text, start)
    }
    if (this.mode === GAP && text === '[' && this.message.beginList(start)) return
    if (this.thinking) this.reasoning.lastUnit = text.charCodeAt(text.length - 1)
    this.emitText(text, start + text.length)
  }

  refused(marker: Marker, header: Header): void {
    const { calls } = this
    if (this.mode === CALL) calls.refused(marker, header)
    else if (
      this.mode <= RUN &&
      header.start === this.gapEnd &&
      calls.refusedAfter(marker, header)
    ) {
      this.mode = CALL
    } else this.release(header.text, header.start)
  }

  // ------------------------------------------------------------------ what the calls ask

  giveBack(text: string, end: number): void {
    const { out } = this
    this.mode = out.open ? RUN : GAP
    // A stream may start in a call, so that what comes back begins with white space.
    const ink = out.open ? 0 : text.length - text.trimStart().length
    if (this.ink === UNKNOWN) this.ink = end - text.length + ink
    if (ink > 0) out.space(text.slice(0, ink))
    if (ink < text.length) this.emitText(text.slice(ink), end)
  }

  callBegins(): void {
    this.fresh = false
    if (this.ink === UNKNOWN) this.ink = 0
    if ((this.attention & OBSERVING) !== 0) this.message.dropFenced()
  }

  resume(offset: number): void {
    this.endPart(offset)
  }

  makeId(): string {
    return this.nextId()
  }

  createReader(onEvent: WithOnEvent['onEvent'], more: MachineOptions = {}): Parser {
    const { tools, limits, strict, guessQuotes, curlyQuotes, gluedArguments } = this.options
    const reading = { strict, guessQuotes, curlyQuotes, gluedArguments }
    const options = { tools, limits, ...reading, ...more, generateId: () => '', onEvent }
    return new Machine(this.compiled, options)
  }

  scanQuotes(text: string, offset: number): void {
    const { markdown } = this
    let at = markdown.waits ? markdown.go(text, 0) : 0
    this.looks += text.length
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === char.BACKTICK || code === char.TILDE) at = markdown.take(text, at, offset)
      else at++
    }
  }

  dropMarker(start: number, end: number): void {
    // White space before it belongs to no part that could follow.
    if (!this.out.open) {
      this.out.close(start)
      this.mode = GAP
    }
    this.out.span('marker', end)
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
    if (this.over) return
    this.endParts(this.turnEnd.cut())
    this.turnEnd.drop()
  }

  endParts(offset: number): void {
    const { calls, out } = this
    this.message.end(offset)
    // What was held may have ended in such tokens.
    if ((this.attention & TURN_ENDING) !== 0) offset = this.turnEnd.cut()
    this.endOpen(offset)
    if ((this.attention & OBSERVING) !== 0) this.message.endObserved(offset)
    if (this.thinking && this.reasoning.endUnclosed(offset)) this.endOpen(offset)
    if (calls.after.takesMore) out.warn('unclosed-tag', offset, offset)
    out.close(offset)
  }

  /** Ends the open call, or the beginning of a marker. */
  private endOpen(offset: number): void {
    const { calls, markers, out } = this
    if (calls.after.hasTicks) {
      const { gap } = out
      out.dropGap()
      this.emitText(gap, offset - markers.held.length)
    }
    const header = markers.openHeader
    if (this.mode === CALL) {
      calls.end(offset, markers.held)
      markers.clear()
    } else if (header) this.endHeader(header)
    else this.endLiteral(this.takeHeld())
  }

  /** The input ended within a header, or behind a marker that waited for one more character. */
  private endHeader(header: Header): void {
    const { text, start } = header
    const marker = this.compiled.markers[header.marker]!
    const end = start + text.length
    this.markers.clear()
    if (marker.kind === REASONING_CLOSER) this.reasoning.end(start, end)
    else if (this.calls.after.active && this.closesCall(marker, start)) this.closeCut(start)
    else if (start !== this.gapEnd || !this.calls.endAfter(text, end)) this.release(text, start)
  }

  /** A close marker has clearly begun, and the input ends in it: it is not shown. */
  private closeCut(start: number): void {
    const { base, out } = this
    if (this.calls.after.takesMore) out.warn('unclosed-tag', start, base)
    this.calls.after.clear()
    out.close(start)
    out.span('marker', base)
  }

  /** The input ended within the literal part of a marker. */
  private endLiteral(text: string): void {
    const { base } = this
    const { after } = this.calls
    if (text === '') return
    const start = base - text.length
    const closes = after.active && after.tags.some(({ close }) => close.startsWith(text))
    if (closes && text.length > 1) return this.closeCut(start)
    if (start === this.gapEnd && text.length > 1 && this.calls.endAfter(text, base)) return
    if (this.mode === GAP) this.mode = RUN
    this.release(text, start)
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
    if (this.over) return
    const end = this.turnEnd.cut()
    this.message.release(end, true)
    const held = this.takeHeld()
    if (this.mode === CALL) this.calls.abort(end, held)
    else if (held !== '') this.release(held, end - held.length)
    this.reasoning.release(end)
    this.out.close(end)
    this.turnEnd.drop()
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
