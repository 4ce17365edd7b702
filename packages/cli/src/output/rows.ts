/**
 * Breaks text that grows into rows of a given width and keeps the first and the last of them.
 *
 * Each character is placed once and what is kept has a bound, so a megabyte of arguments costs the
 * view no more per delta than the first line did.
 */
import { columnsOf } from './visible.ts'

export interface RowLimits {
  /** Columns of a row; `Infinity` breaks at line breaks only. */
  readonly width: number
  /** How many of the first and of the last rows are kept. */
  readonly first: number
  readonly last: number
}

export class Rows {
  private readonly limits: RowLimits
  private readonly first: string[] = []
  /** A ring of the rows after the first ones. */
  private readonly last: string[] = []
  private open = ''
  private openWidth = 0
  private closed = 0

  constructor(limits: RowLimits) {
    this.limits = limits
  }

  /** Takes visible text; tabs become two columns. */
  push(text: string): void {
    for (const character of text) {
      if (character === '\n') {
        this.close()
        continue
      }
      const shown = character === '\t' ? '  ' : character
      const columns = character === '\t' ? 2 : columnsOf(character.codePointAt(0) ?? 0)
      // A backslash stays with what it escapes.
      const needed = character === '\\' ? columns + 1 : columns
      if (this.openWidth + needed > this.limits.width && this.openWidth > 0) this.close()
      this.open += shown
      this.openWidth += columns
    }
  }

  /** All rows, the open one counted. */
  get count(): number {
    return this.closed + 1
  }

  /** At most `wanted` of the last rows; more than are kept can't be had. */
  tail(wanted: number): string[] {
    if (wanted < 1) return []
    const { first, last } = this.limits
    const kept = this.closed > first + last ? this.last : [...this.first, ...this.last]
    return [...kept.slice(Math.max(0, kept.length - wanted + 1)), this.open]
  }

  /** All rows if they are at most `first + last + 1`; else the ends, and how many are left out. */
  ends(first: number, last: number): { first: string[]; skipped: number; last: string[] } {
    if (this.count <= first + last + 1)
      return { first: [], skipped: 0, last: this.tail(this.count) }
    return {
      first: this.first.slice(0, first),
      skipped: this.count - first - last,
      last: this.tail(last),
    }
  }

  private close(): void {
    this.closed++
    if (this.first.length < this.limits.first) this.first.push(this.open)
    else {
      this.last.push(this.open)
      if (this.last.length > this.limits.last) this.last.shift()
    }
    this.open = ''
    this.openWidth = 0
  }
}
