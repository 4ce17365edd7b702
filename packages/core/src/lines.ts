/**
 * Knows where a line of the text began and what its first character is, without looking at every
 * character: only a marker or a backtick asks.
 *
 * The chunks since the last answer are kept by reference and looked back into when the question
 * comes, or when more than `KEPT` characters have gathered. Looking back ends at the first line
 * break, and an answer drops what it covered, so each character is looked at once at most.
 */
import { isBlank } from './chars.ts'

/** How many characters wait for a question before they are looked at unasked. */
const KEPT = 4_096
const NONE = -1

export class Lines {
  /** Offset of the line's beginning, as of the last `resolve`. */
  lineStart = 0
  /** Offset of the line's first character that is not blank; -1 while there is none. */
  first: number = NONE
  /** That character. */
  firstCode: number = NONE
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  private known = 0
  private chunk = ''
  private base = 0
  private readonly chunks: string[] = []
  private readonly starts: number[] = []

  /** A line begins at `offset`, whatever stood before: the start of the input or of a part. */
  reset(offset: number): void {
    this.lineStart = offset
    this.first = NONE
    this.firstCode = NONE
    this.known = offset
    this.chunks.length = 0
    this.starts.length = 0
  }

  /** From now on `chunk` is the chunk at hand; its first character has the offset `base`. */
  begin(chunk: string, base: number): void {
    this.chunk = chunk
    this.base = base
  }

  /** The chunk at hand is done: keep it until a question comes. */
  keep(): void {
    this.chunks.push(this.chunk)
    this.starts.push(this.base)
    const end = this.base + this.chunk.length
    if (end - this.known > KEPT) this.resolve(end)
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
    let covered = 0
    while (covered < this.chunks.length && this.endOf(covered) <= offset) covered++
    if (covered > 0) {
      this.chunks.splice(0, covered)
      this.starts.splice(0, covered)
    }
  }

  private endOf(kept: number): number {
    return this.starts[kept]! + this.chunks[kept]!.length
  }

  /** Offset of the last line break in [known, offset), or -1. */
  private lastNewline(offset: number): number {
    for (let kept = this.chunks.length; kept >= 0; kept--) {
      const text = kept === this.chunks.length ? this.chunk : this.chunks[kept]!
      const start = kept === this.chunks.length ? this.base : this.starts[kept]!
      const to = Math.min(offset - start, text.length)
      const from = Math.max(this.known - start, 0)
      if (to <= from) continue
      const found = text.lastIndexOf('\n', to - 1)
      this.visited += to - Math.max(found, from)
      if (found >= from) return start + found
    }
    return NONE
  }

  private findFirst(from: number, offset: number): void {
    for (let kept = 0; kept <= this.chunks.length; kept++) {
      const text = kept === this.chunks.length ? this.chunk : this.chunks[kept]!
      const start = kept === this.chunks.length ? this.base : this.starts[kept]!
      const to = Math.min(offset - start, text.length)
      for (let index = Math.max(from - start, 0); index < to; index++) {
        const code = text.charCodeAt(index)
        if (isBlank(code)) continue
        this.first = start + index
        this.firstCode = code
        return
      }
    }
  }
}
