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
  /** What is read are the calls of a fenced message. */
  private unfencing = false

  constructor(reader: Reader, reading: JsonReading) {
    this.reader = reader
    this.reading = reading
  }

  private get bare(): BareCall {
    return (this.call ??= new BareCall(bareCall, this.reader.limits, this.reading))
  }

  clear(): void {
    this.unfencing = false
    this.dropFenced()
  }

  private dropFenced(): void {
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
    this.fenced = new FencedMessage(gapEnd, held, (onEvent) =>
      reader.createReader(onEvent, { bareJson: 'whole-message' }),
    )
    this.text.clear()
    reader.attention |= OBSERVING
    return held ? FENCED : RUN
  }

  /** Whether call objects without any marker count. */
  private get takesBare(): boolean {
    return this.unfencing || (this.reader.options.bareJson ?? 'off') !== 'off'
  }

  // ------------------------------------------------------------------ a call object

  /** A line begins with `{`. */
  beginLine({ text, start }: Sighting): void {
    this.bare.begin(start)
    this.bare.take(text, 0, start)
    this.reader.mode = BARE_CALL
  }

  takeBare(chunk: string, index: number): number {
    const { bare, reader } = this
    const { base, compiled, markers } = reader
    const end = bare.take(chunk, index, base)
    reader.looks += end - index
    this.scanQuotes(chunk, index, end, base)
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

  /** What is held may turn out to be text, so its backticks count. */
  scanQuotes(chunk: string, from: number, to: number, base: number): void {
    const { markdown } = this.reader
    let at = markdown.waits ? markdown.go(chunk, from) : from
    this.reader.looks += to - from
    while (at < to) {
      const code = chunk.charCodeAt(at)
      if (code === char.BACKTICK || code === char.TILDE) at = markdown.take(chunk, at, base)
      else at++
    }
  }

  /** No call: text, in which no marker counts. */
  private releaseBare(end: number): void {
    this.reader.mode = RUN
    this.reader.emitText(this.bare.raw, end)
  }

  /** A close marker stands in or behind the object. */
  closeBare(sighting: Sighting): void {
    const { text, start } = sighting
    if (this.bare.close(start)) {
      this.acceptBare(true)
      this.reader.again(sighting)
    } else if (!this.giveBare(text, start)) this.reader.release(text, start)
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
    const known = bare.complete && bare.names.every((name) => calls.isKnownTool(name))
    if (known && !markers.busy && this.takesBare) {
      this.acceptBare(false)
      calls.after.clear()
      return
    }
    this.releaseBare(end - markers.held.length)
    if (known && !markers.busy) out.warn('possible-call', bare.start, end)
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
    this.reader.looks += size + fenced.visited - before
    return size
  }

  /** The message is no fenced call: what was held is read as usual. */
  releaseFenced(): void {
    const { start } = this.fenced!
    this.dropFenced()
    this.reader.fresh = false
    this.reader.mode = RUN
    this.reader.reread(this.text.toString(), start)
  }

  private endFenced(fenced: FencedMessage, end: number): void {
    const { reader } = this
    const { out } = reader
    const found = !reader.markers.busy && fenced.end()
    if (reader.mode !== FENCED) {
      if (found) out.warn('possible-call', fenced.start, end)
      this.dropFenced()
    } else if (found) this.unfence(fenced)
    else this.releaseFenced()
  }

  private unfence({ start, contentStart, contentEnd }: FencedMessage): void {
    const { reader } = this
    const content = this.text.toString().slice(contentStart, contentEnd)
    this.dropFenced()
    this.unfencing = true
    reader.endPart(start)
    reader.out.span('layout', start + contentStart)
    reader.reread(content, start + contentStart)
    if (reader.mode === BARE_CALL) this.endBare(start + contentEnd)
  }

  // ------------------------------------------------------------------ the end

  /** The input ends at `offset`. */
  end(offset: number): void {
    if (this.reader.mode === BARE_CALL) this.endBare(offset)
    if (this.fenced) this.endFenced(this.fenced, offset)
  }

  /** The stream breaks off at `offset`: what is held is text. */
  release(offset: number): void {
    if (this.reader.mode === BARE_CALL) this.releaseBare(offset - this.reader.markers.held.length)
    else if (this.reader.mode === FENCED) this.releaseFenced()
    this.dropFenced()
  }
}
