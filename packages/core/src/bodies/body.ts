/**
 * The contract between the loop, which finds markers, and a body grammar, which reads what stands
 * in a call section.
 *
 * A body never matches a marker and the loop never sees the grammar. `take` reads on until the
 * chunk ends, the call ends, or a character stands where only a marker can stand; the loop then
 * looks for one and answers with `closeSeen` or `openSeen`; if the body leaves the call open then, or
 * if it was no marker, `give` hands the characters over as data. All that a body needs next time is
 * in its fields; a body is reused, and `open` makes it new.
 */
import type { ErrorCode, WarningCode } from '../errors.ts'
import type { JsonSink } from './json-edits.ts'

/** Where a body puts what it reads. Each character goes through `skip` or `pass`, once. */
export interface Sink extends JsonSink {
  readonly started: boolean
  /** How many characters the arguments may still grow by; negative once they are too long. */
  readonly room: number
  /** False once the call has ended, failed or turned out to be none. */
  readonly open: boolean

  /** What was read is no call: it goes back into the text. Only before `start` and `fail`. */
  notACall(): void
  /** The call's name is known, and its grammar proven, at `offset`. A bad name fails the call. */
  start(name: string, offset: number): void
  /** Names of the declared parameters of a tool; nothing if it is unknown or declares none. */
  parameters(name: string): ReadonlySet<string> | undefined
  /** The root's braces are doubled: one more may follow the call. */
  doubled(): void
  /** The model's own id of the call. */
  identify(id: string): void
  /** The call is complete; without arguments they are `{}`. */
  finish(): void
  /**
   * The call must not be run: `expected` says what could have stood at `offset`, `found` what did,
   * unless the code says it.
   */
  fail(code: ErrorCode, expected: string, offset: number, found?: string): void
  warn(code: WarningCode, start: number, end: number): void
  /** The call is one of a list: more may follow in the section, up to a closing bracket. */
  list(): void
}

export interface Body {
  /** Whether a value other than name, id and type has begun: decides where a failure resumes. */
  readonly begun: boolean
  /** Whether the next character belongs to the arguments. */
  readonly passing: boolean
  /**
   * While set: characters up to the next one that the table marks (by code) are arguments, as they
   * are, and change nothing in the body. The loop may then pass them on without asking.
   */
  readonly verbatim: Uint8Array | undefined
  /** Whether a token of the arguments is held until the next one decides about it. */
  readonly holds?: boolean
  /** Offset of the last string's first character; -1 for none. */
  readonly lastString: number
  /** It is a call for certain, started or not. */
  readonly proven?: boolean
  /** Makes the body new. `name`: from the section's header, if it has one. */
  open(name: string | undefined): void
  /** Reads from `index`; returns where it stopped: past `index`, or at a marker's first character. */
  take(chunk: string, index: number, sink: Sink): number
  /** What stood where `take` stopped is data: `text` begins at `offset`. */
  give(text: string, offset: number, sink: Sink): void
  /** A close marker stands at `offset`. `own`: it closes a tag of this call. */
  closeSeen(own: boolean, offset: number, sink: Sink): void
  /** An opener stands at `offset`. */
  openSeen(offset: number, sink: Sink): void
  /** One of the grammar's own tags stands where `take` stopped; `give` follows. */
  tagSeen?(tag: string): void
  /**
   * The input ended at `offset`; `held` is the beginning of a marker that stood last. `closing`: it
   * has begun a close marker of this call, past the point where another was possible.
   */
  end(offset: number, held: string, closing: boolean, sink: Sink): void
}

/** A way to write a call inside a section. */
export interface Grammar {
  readonly name: string
  /** Whether a body may begin with the character. White space before it is skipped. */
  begins(code: number): boolean
  /** Whether another object in the same section is another call. */
  readonly several: boolean
  /** Tags that structure the body; one of them may begin it. They are markers of the grammar's own. */
  readonly tags?: readonly string[]
  /** It may stand only in a section that stands in another one. */
  readonly inside?: boolean
  create(): Body
}
