/**
 * Decisions as a person reads them: a line with place, marker and rule, the row that it stands in,
 * and below it what came of the call and the warnings.
 */
import { count } from '../output/call-block.ts'
import type { Style } from '../output/style.ts'
import { fit, visible, widthOf, wrapWords } from '../output/visible.ts'
import type { Decision } from './decisions.ts'
import type { CallOutcome, Evidence } from './evidence.ts'
import { Lines, type Position, excerptOf } from './lines.ts'

/** Widths of the columns, the same for all decisions. */
export interface Layout {
  readonly place: number
  readonly offset: number
  readonly marker: number
  /** Columns of the terminal. */
  readonly columns: number
}

/** A longer marker pushes its decision to the right. */
const MARKER_COLUMNS = 24
const LONGEST_MARKER = 60
const INDENT = '    '
/** Where words go on that do not fit into their line. */
const HANGING = `${INDENT}  `

export function layoutOf(decisions: readonly Decision[], text: string, columns: number): Layout {
  const lines = new Lines(text)
  let place = 0
  let last = 0
  let marker = 0
  for (const { start, end } of decisions) {
    if (start === undefined || end === undefined) continue
    place = Math.max(place, placeOf(lines.at(start)).length)
    last = start
    // Where no name or attribute makes it longer, a marker has a column of each character.
    marker = Math.max(marker, Math.min(end - start, MARKER_COLUMNS))
  }
  return { place, offset: `@${last}`.length, marker, columns }
}

/** One decision, with a blank line behind it. */
export function showDecision(
  decision: Decision,
  position: Position | undefined,
  text: string,
  layout: Layout,
  style: Style,
): string {
  const { start, end, rule, words, calls, warnings } = decision
  const { columns } = layout
  const isPlaced = start !== undefined && end !== undefined && position !== undefined
  const place = position ? placeOf(position) : '-'
  const offset = start === undefined ? '' : `@${start}`
  const marker = isPlaced ? fit(oneLine(text.slice(start, end)), LONGEST_MARKER) : ''
  const left = `${place.padEnd(layout.place)}  ${offset.padEnd(layout.offset)}  `
  const gap = ' '.repeat(Math.max(0, layout.marker - widthOf(marker)) + 2)
  const room = columns - widthOf(left + marker + gap)
  const [first = '', ...rest] = wrapWords(`${rule}: ${words}`, Math.max(room, MIN_WORDS))
  const colored = first.replace(/^[^:]+:/, (name) => color(rule, style)(name))
  const lines = [
    style.dim(left) + style.bold(marker) + gap + colored,
    ...rest.map((line) => ' '.repeat(widthOf(left + marker + gap)) + line),
  ]
  if (isPlaced) {
    const { row, underline } = excerptOf(text, start, end, columns - INDENT.length - BAR.length)
    lines.push(INDENT + style.dim(BAR + row), INDENT + style.dim(BAR) + style.cyan(underline))
  }
  for (const call of calls) lines.push(...showCall(call, layout, style))
  for (const { code, message, name } of warnings) {
    const about = name === undefined ? '' : ` (${visible(name)})`
    lines.push(...note(style.yellow, `! ${code}`, `${visible(message)}${about}`, layout))
  }
  return `${lines.join('\n')}\n\n`
}

/** The last line: how many of what there were. */
export function showSummary(
  { errors, calls, reason }: Evidence,
  decisions: readonly Decision[],
  style: Style,
): string {
  const lines = errors.map((error) => `${style.red(`✗ ${visible(error)}`)}\n`)
  const markers = decisions.filter(({ start = 0, end = 0 }) => end > start).length
  const complete = calls.filter(({ outcome }) => outcome.complete).length
  const failed = calls.length - complete
  const facts = [
    markers === 0 ? 'no markers' : count(markers, 'marker'),
    complete === 0 ? 'no calls' : count(complete, 'call'),
    ...(failed > 0 ? [style.red(`${failed} failed`)] : []),
    `finish: ${visible(reason ?? '')}`,
  ]
  return `${lines.join('')}${facts.join(style.dim(' · '))}\n`
}

function placeOf({ line, column }: Position): string {
  return `${line}:${column}`
}

/** What words need at least; a narrower terminal wraps them itself. */
const MIN_WORDS = 20
const BAR = '│ '

function showCall(call: CallOutcome, layout: Layout, style: Style): string[] {
  const name = visible(call.name ?? 'call')
  if (call.complete) {
    const repairs = call.repairs?.length ? `repaired: ${call.repairs.join(', ')}` : ''
    return note(style.green, `✓ ${name}`, repairs, layout)
  }
  const place = call.offset === undefined ? '' : ` @${call.offset}`
  return note(
    style.red,
    `✗ ${name} ${call.code ?? ''}${place}`,
    visible(call.message ?? ''),
    layout,
  )
}

/** A coloured title and words behind it, over as many lines as they need. */
function note(
  paint: (text: string) => string,
  title: string,
  words: string,
  { columns }: Layout,
): string[] {
  const one = oneLine(title)
  if (words === '') return [INDENT + paint(one)]
  const isShort = widthOf(`${INDENT}${one}  ${words}`) <= columns
  if (isShort) return [`${INDENT}${paint(one)}  ${words}`]
  const rows = wrapWords(words, Math.max(MIN_WORDS, columns - HANGING.length))
  return [INDENT + paint(one), ...rows.map((row) => HANGING + row)]
}

/** What counts stands out: calls and reasoning, and what a reader may have expected to count. */
function color(rule: string, style: Style): (text: string) => string {
  if (rule === 'call') return style.green
  return COUNTS.has(rule) ? style.cyan : style.yellow
}

const COUNTS: ReadonlySet<string> = new Set(['closes', 'closes-late', 'reasoning', 'end-of-turn'])

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '⏎').replaceAll('\t', ' ')
}
