/**
 * How one call looks: a header and its arguments below, indented.
 *
 * While it grows it shows the last rows of its arguments, in a terminal as many as there is room
 * for; once it has ended, the first and the last ones. In JSON a line break that is escaped in a
 * string breaks the row as well, so that a file in an argument reads like a file.
 */
import type { ToolCallEnd, ToolCallError } from '@talaria/core'
import type { Row } from './region.ts'
import { type RowLimits, Rows } from './rows.ts'
import type { Style } from './style.ts'
import { VisibleText, fit, visible, widthOf, wrapWords } from './visible.ts'

/** Rows of a finished call that a terminal shows: these, a line that counts the others, and these. */
const FIRST_ROWS = 8
const LAST_ROWS = 3
/** Rows of a growing call, header and counter not included. */
const LIVE_ROWS = 10
const INDENT = '  '

type Outcome = ToolCallEnd | ToolCallError

export class CallBlock {
  readonly index: number
  outcome: Outcome | undefined
  private readonly name: string
  private readonly style: Style
  /** Columns that a row may take. */
  private readonly width: number
  private readonly json: boolean
  private readonly rows: Rows
  private readonly text = new VisibleText()
  /** The last character was a backslash that escapes the next one. */
  private escaping = false
  private size = 0

  /** `columns` of the terminal; undefined: rows are as long as their lines, and all are shown. */
  constructor(
    call: { readonly index: number; readonly name?: string; readonly encoding?: 'text' },
    style: Style,
    columns: number | undefined,
  ) {
    this.index = call.index
    this.name = visible(call.name ?? 'call')
    this.json = call.encoding !== 'text'
    this.style = style
    this.width = columns === undefined ? Infinity : Math.max(10, columns - 1)
    this.rows = new Rows(limits(this.width))
  }

  /** The next piece of the arguments. */
  grow(delta: string): void {
    this.size += delta.length
    const text = this.text.take(delta)
    this.rows.push(this.json ? this.breakLines(text) : text)
  }

  end(outcome: Outcome): void {
    this.outcome = outcome
    this.rows.push(this.text.end())
  }

  /** The rows while any block of the region is open: at most `budget`, the header first. */
  live(budget: number, columns: number): Row[] {
    const room = Math.min(budget - 1, LIVE_ROWS + 1)
    const all = this.size === 0 ? 0 : this.rows.count
    const shown = all <= room ? all : Math.max(0, room - 1)
    const rows = this.rows.tail(shown).map((row) => plain(INDENT + row))
    if (all > shown && room > 0) {
      rows.unshift(this.dim(`${INDENT}… ${count(all - shown, 'row')} above, ${this.sizeText()}`))
    }
    const header = this.header(columns - 1)
    return [header, ...rows.map((row) => cut(row, columns - 1))]
  }

  /** The rows that stay. Of a failed call: the reason, and what the model wrote. */
  final(): Row[] {
    const { outcome } = this
    const header = [this.header(this.width)]
    // Off a terminal all rows are shown, more than a call may have arguments: lists are joined.
    if (outcome?.type !== 'tool-call-error') return header.concat(this.argumentRows())
    const reason = wrapWords(visible(outcome.message), this.width - INDENT.length).map((line) => ({
      text: this.style.red(INDENT + line),
      plain: INDENT + line,
    }))
    if (outcome.raw === undefined) return header.concat(reason, this.argumentRows())
    const raw = new Rows(limits(this.width))
    raw.push(visible(outcome.raw.replaceAll('\r\n', '\n').trim()))
    return header.concat(
      reason,
      this.elided(raw, (text) => this.style.dim(text)),
    )
  }

  private argumentRows(): Row[] {
    return this.size > 0 ? this.elided(this.rows) : []
  }

  private header(columns: number): Row {
    const { outcome, style } = this
    const notes: string[] = []
    if (outcome?.server) notes.push('run by the server')
    if (outcome?.type === 'tool-call-end' && outcome.repairs?.length) {
      notes.push(`repaired: ${outcome.repairs.join(', ')}`)
    }
    if (this.rows.count > FIRST_ROWS + LAST_ROWS + 1 && outcome) notes.push(this.sizeText())
    const failed = outcome?.type === 'tool-call-error' ? ` ${visible(outcome.code)}` : ''
    const note = notes.length > 0 ? visible(`  ${notes.join(', ')}`) : ''
    const name = fit(this.name, columns - 2)
    const rest = fit(failed + note, Math.max(0, columns - 2 - widthOf(name)))
    const code = rest.slice(0, failed.length)
    const sign = !outcome ? style.cyan('●') : failed ? style.red('✗') : style.green('✓')
    const text = `${sign} ${style.bold(name)}${style.red(code)}${style.dim(rest.slice(code.length))}`
    return { text, plain: `● ${name}${rest}` }
  }

  private elided(rows: Rows, color: (text: string) => string = (text) => text): Row[] {
    const { first, skipped, last } = rows.ends(
      this.width === Infinity ? Infinity : FIRST_ROWS,
      LAST_ROWS,
    )
    const show = (text: string): Row => ({ text: color(INDENT + text), plain: INDENT + text })
    if (skipped === 0) return [...first, ...last].map(show)
    const counter = this.dim(`${INDENT}… ${count(skipped, 'row')} more`)
    return [...first.map(show), counter, ...last.map(show)]
  }

  private dim(text: string): Row {
    return { text: this.style.dim(text), plain: text }
  }

  private sizeText(): string {
    return count(this.size, 'character')
  }

  /** Adds a line break after each `\n` escape. Backslashes stand in strings only. */
  private breakLines(text: string): string {
    let result = ''
    let done = 0
    let index = 0
    if (this.escaping && text !== '') {
      this.escaping = false
      index = 1
      if (text.startsWith('n')) {
        result = 'n\n'
        done = 1
      }
    }
    while ((index = text.indexOf('\\', index)) >= 0) {
      if (index === text.length - 1) this.escaping = true
      if (text[index + 1] === 'n') {
        result += `${text.slice(done, index + 2)}\n`
        done = index + 2
      }
      index += 2
    }
    return result + text.slice(done)
  }
}

function limits(width: number): RowLimits {
  const room = width - INDENT.length
  if (width === Infinity) return { width, first: Infinity, last: 0 }
  return { width: room, first: FIRST_ROWS, last: LIVE_ROWS }
}

function plain(text: string): Row {
  return { text, plain: text }
}

function cut(row: Row, columns: number): Row {
  const fitted = fit(row.plain, columns)
  return fitted === row.plain ? row : plain(fitted)
}

/** `1 row`, `1,204 rows` */
export function count(amount: number, noun: string): string {
  return `${amount.toLocaleString('en-US')} ${noun}${amount === 1 ? '' : 's'}`
}
