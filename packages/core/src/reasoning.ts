/**
 * Reads reasoning: opaque text up to its close marker, and what options make of calls in it and of
 * reasoning that is never closed.
 */
import * as char from './chars.ts'
import { type Marker, REASONING_CLOSER, REASONING_OPENER } from './compile.ts'
import { HOLDING, type Reader } from './reader.ts'
import { Rehearsal } from './rehearsal.ts'
import { TextBuilder } from './text-builder.ts'

/** The opener stood in the prompt, unseen: any closer of reasoning is its own. */
export const ANY = '*'

export class Reasoning {
  /** Close marker of the open reasoning; empty outside. */
  close = ''
  /** The last character before what is held. */
  lastUnit = 0
  /** Whether calls in reasoning are read as in text. */
  readonly readsCalls: boolean
  /** Whether calls in it may count at all. */
  private readonly quotes: boolean
  private readonly reader: Reader
  private rehearsal: Rehearsal | undefined
  /** Reasoning that waits for its close marker. */
  private waiting: TextBuilder | undefined

  constructor(reader: Reader) {
    this.reader = reader
    this.readsCalls = reader.options.callsInReasoning === 'on'
    this.quotes = this.readsCalls || reader.options.callsInReasoning === 'at-end'
  }

  clear(): void {
    this.setClose('')
    this.rehearsal = undefined
    this.waiting = undefined
    this.changeHolding()
  }

  private setClose(close: string): void {
    this.close = close
    this.reader.thinking = close !== ''
    this.reader.quoting = close === '' || this.quotes
  }

  private changeHolding(): void {
    if (this.holds) this.reader.attention |= HOLDING
    else this.reader.attention &= ~HOLDING
  }

  /** What is read waits for something. */
  get holds(): boolean {
    return this.rehearsal !== undefined || this.waiting !== undefined
  }

  get rehearses(): boolean {
    return this.rehearsal !== undefined
  }

  open(close: string): void {
    const { calls, out, options } = this.reader
    this.setClose(close)
    this.lastUnit = 0
    if (calls.after.active) calls.after.leave()
    out.reasoning = true
    if (options.unclosedReasoning === 'text') this.waiting = new TextBuilder()
    this.changeHolding()
  }

  /** Whether the marker closes what is open. */
  isClosedBy({ kind, close }: Marker): boolean {
    return kind === REASONING_CLOSER && (close === this.close || this.close === ANY)
  }

  /** Whether the marker, first of all, is the opener that the prompt was said to end in. */
  isOpenedBy({ kind }: Marker, start: number): boolean {
    const { fresh, gapEnd } = this.reader
    return kind === REASONING_OPENER && this.close === ANY && fresh && start === gapEnd
  }

  /** Whether a backtick after the close marker would quote it. */
  isTicked({ kind }: Marker): boolean {
    if (kind !== REASONING_CLOSER || !this.reader.thinking) return false
    return this.lastUnit === char.BACKTICK && this.reader.options.quotedClosers !== 'close'
  }

  /** The close marker stands at `start`. */
  end(start: number, end: number): void {
    const { reader } = this
    this.release(start)
    reader.endPart(start)
    reader.out.span('marker', end)
    this.leave(end)
  }

  private leave(offset: number): void {
    const { reader } = this
    reader.markdown.reset(offset)
    this.setClose('')
    reader.fresh = true
    reader.out.reasoning = false
  }

  /** Takes text that is held. False if it is not. */
  hold(text: string, end: number): boolean {
    const { rehearsal, waiting, reader } = this
    if (rehearsal) {
      const before = rehearsal.visited
      rehearsal.feed(text)
      reader.looks += rehearsal.visited - before
      if (rehearsal.refuted) this.endRehearsal(end)
    } else if (waiting) this.wait(waiting, text, end)
    return rehearsal !== undefined || waiting !== undefined
  }

  private wait(waiting: TextBuilder, text: string, end: number): void {
    waiting.add(text)
    if (waiting.length > this.reader.limits.held) this.release(end)
  }

  /** A call begins at `start` that counts if nothing but calls follows. */
  rehearse(start: number, opener: string): void {
    const { reader } = this
    this.rehearsal = new Rehearsal(start, opener, reader.limits.held, (onEvent) =>
      reader.createReader(onEvent),
    )
    this.changeHolding()
  }

  /** Reasoning goes on behind the call. */
  private endRehearsal(end: number): void {
    const { rehearsal } = this
    this.rehearsal = undefined
    this.changeHolding()
    if (!rehearsal) return
    const { start, opener, text, sawCall } = rehearsal
    this.reader.note('in-reasoning', opener, start)
    if (sawCall) this.reader.out.warn('call-in-reasoning', start, start + opener.length)
    this.reader.emitText(text, end)
  }

  /** What was held is reasoning. */
  release(end: number): void {
    this.endRehearsal(end)
    const { waiting } = this
    this.waiting = undefined
    this.changeHolding()
    if (waiting && waiting.length > 0) this.reader.out.text(waiting.toString(), end)
  }

  /** The input ends inside it. True if what was held is read again. */
  endUnclosed(offset: number): boolean {
    const { rehearsal, reader } = this
    if (rehearsal?.end()) {
      const { start, text } = rehearsal
      reader.out.warn('unclosed-reasoning', offset, offset)
      this.rehearsal = undefined
      this.release(start)
      reader.endPart(start)
      this.leave(start)
      reader.reread(text, start)
      return true
    }
    this.endRehearsal(offset)
    reader.out.warn('unclosed-reasoning', offset, offset)
    const { waiting } = this
    this.waiting = undefined
    this.changeHolding()
    if (!waiting) return false
    this.leave(offset)
    if (waiting.length > 0) reader.out.text(waiting.toString(), offset)
    return false
  }
}
