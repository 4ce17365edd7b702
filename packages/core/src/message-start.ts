/**
 * Reads what may be a call though no marker says so: a message (or what follows reasoning) that
 * begins with a call object or is one fenced call, a last line that is a call object.
 *
 * What may still be one is held. A close marker proves the call whose opener is missing; without an
 * option everything else is text, in which no marker counts.
 */
import { BareCall } from './bare-call.ts'
import { bareCall } from './bodies/json-call.ts'
import * as char from './chars.ts'
import { CALL_CLOSER, type Marker } from './compile.ts'
import { FencedMessage } from './fenced-message.ts'
import type { Sighting } from './marker-reader.ts'
import type { JsonReading } from './options.ts'
import { BARE_CALL, CALL, FENCED, type Mode, OBSERVING, RUN, type Reader } from './reader.ts'
import { TextBuilder } from './text-builder.ts'

export class MessageStart {
  private readonly reader: Reader
  /** Made with the first message that begins with a brace. */
  private call: BareCall | undefined
  private readonly reading: JsonReading
  /** The message began with a fence and may be one fenced call. */
  private fenced: FencedMessage | undefined
  /** Its text, if that is held. */
  private readonly text = new TextBuilder()

  constructor(reader: Reader, reading: JsonReading) {
    this.reader = reader
    this.reading = reading
  }

  private get bare(): BareCall {
    return (this.call ??= new BareCall(bareCall, this.reader.limits, this.reading))
  }

  dropFenced(): void {
    this.fenced = undefined
    this.reader.attention &= ~OBSERVING
  }

  /** The first character of a message, or of what follows reasoning: what may it begin? */
  begin(code: number): Mode {
    const { reader } = this
    const { compiled, options, gapEnd } = reader
    if (reader.off || compiled.tags.length === 0) return RUN
    if (code === char.OPEN_BRACE || (this.takesBare && code === char.OPEN_BRACKET)) {
      this.bare.begin(gapEnd)
      return BARE_CALL
    }
    if (code !== char.BACKTICK && code !== char.TILDE) return RUN
    const held = options.fencedCall === 'whole-message'
    this.fenced = new FencedMessage(gapEnd, held, compiled, this.bare)
    this.text.clear()
    reader.attention |= OBSERVING
    return held ? FENCED : RUN
  }

  /** Whether the character may begin a list of calls or a marker: that shows with the next. */
  waitsForList(code: number): boolean {
    if (code !== char.OPEN_BRACKET || this.reader.off || !this.takesBare) return false
    return this.reader.compiled.automaton.begins(code)
  }

  /** A bracket that begins no marker stands at `start`, first of all. False if no list may. */
  beginList(start: number): boolean {
    const { reader } = this
    if (reader.thinking || !reader.fresh || !this.waitsForList(char.OPEN_BRACKET)) return false
    this.bare.begin(start)
    this.bare.take('[', 0, start)
    reader.mode = BARE_CALL
    return true
  }

  /** Whether call objects without any marker count. */
  private get takesBare(): boolean {
    return (this.reader.options.bareJson ?? 'off') !== 'off'
  }

  // ------------------------------------------------------------------ a call object

  /** A line begins with `{`. */
  beginLine({ text, start }: Sighting): void {
    this.bare.begin(start)
    this.bare.take(text, 0, start)
    this.reader.mode = BARE_CALL
    if (!this.bare.refused) return
    this.releaseBare(start)
    this.reader.emitText(text, start + text.length)
  }

  takeBare(chunk: string, index: number): number {
    const { bare, reader } = this
    const { base, compiled, markers } = reader
    const end = bare.take(chunk, index, base)
    reader.looks += end - index
    if (bare.refused) this.releaseBare(base + end)
    else if (end < chunk.length) {
      if (compiled.automaton.begins(chunk.charCodeAt(end))) return markers.take(chunk, end)
      if (this.giveBare(chunk.charAt(end), base + end)) return end + 1
    }
    return end
  }

  /** Characters are data in the object. False if it is no call then. */
  giveBare(text: string, offset: number): boolean {
    this.bare.give(text, offset)
    if (this.bare.refused) this.releaseBare(offset)
    return !this.bare.refused
  }

  /** No call: text, in which no marker counts. */
  private releaseBare(end: number): void {
    const { reader } = this
    const { raw, start } = this.bare
    reader.mode = RUN
    if (raw === '') return
    reader.rescan(raw, start)
    reader.emitText(raw, end)
  }

  /** A close marker stands in or behind the object. */
  closeBare(sighting: Sighting): void {
    const { text, start } = sighting
    if (this.bare.close(start)) {
      this.acceptBare(true)
      this.reader.again(sighting)
    } else if (!this.giveBare(text, start)) {
      this.reader.tellLines(text, start)
      this.reader.again(sighting)
    }
  }

  /** Whether the marker closes a call whose opener is missing. */
  closes({ kind, close }: Marker): boolean {
    return kind === CALL_CLOSER && close === this.reader.compiled.tags[0]!.close
  }

  /** What is held are calls. `closed`: a close marker follows. */
  private acceptBare(closed: boolean): void {
    const { reader } = this
    const { raw, start } = this.bare
    reader.out.close(start)
    reader.calls.openBare(reader.compiled.tags[0]!, bareCall, start, closed)
    reader.mode = CALL
    reader.reread(raw, start)
  }

