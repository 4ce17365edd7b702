/**
 * What the machine's parts share: where reading stands, and what each may ask of the whole.
 *
 * Each part owns one matter (`Reasoning`, `TurnEnd`, `MessageStart`, `Meaning`, `CallReader`); the
 * machine owns the loop and hands out runs and markers. A part never calls another one directly
 * where the mode decides who reads: it asks the machine.
 */
import type { CallReader } from './calls.ts'
import type { Compiled } from './compile.ts'
import type { RuleCode } from './errors.ts'
import type { Limits } from './limits.ts'
import type { Markdown } from './markdown.ts'
import type { MarkerReader, Sighting } from './marker-reader.ts'
import type { MachineOptions, Parser, WithOnEvent } from './options.ts'
import type { Output } from './output.ts'

// What the loop reads, `|` being the place.
export const GAP = 0 // text |  <tool_call>: white space before a part
export const RUN = 1 // te|xt, or reasoning
export const CALL = 2 // <tool_call>|{"name": "f"}
export const BARE_CALL = 3 // |{"name": "f"}: a call without a marker, if one it is
export const FENCED = 4 // |```json: a message that is one fenced call, if it is
export type Mode = 0 | 1 | 2 | 3 | 4

// Who wants to see every piece of text.
export const WATCHING = 1
export const TURN_ENDING = 2
export const HOLDING = 4
export const OBSERVING = 8

export interface Reader {
  readonly options: MachineOptions
  readonly compiled: Compiled
  readonly limits: Limits
  readonly out: Output
  readonly markdown: Markdown
  readonly markers: MarkerReader
  readonly calls: CallReader
  /** Tools are off: every call is text. */
  readonly off: boolean
  mode: Mode
  /** Offset of the current chunk's first character. */
  readonly base: number
  /** Code units looked at, for the counter of promise 8. */
  looks: number
  /** Offset of the input's first character that is not white space; -1 before it. */
  readonly ink: number
  /** Offset of the first character after the last gap. */
  readonly gapEnd: number
  /** Only white space has come since the beginning of the message, or of what follows reasoning. */
  fresh: boolean
  /** Reasoning is being read. */
  thinking: boolean
  /** Quotes hide calls in what is read. */
  quoting: boolean
  /** Parts that want to see every piece of text, as bits: `WATCHING` and so on. */
  attention: number
  /** The message is over before its input is: the rest is discarded. */
  over: boolean
  /** Text or reasoning, ending at `end`. */
  emitText(text: string, end: number): void
  /** Held characters are data where they stand; `plain`: no marker is in them. */
  release(text: string, start: number, plain?: boolean): void
  /** Reads text again that was held whole; it began a part. */
  reread(text: string, offset: number): void
  /** Text that was held whole, and began a line, is text for good: its backticks count. */
  rescan(text: string, offset: number): void
  /** Text that was held, and that no line knows of, stands where it stands. */
  tellLines(text: string, offset: number): void
  /** The state has changed: what does the marker mean now? */
  again(sighting: Sighting): void
  /** Ends the open part of text or reasoning. */
  endPart(offset: number): void
  /** Ends what is open, as if the input ended at `offset`. */
  endParts(offset: number): void
  /** Says which rule decided, to those who asked. */
  note(rule: RuleCode, marker: string, start: number, end?: number): void
  /** A parser of its own, to look ahead with at what is held. */
  createReader(onEvent: WithOnEvent['onEvent'], more?: MachineOptions): Parser
}
