/**
 * Says whether a place in the text is quoted: inline code, a fenced block, a block quote.
 *
 * A few numbers, fed with the runs of backticks and tildes as the text passes; lines are asked for
 * only then (`Lines`). Inline code reaches to the end of its line, a fence to its closer or the end
 * of the part, a block quote to the end of its line. Indentation quotes nothing.
 */
import { BACKTICK, GREATER, NEWLINE, isBlank } from './chars.ts'
import { Lines } from './lines.ts'

export class Markdown {
  readonly lines: Lines = new Lines()
  /** Length of the open fence's marker, 0 outside a fence. */
  private fence = 0
  private fenceCode = 0
  private fenceStart = 0
  /** Length of the run that opened inline code, 0 outside. */
  private inline = 0
  private inlineStart = 0
  /** A run of backticks or tildes that may go on in the next chunk. */
  private run = 0
  private runCode = 0
  private runStart = 0
  /** A fence's closer was seen; it counts if the rest of its line is blank. */
  private closing = false

  /** A part begins at `offset`: all quotes end. */
  reset(offset: number): void {
    this.fence = 0
    this.inline = 0
    this.run = 0
    this.closing = false
    this.lines.reset(offset)
  }

  /** Whether the next chunk's first characters belong to something open. */
  get waits(): boolean {
    return this.run !== 0 || this.closing
  }

  /** Whether the character at `offset`, no blank, is quoted; by a fence only if `fences` count. */
  quotedAt(offset: number, fences = true): boolean {
    this.lines.resolve(offset)
    if (this.fence !== 0) return fences
    if (this.inline !== 0 && this.lines.lineStart <= this.inlineStart) return true
    return this.lines.first !== -1 && this.lines.first < offset && this.lines.firstCode === GREATER
  }

  /** Whether only blanks stand before `offset` on its line. */
  startsLine(offset: number): boolean {
    this.lines.resolve(offset)
    return this.lines.first === -1 || this.lines.first >= offset
  }

  /** Takes a run of backticks or tildes at `index`; returns where it stopped. */
  take(chunk: string, index: number, base: number): number {
    this.run = 0
    this.runCode = chunk.charCodeAt(index)
    this.runStart = base + index
    return this.go(chunk, index)
  }

  /** Goes on with what the last chunk left open; returns where it stopped. */
  go(chunk: string, index: number): number {
    const size = chunk.length
    if (this.closing) return this.close(chunk, index)
    const from = index
    while (index < size && chunk.charCodeAt(index) === this.runCode) index++
    this.run += index - from
    if (index === size) return index
    this.endRun()
    return this.closing ? this.close(chunk, index) : index
  }

  private close(chunk: string, index: number): number {
    while (index < chunk.length && isBlank(chunk.charCodeAt(index))) index++
    if (index === chunk.length) return index
    if (chunk.charCodeAt(index) === NEWLINE) this.fence = 0
    this.closing = false
    return index
  }

  /** A run is complete: does it open or close a fence or inline code? */
  private endRun(): void {
    const { run, runCode, runStart, lines } = this
    this.run = 0
    const atStart = this.startsLine(runStart)
    if (this.fence !== 0) {
      if (runCode === this.fenceCode && run >= this.fence && atStart) this.closing = true
      else if (
        runCode === BACKTICK &&
        this.fenceCode === BACKTICK &&
        lines.lineStart <= this.fenceStart
      ) {
        // An info string has no backtick: the "fence" was inline code at the start of its line.
        this.inline = this.fence === run ? 0 : this.fence
        this.inlineStart = this.fenceStart
        this.fence = 0
      }
    } else if (run >= 3 && atStart) {
      this.fence = run
      this.fenceCode = runCode
      this.fenceStart = runStart
    } else if (runCode === BACKTICK) {
      if (this.inline === 0 || lines.lineStart > this.inlineStart) {
        this.inline = run
        this.inlineStart = runStart
      } else if (this.inline === run) this.inline = 0
    }
  }
}
