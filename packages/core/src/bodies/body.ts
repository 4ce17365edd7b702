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
import type { JsonValue } from '../events.ts'
import type { Limits } from '../limits.ts'

/** Where a body puts what it reads. Each character goes through `skip` or `pass`, once. */
export interface Sink {
  /** Offset of the current chunk's first character. */
  readonly base: number
  readonly limits: Limits
  /** Whether the value tokens are wanted. */
  readonly tokens: boolean
  readonly started: boolean
  /** False once the call has ended, failed or turned out to be none. */
  readonly open: boolean

  /** What was read is no call: it goes back into the text. Only before `start` and `fail`. */
  notACall(): void
  /** The call's name is known, and its grammar proven, at `offset`. A bad name fails the call. */
  start(name: string, offset: number): void
  /** Characters of the section that are no arguments. */
  skip(chunk: string, from: number, to: number): void
  /** Characters of the arguments as the model wrote them: JSON text, passed through. */
  pass(chunk: string, from: number, to: number): void
  /** JSON text that the body writes itself; its source goes through `skip`. */
  write(text: string): void

  /** A value token: the value at the current path appears, an atom whole, others empty. */
  set(value: JsonValue): void
  /** A value token: the open string grows. */
  append(text: string): void
  /** A value token: the open string, object or list is complete. */
  close(): void
  /** The path goes down to a key or an index. */
  enter(step: string | number): void
  /** The path goes up again. */
  leave(): void

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
  /** Offset of the last string's first character; -1 for none. */
  readonly lastString: number
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
  /** The input ended at `offset`; `held` is the beginning of a marker that stood last. */
  end(offset: number, held: string, sink: Sink): void
}

/** A way to write a call inside a section. */
export interface Grammar {
  readonly name: string
  /** Whether a body may begin with the character. White space before it is skipped. */
  begins(code: number): boolean
  /** Whether another object in the same section is another call. */
  readonly several: boolean
  create(): Body
}
