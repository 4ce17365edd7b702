/**
 * Says what a marker means where it stands in text or reasoning: whether it counts, and which
 * warning it gives if it does not.
 */
import { OPEN_BRACKET } from './chars.ts'
import {
  BARE,
  BODY_TAG,
  CALL_CLOSER,
  CALL_OPENER,
  type Marker,
  NOTATION,
  REASONING_CLOSER,
  RESULT_CLOSER,
  RESULT_OPENER,
  TURN_END,
  TURN_START,
} from './compile.ts'
import type { RuleCode, WarningCode } from './errors.ts'
import { type Reader, WATCHING } from './reader.ts'
import type { Reasoning } from './reasoning.ts'
import { CallWatch } from './watch.ts'

export const UNWANTED = 0
export const WANTED = 1
/** Text, with a warning: see `say`. */
export const SAID = 2
export type Wanted = 0 | 1 | 2

export class Meaning {
  readonly watch: CallWatch
  private readonly reader: Reader
  private readonly reasoning: Reasoning
  /** The close tag of a tool's result that the model invented; empty outside. */
  private opaque = ''

  constructor(reader: Reader, reasoning: Reasoning) {
    this.reader = reader
    this.reasoning = reasoning
    this.watch = new CallWatch(reader.compiled.automaton.begins(OPEN_BRACKET))
  }

  clear(): void {
    this.watch.clear()
    this.endPart()
  }

  /** The part has ended: so has what it quoted. */
  endPart(): void {
    this.opaque = ''
    this.watch.active = false
    this.reader.attention &= ~WATCHING
  }

  /** A marker of a call that does not count stands at `start`: does a call follow it? */
  private watchCall(rule: RuleCode, marker: Marker, start: number, code: WarningCode): Wanted {
    const { watch } = this
    this.refuse(rule, marker, start)
    if (watch.active && watch.meets(marker, start)) return watch.seen ? SAID : UNWANTED
    const tag = marker.tag ?? marker.namedTag
    const { markdown, thinking } = this.reader
    if (tag && (!tag.lineStart || (!thinking && markdown.startsLine(start)))) {
      watch.begin(marker, start, code)
      this.reader.attention |= WATCHING
    }
    return UNWANTED
  }

  /** Whether a marker that ends a turn counts at all. */
  get endsTurns(): boolean {
    return this.reader.options.specialTokens !== 'keep'
  }

  /** Whether a marker counts. */
  of(marker: Marker, start: number): Wanted {
    const { reasoning } = this
    const { kind } = marker
    if (kind === TURN_END) return this.endsTurns ? WANTED : UNWANTED
    if (kind === TURN_START) return UNWANTED
    if (kind === BODY_TAG) return this.closesElement(marker, start) ? WANTED : UNWANTED
    if (kind === BARE && this.watch.meetsBrace(start)) return UNWANTED
    if (this.opaque !== '') return this.inResult(marker, start)
    if (!this.reader.thinking) {
      return kind <= CALL_CLOSER ? this.ofCall(marker, start) : this.ofOther(marker, start)
    }
    if (reasoning.isClosedBy(marker) || reasoning.isOpenedBy(marker, start)) return WANTED
    if (kind > CALL_CLOSER) return UNWANTED
    return reasoning.readsCalls ? this.ofCall(marker, start) : this.inReasoning(marker, start)
  }

  /** Whether the tag closes what stood around the arguments of a call that has ended. */
  private closesElement({ literal }: Marker, start: number): boolean {
    const { calls, gapEnd } = this.reader
    return literal.startsWith('</') && calls.after.open && start === gapEnd
  }

