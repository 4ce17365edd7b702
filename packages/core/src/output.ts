/**
 * Numbers the parts and emits them: text and reasoning with the white space before them, warnings,
 * spans. At most one part of text or reasoning is open.
 *
 * White space before a part's first character is kept (`gap`) until it is known whose it is: the
 * part's, or nobody's (layout). The gap is bounded; what comes beyond its limit is layout.
 */
import { WARNING_CODES, type WarningCode } from './errors.ts'
import type { StreamEvent } from './events.ts'
import type { Span, SpanKind } from './options.ts'

export class Output {
  /** Hands an event on; does nothing once the stream has ended. */
  emit: (event: StreamEvent) => void
  /** White space that waits for a part, its last characters at least. */
  gap = ''
  /** How long the gap is in all. */
  private gapSize = 0
  /** The open part is reasoning, or the next one will be. */
  reasoning = false
  /** A part of text or reasoning is open. */
  open = false
  nextIndex = 0
  /** The start of the part that a listener has seen begin and not end. */
  seen: StreamEvent | undefined
  private readonly gapLimit: number
  private readonly exact: boolean
  private readonly onEvent: (event: StreamEvent) => void
  private readonly onSpan: ((span: Span) => void) | undefined
  private trace: ((span: Span) => void) | undefined
  private index = 0
  private spanKind: SpanKind = 'layout'
  private spanStart = 0
  private spanEnd = 0

  constructor(
    onEvent: (event: StreamEvent) => void,
    gapLimit: number,
    exact: boolean,
    trace: ((span: Span) => void) | undefined,
  ) {
    this.onEvent = onEvent
    this.emit = onEvent
    this.gapLimit = gapLimit
    this.exact = exact
    this.onSpan = trace
    this.trace = trace
  }

  reset(): void {
    this.emit = this.onEvent
    this.trace = this.onSpan
    this.dropGap()
    this.reasoning = false
    this.open = false
    this.nextIndex = 0
    this.seen = undefined
    this.spanKind = 'layout'
    this.spanStart = 0
    this.spanEnd = 0
  }

  /** Text or reasoning, ending at `end`. Opens a part if none is open. */
  text(delta: string, end: number): void {
    if (!this.open) {
      this.open = true
      this.index = this.nextIndex++
      this.begin({ type: this.reasoning ? 'reasoning-start' : 'text-start', index: this.index })
      if (this.gapSize > 0) delta = this.takeGap(end - delta.length) + delta
    }
    this.delta(delta)
    if (this.trace) this.span(this.reasoning ? 'reasoning' : 'text', end)
  }

  /** The first event of a part. */
  begin(event: StreamEvent): void {
    this.seen = event
    this.emit(event)
  }

  /** The last event of a part. */
  finish(event: StreamEvent): void {
    this.seen = undefined
    this.emit(event)
  }

  /** Whether spans are asked for. */
  get tracing(): boolean {
    return this.trace !== undefined
  }

  /** A delta of the open part. */
  delta(delta: string): void {
    this.emit({ type: this.reasoning ? 'reasoning-delta' : 'text-delta', index: this.index, delta })
  }

  /** White space between parts. */
  space(text: string): void {
    this.gapSize += text.length
    this.gap += text
    // Cut rarely, so that a character costs the same however long the gap is.
    if (this.gap.length > 2 * this.gapLimit) this.gap = lastOf(this.gap, this.gapLimit)
  }

  /** The gap is nobody's. */
  dropGap(): void {
    this.gap = ''
    this.gapSize = 0
  }

  /** The part's share of the gap, which ends at `end`; the rest is layout. */
  private takeGap(end: number): string {
    const share = lastOf(this.gap, this.gapLimit)
    if (this.gapSize > share.length) this.span('layout', end - share.length)
    this.dropGap()
    return share
  }

  /** Closes the open part; a gap that waited, up to `offset`, is nobody's. */
  close(offset: number): void {
    if (this.exact && this.gapSize > 0 && this.gapLimit > 0) this.text('', offset)
    this.dropGap()
    if (this.open) {
      this.open = false
      this.finish({ type: this.reasoning ? 'reasoning-end' : 'text-end', index: this.index })
    }
    if (this.trace) this.span('layout', offset)
  }

  /** The input from the last span's end to `end` belongs to `kind`. */
  span(kind: SpanKind, end: number): void {
    if (!this.trace || end <= this.spanEnd) return
    if (kind !== this.spanKind) this.flushSpan()
    this.spanKind = kind
    this.spanEnd = end
  }

  /** Reports the last span: spans are joined, so that they do not depend on cuts. */
  flushSpan(): void {
    if (this.trace && this.spanEnd > this.spanStart) {
      this.trace({ kind: this.spanKind, start: this.spanStart, end: this.spanEnd })
    }
    this.spanStart = this.spanEnd
  }

  /** The stream has ended: a listener that ended it from within hears no more. */
  mute(): void {
    this.emit = () => {}
    this.trace = undefined
  }

  warn(code: WarningCode, start: number, end: number, name?: string): void {
    const message = WARNING_CODES[code]
    this.emit({ type: 'warning', code, message, start, end, ...(name !== undefined && { name }) })
  }
}

function lastOf(text: string, size: number): string {
  return text.length > size ? text.slice(text.length - size) : text
}