  /** The input ends behind the object. */
  private endBare(end: number): void {
    const { bare, reader } = this
    const { calls, markers, out } = reader
    const known = bare.complete && this.isKnown
    if (known && !markers.busy && this.takesBare) {
      this.acceptBare(false)
      calls.after.clear()
      return
    }
    if (bare.complete) this.noteBare(bare.raw, bare.start)
    this.releaseBare(end - markers.held.length)
    if (known && !markers.busy) out.warn('possible-call', bare.start, end)
  }

  /** Says why a call object without a marker is text. */
  private noteBare(raw: string, start: number): void {
    this.reader.note(this.isKnown ? 'bare' : 'undeclared', raw.trimEnd(), start)
  }

  // ------------------------------------------------------------------ a fenced call

  takeFenced(chunk: string, index: number): number {
    const { compiled, limits, markers } = this.reader
    const fenced = this.fenced!
    const piece = index === 0 ? chunk : chunk.slice(index)
    const size = this.watch(fenced, piece)
    const end = index + size
    this.text.add(piece.slice(0, size))
    if (fenced.refuted || this.text.length > limits.held) this.releaseFenced()
    else if (size < piece.length) {
      if (compiled.automaton.begins(chunk.charCodeAt(end))) return markers.take(chunk, end)
      this.releaseFenced()
    }
    return end
  }

  /** Text of the message that is not held. */
  observe(text: string): void {
    if (this.watch(this.fenced!, text) < text.length) this.dropFenced()
  }

  private watch(fenced: FencedMessage, piece: string): number {
    const before = fenced.visited
    const size = fenced.feed(piece)
    this.reader.looks += fenced.visited - before
    return size
  }

  /** The message is no fenced call: what was held, and `more` behind it, is read as usual. */
  releaseFenced(more = ''): void {
    const { start } = this.fenced!
    this.dropFenced()
    this.reader.fresh = false
    this.reader.mode = RUN
    this.reader.reread(this.text.toString() + more, start)
  }

  private endFenced(fenced: FencedMessage): void {
    const { reader } = this
    const text = this.text.toString()
    const end = reader.markers.busy ? undefined : fenced.end(text)
    if (end === undefined) this.releaseAll()
    else if (fenced.tagged) this.endTagged(fenced, end)
    else if (this.isKnown) this.unfence(fenced)
    else this.releaseAll()
  }

  /** The block began with a tag: only now is looked at what follows. */
  private endTagged(fenced: FencedMessage, end: number): void {
    const { reader } = this
    const content = this.text.toString().slice(fenced.contentStart, end)
    if (!this.holdsCalls(content)) return this.releaseAll()
    const start = this.leaveFence(fenced)
    reader.reread(content, start)
  }

  /** The block held call objects. */
  private unfence(fenced: FencedMessage): void {
    this.leaveFence(fenced)
    this.acceptBare(false)
    this.reader.calls.after.clear()
  }

  /** The fence is nobody's. Returns the offset of the block's content. */
  private leaveFence({ start, contentStart }: FencedMessage): number {
    const { reader } = this
    this.dropFenced()
    reader.endPart(start)
    reader.out.span('layout', start + contentStart)
    return start + contentStart
  }

  /** Whether all calls without a marker have declared names, if tools were stated. */
  private get isKnown(): boolean {
    return this.bare.names.every((name) => this.reader.calls.isKnownTool(name))
  }

  /** What is held of the fence is text, as is the marker that has begun behind it. */
  private releaseAll(): void {
    const { markers } = this.reader
    const { held } = markers
    markers.clear()
    this.releaseFenced(held)
  }

  /** Whether a block's content is calls and nothing else. */
  private holdsCalls(content: string): boolean {
    let calls = 0
    let others = 0
    const parser = this.reader.createReader(({ type }) => {
      if (type === 'tool-call-end') calls++
      if (type === 'text-start' || type === 'reasoning-start' || type === 'tool-call-error') {
        others++
      }
    })
    parser.feed(content)
    parser.end()
    this.reader.looks += parser.visited
    return calls > 0 && others === 0
  }

  // ------------------------------------------------------------------ the end

  /** The input ends at `offset`: what is held shows what it is. */
  end(offset: number): void {
    const { mode } = this.reader
    if (mode === BARE_CALL) this.endBare(offset)
    else if (mode === FENCED) this.endFenced(this.fenced!)
  }

  /** All text has been shown. */
  endObserved(offset: number): void {
    const { fenced } = this
    if (!fenced) return
    this.dropFenced()
    if (this.isKnown && fenced.end('') !== undefined) {
      this.reader.out.warn('possible-call', fenced.start, offset)
    }
  }

  /** What is held is read as usual, up to `offset`; or (`plain`) it is text, since the stream broke. */
  release(offset: number, plain: boolean): void {
    const { reader } = this
    const { mode, markers } = reader
    if (mode === BARE_CALL) this.releaseBare(offset - markers.held.length)
    else if (mode === FENCED && !plain) this.releaseAll()
    else if (mode === FENCED) reader.emitText(this.text.toString(), offset - markers.held.length)
    this.dropFenced()
  }
}
