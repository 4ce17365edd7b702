/**
 * A call that failed, until reading resumes: its raw text, and where it may resume.
 *
 * Before its values began, reading resumes at the next opener or closer. After that openers and
 * closers of its outermost tag are counted, from the last string before the failure on, and reading
 * resumes behind the closer that brings the count to 0: so a call that is quoted inside a broken
 * one is not made, as far as its markers balance.
 */
import type { Tag } from './compile.ts'
import type { ToolCallError } from './events.ts'
import type { Failure } from './sink.ts'
import { cutWhole } from './chars.ts'
import { TextBuilder } from './text-builder.ts'

export class FailedCall {
  readonly failure: Failure
  /** The outermost tag of the call. */
  readonly tag: Tag
  /** No value had begun. */
  readonly early: boolean
  private readonly raw = new TextBuilder()
  private readonly limit: number
  /** The raw text was cut at its limit. */
  private full = false
  private count: number

  constructor(
    failure: Failure,
    tag: Tag,
    early: boolean,
    raw: string,
    count: number,
    limit: number,
  ) {
    this.failure = failure
    this.tag = tag
    this.early = early
    this.limit = limit
    this.count = Math.max(count, 1)
    this.add(raw)
  }

  /** More of what the model wrote; what goes beyond the limit is not kept. */
  add(text: string): void {
    if (this.full) return
    const room = this.limit - this.raw.length
    this.full = text.length > room
    this.raw.add(this.full ? cutWhole(text, room) : text)
  }

  opens(tag: Tag): boolean {
    return tag.stem === this.tag.stem
  }

  opened(): void {
    this.count++
  }

  /** A close marker; true if reading resumes behind it. */
  closed(close: string): boolean {
    return close === this.tag.close && (this.early || --this.count === 0)
  }

  event(): ToolCallError {
    const { index, id, name, code, message, arguments: text, offset } = this.failure
    return {
      type: 'tool-call-error',
      index,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      code,
      message,
      ...(text !== undefined && { arguments: text }),
      raw: this.raw.toString(),
      offset,
    }
  }
}
