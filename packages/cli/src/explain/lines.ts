/** Where offsets stand: lines and columns from 1, and the row around a marker as a person sees it. */
import { columnsOf, fit, visible, widthOf } from '../output/visible.ts'

export interface Position {
  readonly line: number
  /** In UTF-16 units. */
  readonly column: number
}

/** Tells the positions of offsets that are asked for in ascending order, in one walk. */
export class Lines {
  private readonly text: string
  private line = 1
  private start = 0
  /** Offset of the line's break. */
  private stop: number

  constructor(text: string) {
    this.text = text
    this.stop = this.nextBreak()
  }

  at(offset: number): Position {
    while (this.stop < offset) {
      this.line++
      this.start = this.stop + 1
      this.stop = this.nextBreak()
    }
    return { line: this.line, column: offset - this.start + 1 }
  }

  private nextBreak(): number {
    const found = this.text.indexOf('\n', this.start)
    return found < 0 ? Infinity : found
  }
}

/** The part of a line around a marker, and what underlines the marker. */
export interface Excerpt {
  readonly row: string
  readonly underline: string
}

/** At most `columns` wide; `…` stands where the line goes on. */
export function excerptOf(text: string, start: number, end: number, columns: number): Excerpt {
  // Lines may be long: this much on either side fills a row, and tells that there is more.
  const reach = columns + 2
  const before = shown(
    text
      .slice(Math.max(0, start - reach), start)
      .split('\n')
      .at(-1) ?? '',
  )
  const marked = shown(firstLine(text.slice(start, end)))
  const after = shown(firstLine(text.slice(end, end + reach)))
  const mark = fit(marked, columns)
  // What follows a marker decides more often than what stands before it.
  const room = columns - widthOf(mark)
  const left = lastOf(before, Math.max(Math.floor(room / 2), room - widthOf(after)))
  const right = text.slice(start, end).includes('\n') ? '' : fit(after, room - widthOf(left))
  const size = Math.max(1, widthOf(mark))
  return { row: left + mark + right, underline: ' '.repeat(widthOf(left)) + '^'.repeat(size) }
}

function firstLine(text: string): string {
  const stop = text.indexOf('\n')
  return stop < 0 ? text : text.slice(0, stop)
}

/** A piece of a line: no tabs, and no half of a pair at either end. */
function shown(piece: string): string {
  const whole = piece.replace(/\r$/, '').replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return visible(whole).replaceAll('\t', '  ')
}

/** As much of the end of `text` as fits into `columns`, with `…` where it was cut. */
function lastOf(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  const characters = [...text]
  let width = 1
  let from = characters.length
  while (from > 0) {
    width += columnsOf(characters[from - 1]!.codePointAt(0) ?? 0)
    if (width > columns) break
    from--
  }
  return columns < 1 ? '' : `…${characters.slice(from).join('')}`
}
