/**
 * How the text that a scanner reads reaches its sink: mostly as it is, with local edits.
 *
 * Characters from `from` on have been read and not yet delivered; a run of them goes out as one
 * piece, when the chunk ends or an edit comes. One token at a time may be held until the next one
 * decides about it: it begins at `mark`, or, if it came with an earlier chunk, it is `held`. If
 * something between that is dropped comes in the way, its source is delivered and its text `owed`.
 */
import type { RepairCode } from '../errors.ts'
import type { JsonValue } from '../events.ts'
import type { Limits } from '../limits.ts'
import type { JsonReading } from '../options.ts'

/** Where a scanner puts what it reads. Each character goes through `skip` or `pass`, once. */
export interface JsonSink {
  /** Offset of the current chunk's first character. */
  readonly base: number
  readonly limits: Limits
  readonly reading: JsonReading
  /** Whether the value tokens are wanted. */
  readonly tokens: boolean
  /** Characters that are no JSON text of the value. */
  skip(chunk: string, from: number, to: number): void
  /** Characters of the value as the model wrote them. */
  pass(chunk: string, from: number, to: number): void
  /** JSON text that the body writes itself; its source goes through `skip`. */
  write(text: string): void
  /**
   * What is held: characters that were read and will go through `skip` or `pass` later, and how
   * many are to be kept room for. Replaces what was said before.
   */
  hold(source: string, size: number): void
  /** Something was read against its letter; each code counts once per call. */
  repair(code: RepairCode): void

  /** A value token: the value at the current path appears, an atom whole, others empty. */
  set(value: JsonValue): void
  /**
   * A value token: the open string grows by what was read from offset `start` to `end`. The last
   * character of `text` stood before `end`; the first may have waited longer.
   */
  append(text: string, start: number, end: number): void
  /** A value token: the open string, object or list is complete. */
  close(): void
  /** The path goes down to a key or an index. */
  enter(step: string | number): void
  /** The path goes up again. */
  leave(): void
}

export class JsonEdits {
  /** A token is held. */
  holds = false
  protected from = 0
  protected mark = 0
  protected held = ''
  protected owed = ''

  protected clearEdits(): void {
    this.holds = false
    this.held = ''
    this.owed = ''
  }

  protected hold(index: number): void {
    this.holds = true
    this.mark = index
  }

  /** What was read before `index` goes out. */
  protected cut(chunk: string, index: number, sink: JsonSink): void {
    if (this.from < index) sink.pass(chunk, this.from, index)
    this.from = index
  }

  /** The character at `index` does not go out, what stands before it does. */
  protected drop(chunk: string, index: number, sink: JsonSink): void {
    this.cut(chunk, index, sink)
    this.dropTo(chunk, index + 1, sink)
  }

  /** What was read before `index` does not go out. */
  protected dropTo(chunk: string, index: number, sink: JsonSink): void {
    if (this.from < index) sink.skip(chunk, this.from, index)
    this.from = index
    this.mark = index
  }

  /** Writes `text` before what stands at `index`. */
  protected insert(text: string, chunk: string, index: number, sink: JsonSink): void {
    this.cut(chunk, index, sink)
    sink.write(text)
  }

  /** What is held goes out, its first `less` characters excepted. */
  protected release(less: number, chunk: string, sink: JsonSink): void {
    const { held, owed } = this
    this.holds = false
    if (owed !== '') {
      this.owed = ''
      sink.hold('', 0)
      if (owed.length > less) sink.write(owed.slice(less))
    } else if (held !== '') {
      this.held = ''
      sink.hold('', 0)
      sink.skip(held, 0, less)
      sink.pass(held, less, held.length)
    } else if (less > 0) this.drop(chunk, this.mark, sink)
  }

  /** The source of what is held goes out now, since what follows will be dropped. */
  protected owe(chunk: string, index: number, sink: JsonSink): void {
    if (!this.holds) return this.cut(chunk, index, sink)
    this.cut(chunk, this.mark, sink)
    this.owed += this.held + chunk.slice(this.mark, index)
    this.deliverHeld(chunk, index, sink)
    sink.hold('', this.owed.length)
  }

  /** How much white space stands between the beginning of what is held and `index`. */
  protected heldSpace(index: number): number {
    return this.held.length + this.owed.length + index - this.mark - 1
  }

  /** The chunk ends, and what is held stays so. */
  protected keepHeld(chunk: string, sink: JsonSink): void {
    const end = chunk.length
    if (this.owed !== '') return this.owe(chunk, end, sink)
    this.cut(chunk, this.mark, sink)
    this.held += chunk.slice(this.mark)
    sink.hold(this.held, this.held.length)
    this.from = end
  }

  /** Nothing more will be read: what is held is part of the source and no more. */
  protected giveUpHeld(chunk: string, index: number, sink: JsonSink): void {
    this.holds = false
    this.cut(chunk, this.mark, sink)
    this.owed = ''
    this.deliverHeld(chunk, index, sink)
  }

  private deliverHeld(chunk: string, index: number, sink: JsonSink): void {
    const { held } = this
    this.held = ''
    sink.hold('', 0)
    if (held !== '') sink.skip(held, 0, held.length)
    this.dropTo(chunk, index, sink)
  }
}
