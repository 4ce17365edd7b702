/**
 * Knows where a line of the text began and what its first character is, without looking at every
 * character twice: only a marker or a backtick asks.
 *
 * The scan for markers notices line breaks where it looks at each character: a chunk without any
 * changes nothing, one with some is looked at when it is done. Other chunks are kept by reference
 * and looked back into when the question comes, or when more than `KEPT` characters have gathered.
 * Looking back ends at the first line break, and an answer drops what it covered, so each
 * character is looked at once at most.
 */
import { isBlank } from './chars.ts'

/** How many characters wait for a question before they are looked at unasked. */
const KEPT = 4_096
const KEPT_CHUNKS = 128
/** Up to this length a chunk that was not scanned for line breaks is looked at when it is done. */
const SHORT = 32
const NONE = -1

// What is known of a chunk's line breaks.
export const NO_BREAK = 0
export const SOME = 1
export const UNSEEN = 2
export type Breaks = 0 | 1 | 2

export class Lines {
  /** Offset of the line's beginning, as of the last `resolve`. */
  lineStart = 0
  /** Offset of the line's first character that is not blank; -1 while there is none. */
  first: number = NONE
  /** That character. */
  firstCode: number = NONE
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  /** All this holds for the text before this offset. */
  private known = 0
  private chunk = ''
  private base = 0
  /** The chunks before the one at hand, back to `known`, without a gap. */
  private readonly kept: string[] = new Array<string>(KEPT_CHUNKS).fill('')
  private count = 0

  /** A line begins at `offset`, whatever stood before: the start of the input or of a part. */
  reset(offset: number): void {
    this.lineStart = offset
    this.first = NONE
    this.known = offset
    this.count = 0
  }

  /** Whether a chunk without line breaks changes nothing, so that `pass` will do. */
  get settled(): boolean {
    return this.count === 0 && this.first !== NONE
  }

  /** A chunk without line breaks has passed, up to `end`. */
  pass(end: number): void {
    this.known = end
  }

  /** From now on `chunk` is the chunk at hand; its first character has the offset `base`. */
  begin(chunk: string, base: number): void {
    this.chunk = chunk
    this.base = base
  }

  /** The chunk at hand is done. `breaks`: what the scan for markers saw of line breaks. */
  keep(breaks: Breaks): void {
    const { chunk } = this
    const end = this.base + chunk.length
    // A short chunk is looked at: as long as chunks are kept, every next one has to be.
    if (this.count === 0 && (breaks !== UNSEEN || chunk.length <= SHORT)) {
      if (breaks !== NO_BREAK || this.first === NONE) this.resolve(end)
      else this.known = end
      return
    }
    this.kept[this.count++] = chunk
    this.chunk = ''
    this.base = end
    if (end - this.known > KEPT || this.count === KEPT_CHUNKS) this.resolve(end)
  }

  /** Answers for the line on which `offset` stands, as far as the text before `offset` tells. */
  resolve(offset: number): void {
    if (offset <= this.known) return
    const newline = this.lastNewline(offset)
    if (newline !== NONE) {
      this.lineStart = newline + 1
      this.first = NONE
    }
    if (this.first === NONE) this.findFirst(Math.max(this.lineStart, this.known), offset)
    this.known = offset
    this.drop(offset)
  }

  /** Forgets the kept chunks that end before `offset`. */
  private drop(offset: number): void {
    let end = this.base
    let left = 0
    for (let at = this.count - 1; at >= 0 && end > offset; at--, left++)
      end -= this.kept[at]!.length
    if (left > 0) this.kept.copyWithin(0, this.count - left, this.count)
    this.kept.fill('', left, this.count)
    this.count = left
  }

  /** Offset of the last line break in [known, offset), or -1. */
  private lastNewline(offset: number): number {
    let text = this.chunk
    let start = this.base
    for (let at = this.count - 1; ; at--) {
      const to = Math.min(offset - start, text.length)
      const from = Math.max(this.known - start, 0)
      if (to > from) {
        // A search back stops at the string's beginning only, so it gets a string that begins there.
        const found = text.slice(from, to).lastIndexOf('\n')
        this.visited += to - from - Math.max(found, 0)
        if (found >= 0) return start + from + found
      }
      if (at < 0) return NONE
      text = this.kept[at]!
      start -= text.length
    }
  }

  private findFirst(from: number, offset: number): void {
    let start = this.base
    for (let at = 0; at < this.count; at++) start -= this.kept[at]!.length
    for (let at = 0; at <= this.count; at++) {
      const text = at === this.count ? this.chunk : this.kept[at]!
      const to = Math.min(offset - start, text.length)
      for (let index = Math.max(from - start, 0); index < to; index++) {
        const code = text.charCodeAt(index)
        if (isBlank(code)) continue
        this.first = start + index
        this.firstCode = code
        return
      }
      start += text.length
    }
  }
}
