/**
 * The last rows on a terminal that are still changing.
 *
 * Painting writes only from the first row that differs on, and a row that merely grew gets the new
 * characters alone, so a token costs a few bytes. The cursor rests behind the last row. Rows must be
 * shorter than the terminal is wide; if it became narrower since they were painted, they were
 * wrapped, which the way up allows for.
 */
import { widthOf } from './visible.ts'

/** A painted row: `text` may hold colour codes, `plain` is what is seen. */
export interface Row {
  readonly text: string
  readonly plain: string
}

export class Region {
  private rows: readonly Row[] = []

  get empty(): boolean {
    return this.rows.length === 0
  }

  /** The terminal codes and text that turn what is painted into `rows`. */
  paint(rows: readonly Row[], columns: number): string {
    const before = this.rows
    this.rows = rows
    let same = 0
    while (same < before.length && before[same]?.text === rows[same]?.text) same++
    // Fewer rows than before: the last of them is written again, to leave the cursor behind it.
    if (same === rows.length && same > 0 && same < before.length) same--
    if (same === before.length) {
      // Nothing that is painted changes; the cursor is where new rows go on.
      const added = rows.slice(same).map(({ text }) => text)
      return (same > 0 && added.length > 0 ? '\n' : '') + added.join('\n')
    }
    const last = before.length - 1
    const old = before[last]?.text ?? ''
    const grown = rows[last]?.text
    if (same === last && grown?.startsWith(old)) {
      const added = rows.slice(before.length).map(({ text }) => `\n${text}`)
      return grown.slice(old.length) + added.join('')
    }
    return (
      up(before.slice(same), columns) +
      ERASE_BELOW +
      rows
        .slice(same)
        .map(({ text }) => text)
        .join('\n')
    )
  }

  /** Leaves the first `count` rows where they are, for good. */
  release(count: number): void {
    this.rows = this.rows.slice(count)
  }
}

const ERASE_BELOW = '\x1b[J'

/** From behind the last of `rows` to the beginning of the first. */
function up(rows: readonly Row[], columns: number): string {
  // Terminals differ on whether they wrap the cursor's own row anew. To go up too far would destroy
  // what stands above, so that row counts as one.
  let lines = 0
  for (const { plain } of rows.slice(0, -1)) {
    lines += Math.max(1, Math.ceil(widthOf(plain) / columns))
  }
  return lines > 0 ? `\r\x1b[${lines}A` : '\r'
}