  private ofCall(marker: Marker, start: number): Wanted {
    const { calls, gapEnd, markdown, off } = this.reader
    const { after } = calls
    const { kind, close } = marker
    // Text that was not sent yet may stand between the call and the marker.
    const directly = after.active && start === gapEnd
    const closes = kind === CALL_CLOSER || (close === marker.literal && after.open)
    if (closes && directly) return WANTED
    if (this.isQuoted(start)) return this.quoted(marker, start)
    if (closes && after.isLate(close)) return WANTED
    if (kind === CALL_CLOSER) return off ? UNWANTED : this.orphan(marker, start)
    if (off) {
      return this.watchCall('tools-off', marker, start, 'call-while-disabled')
    }
    const tag = marker.tag ?? marker.namedTag!
    if (directly && after.continues(tag)) return WANTED
    if (!tag.lineStart || markdown.startsLine(start)) return WANTED
    return this.refuse('not-at-line-start', marker, start)
  }

  /** Whether something quotes a call that stands at `start`. */
  private isQuoted(start: number): boolean {
    const { markdown, options } = this.reader
    return markdown.quotedAt(start, options.callsInFences !== true)
  }

  private quoted(marker: Marker, start: number): Wanted {
    const code = this.reader.off ? 'call-while-disabled' : 'quoted-call'
    return this.watchCall('quoted', marker, start, code)
  }

  /** A call's marker in reasoning that is opaque. */
  private inReasoning(marker: Marker, start: number): Wanted {
    const { off, options } = this.reader
    if (off || this.reasoning.rehearses) return this.refuse('in-reasoning', marker, start)
    const wrapper = marker.kind === CALL_OPENER && !(marker.tag ?? marker.namedTag)!.lineStart
    if (wrapper && options.callsInReasoning === 'at-end' && !this.isQuoted(start)) return SAID
    return this.watchCall('in-reasoning', marker, start, 'call-in-reasoning')
  }

  private inResult(marker: Marker, start: number): Wanted {
    if (marker.kind === RESULT_CLOSER && marker.literal === this.opaque) this.opaque = ''
    return this.refuse('in-result', marker, start)
  }

  /** A marker of something else than calls, in text. */
  private ofOther(marker: Marker, start: number): Wanted {
    const { markdown, ink, off, options } = this.reader
    if (markdown.quotedAt(start)) return this.refuse('quoted', marker, start)
    switch (marker.kind) {
      case REASONING_CLOSER:
        return ink === start ? WANTED : this.orphan(marker, start)
      case RESULT_OPENER:
        return options.dropAfterFabricated === true ? WANTED : SAID
      case NOTATION:
        return SAID
      case RESULT_CLOSER:
        return UNWANTED
      default: {
        // Reasoning, or a call object without a marker.
        const possible = markdown.startsLine(start) && !(marker.kind === BARE && off)
        return possible ? WANTED : this.refuse('not-at-line-start', marker, start)
      }
    }
  }

  /** A close marker that closes nothing; once its header is there, so that it is one. */
  private orphan(marker: Marker, start: number): Wanted {
    if (marker.header !== undefined || this.reader.options.stripOrphanTags === true) return WANTED
    this.reader.note('orphan', marker.literal, start)
    return SAID
  }

  private refuse(rule: RuleCode, { literal }: Marker, start: number): Wanted {
    this.reader.note(rule, literal, start)
    return UNWANTED
  }

  /** Says what is to be said of a marker that is text. */
  say({ kind, literal, close, code }: Marker, start: number): void {
    const { out } = this.reader
    const end = start + literal.length
    if (this.watch.seen) this.tell()
    else if (kind === RESULT_OPENER) {
      this.reader.note('fabricated', literal, start)
      out.warn('fabricated-result', start, end)
      this.opaque = close
    } else if (kind === NOTATION) {
      this.reader.note('foreign', literal, start)
      out.warn(code!, start, end)
    } else if (kind === CALL_OPENER) this.reasoning.rehearse(start, literal)
    else out.warn('orphan-close-tag', start, end)
  }

  /** Warns of the call that the watch has seen. */
  tell(): void {
    const { code, start, end } = this.watch
    this.watch.seen = false
    this.reader.out.warn(code, start, end)
  }
}
