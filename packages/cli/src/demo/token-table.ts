/**
 * Tokens on the left, the events that came of them on the right.
 *
 * Tokens that give no event yet pile up in their column: that is the parser keeping back what may
 * still be a marker, or the head of a call. Nothing is painted over, so the table looks the same on
 * a terminal, in a pipe and in a README.
 */
import type { StreamEvent } from '@talaria/core'
import type { Style } from '../output/style.ts'
import { fit, visible, widthOf } from '../output/visible.ts'

const INDENT = '  '
/** Columns of the tokens, and of an event's name. */
const TOKENS = 26
const NAME = 17

export class TokenTable {
  private readonly style: Style
  /** Columns of the terminal. */
  private readonly columns: number
  /** How far the tokens of the open row reach; 0: no row is open. */
  private used = 0

  constructor(style: Style, columns: number) {
    this.style = style
    this.columns = columns
  }

  head(): string {
    return `${this.style.bold(`${INDENT}${'llama.cpp’s tokens'.padEnd(TOKENS)}Talaria’s events`)}\n`
  }

  /** A token; the row stays open for its event. */
  token(text: string): string {
    const shown = fit(marked(text), TOKENS - 2)
    const width = widthOf(shown)
    const fits = this.used > 0 && this.used + 1 + width <= TOKENS - 2
    const start = fits ? ' ' : this.finish() + INDENT
    this.used += fits ? 1 + width : width
    return start + this.style.yellow(shown)
  }

  event(event: StreamEvent): string {
    const row = describe(event)
    if (!row) return ''
    const [name, detail] = row
    // The end belongs to no token.
    const before = event.type === 'finish' ? this.finish() : ''
    const indent = (this.used > 0 ? '' : INDENT) + ' '.repeat(TOKENS - this.used)
    this.used = 0
    const { style } = this
    const rest = fit(detail, Math.max(10, this.columns - TOKENS - NAME - INDENT.length - 1))
    const label = name.startsWith('tool-call') ? style.cyan(name) : name
    const text = name === 'tool-call-end' ? style.green(rest) : rest
    return `${before}${indent}${label}${' '.repeat(NAME - name.length)}${text}\n`
  }

  /** Ends the open row. */
  finish(): string {
    const open = this.used > 0
    this.used = 0
    return open ? '\n' : ''
  }
}

/** What a row says of an event; nothing for those that say nothing here. */
function describe(event: StreamEvent): readonly [string, string] | undefined {
  switch (event.type) {
    case 'stream-start':
    case 'text-start':
    case 'reasoning-start':
    case 'text-end':
    case 'reasoning-end':
      return undefined
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      return [event.type, marked(event.delta)]
    case 'tool-call-start':
      return [event.type, visible(event.name)]
    case 'tool-call-end':
      return [event.type, marked(event.arguments)]
    case 'tool-call-error':
    case 'warning':
    case 'error':
      return [event.type, visible(event.code)]
    case 'part':
      return [event.type, event.kind]
    case 'finish':
      return [event.type, event.reason]
  }
}

/** Text with its line breaks, and the blanks at its ends, made visible. */
function marked(text: string): string {
  return visible(text)
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replace(/^ +| +$/g, (blanks) => '␣'.repeat(blanks.length))
}
