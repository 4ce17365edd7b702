/**
 * What is still open after a call: its tags, the list it may stand in, and close markers that may
 * come late.
 *
 * It is `active` while only layout has come since the call. When something else comes, the tags
 * count as closed, and their markers are swallowed wherever they come before the next opener.
 */
import type { Tag } from './compile.ts'

// What a close marker means after a call.
const CLOSES = 0
export const FOREIGN = 1
const FOREIGN_AGAIN = 2
/** Backticks of a code fence around calls. */
export const FENCE = 3
export type Closing = 0 | 1 | 2

export class AfterCall {
  active = false
  /** Tags that are open, outermost first. */
  tags: Tag[] = []
  /** The calls stand in a list whose bracket has not come. */
  listed = false
  /** One more brace belongs to the call: its root had two. */
  doubled = false
  /** Backticks that may still come: a code fence stands around the calls. */
  ticks = 0
  /** A separator has come. */
  separated = false
  /** A close marker of another family has come: it counts as this one's. */
  private mismatched = false
  /** The call had no wrapper: closers of any right behind it are swallowed. */
  private bare = false
  private readonly late: string[] = []

  clear(): void {
    this.active = false
    this.tags = []
    this.listed = false
    this.doubled = false
    this.ticks = 0
    if (this.late.length > 0) this.late.length = 0
  }

  /** A call has ended inside `tags`. */
  begin(tags: Tag[], listed: boolean, doubled: boolean): void {
    this.doubled ||= doubled
    this.active = true
    this.tags = tags
    this.listed ||= listed
    this.separated = false
    this.mismatched = false
    this.bare = tags[0]!.lineStart
  }

  /** The next call begins: nothing of the last one is open. */
  end(listed: boolean): void {
    this.active = false
    this.listed = listed && this.listed
    this.doubled = listed && this.doubled
    if (!listed) this.ticks = 0
    if (this.late.length > 0) this.late.length = 0
  }

  get open(): boolean {
    return this.active && this.tags.length > 0
  }

  /** Fewer backticks have come than a fence has: they are text. */
  get hasTicks(): boolean {
    return this.active && this.ticks > 0 && this.ticks < FENCE
  }

  /** Whether the open tags may hold more: behind another family's closer only closers follow. */
  get takesMore(): boolean {
    return this.open && !this.mismatched
  }

  /** Whether a call of this tag goes on inside the open ones. */
  continues(tag: Tag): boolean {
    return this.takesMore && this.tags.some(({ wraps }) => wraps.has(tag.open))
  }

  /** The open tags that a call of this tag may stand in; those inside them count as closed. */
  tagsAround(tag: Tag): Tag[] {
    return this.tags.slice(0, this.tags.findLastIndex(({ wraps }) => wraps.has(tag.open)) + 1)
  }

  /** Whether a close marker closes what counted as closed. */
  isLate(close: string): boolean {
    return (
      this.late.includes(close) || (this.active && this.tags.some((tag) => tag.close === close))
    )
  }

  /** A late close marker has come. */
  takeLate(close: string): void {
    this.late.splice(this.late.indexOf(close), 1)
  }

  /** A close marker stands directly after the call. */
  close(close: string): Closing {
    const { tags } = this
    this.separated = false
    let own = tags.length - 1
    while (own >= 0 && tags[own]!.close !== close) own--
    let closing: Closing = CLOSES
    if (own >= 0) {
      while (tags.length - 1 > own) this.late.push(tags.pop()!.close)
      tags.pop()
    } else if (tags.length > 0) {
      closing = this.mismatched ? FOREIGN_AGAIN : FOREIGN
      this.mismatched = true
    }
    if (tags.length === 0) this.active = this.bare
    return closing
  }

  /** Something else than layout stands here. True if it stands before the tags were closed. */
  leave(): boolean {
    const trailing = this.tags.length > 0 && !this.mismatched
    for (const { close } of this.tags) this.late.push(close)
    this.active = false
    this.tags = []
    return trailing
  }
}
