/**
 * Collects what a parser says while it reads: notes on markers, spans and events, and which openers
 * opened which call.
 *
 * A call's openers are noted just before its first event, so the order tells whose they are; a
 * further call in the same tag has none. All else is put together once the whole text is known.
 */
import type { MarkerNote, Span, StreamEvent, Warning } from '@talaria/core'

/** What came of a call. */
export interface CallOutcome {
  readonly index: number
  /** Absent: it failed before its name was known. */
  readonly name?: string
  /** Whether it may be run. */
  readonly complete: boolean
  /** What was read against JSON's letter. */
  readonly repairs?: readonly string[]
  /** Of a failed call: why and where, in UTF-16 units from the text's start. */
  readonly code?: string
  readonly message?: string
  readonly offset?: number
}

/** A call, and where its outermost opener stands. */
export interface KnownCall {
  readonly index: number
  /** Undefined: it has no marker of its own. */
  readonly opener: number | undefined
  outcome: CallOutcome
}

/** A warning, and the call that it came with. */
export interface KnownWarning {
  readonly warning: Warning
  call: KnownCall | undefined
}

export class Evidence {
  /** In the order in which they were decided; the last of several for one marker counts. */
  readonly notes: MarkerNote[] = []
  /** In order; they tile the text. */
  readonly spans: Span[] = []
  readonly calls: KnownCall[] = []
  readonly warnings: KnownWarning[] = []
  /** Failures of the source. */
  readonly errors: string[] = []
  /** How the stream ended; absent while it goes on. */
  reason: string | undefined
  private readonly byIndex = new Map<number, KnownCall>()
  /** The outermost opener of the call that is about to be announced. */
  private announced: number | undefined
  /** The opener of the tag that may hold further calls. */
  private tag: number | undefined
  /** The opener of the tag that was closed last: a failed call in it is told of behind its end. */
  private closed: number | undefined
  private open: KnownCall | undefined

  note(note: MarkerNote): void {
    // A brace that opens no call is no marker to anybody.
    if (note.marker === '{' && note.rule === 'not-at-line-start') return
    this.notes.push(note)
    if (note.rule === 'call') this.announced ??= note.start
    else if (note.rule === 'closes') this.closeTag()
  }

  event(event: StreamEvent): void {
    switch (event.type) {
      case 'tool-call-start': {
        const { index, name } = event
        this.open = this.begin({ index, name, complete: false })
        return
      }
      case 'tool-call-end': {
        const { index, name, repairs } = event
        this.finish({ index, name, complete: true, ...(repairs && { repairs }) })
        return
      }
      case 'tool-call-error': {
        const { index, name, code, message, offset } = event
        const known = { index, complete: false, code, message }
        this.finish({
          ...known,
          ...(name !== undefined && { name }),
          ...(offset !== undefined && { offset }),
        })
        return
      }
      case 'warning':
        this.warnings.push({ warning: event, call: this.open })
        return
      case 'text-start':
      case 'reasoning-start':
        this.closeTag()
        this.closed = undefined
        return
      case 'error':
        this.errors.push(`${event.code}: ${event.message}`)
        return
      case 'finish':
        this.reason = event.reason
        return
      default:
    }
  }

  private closeTag(): void {
    this.closed = this.tag ?? this.closed
    this.tag = undefined
  }

  private begin(outcome: CallOutcome, tag = this.tag): KnownCall {
    const opener = this.announced ?? tag
    const call = { index: outcome.index, opener, outcome }
    this.tag = opener
    this.announced = undefined
    this.calls.push(call)
    this.byIndex.set(call.index, call)
    // It is said of a call that is about to start.
    const last = this.warnings.at(-1)
    if (last?.warning.code === 'unknown-tool') last.call ??= call
    return call
  }

  private finish(outcome: CallOutcome): void {
    const call = this.byIndex.get(outcome.index)
    if (call) call.outcome = outcome
    else this.begin(outcome, this.tag ?? this.closed)
    this.open = undefined
  }
}
