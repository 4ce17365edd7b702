/**
 * The tables that are written from the code, by the name that stands above them. What they say of
 * an example is what a parser makes of it.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readFixtures } from '../../fixtures/src/index.ts'
import {
  DIALECTS,
  DEFAULT_LIMITS,
  ERROR_CODES,
  type MarkerNote,
  PRESETS,
  REPAIR_CODES,
  RULES,
  type RuleCode,
  type StreamEvent,
  type ToolCallError,
  WARNING_CODES,
  type WarningCode,
  createParser,
  joinDeltas,
} from '../../packages/core/src/index.ts'
import type { Dialect } from '../../packages/core/src/machine.ts'
import { type ChoiceDoc, OPTION_DOCS, type OpenDoc } from '../../packages/core/src/option-docs.ts'
import { SOURCE_ERROR_CODES } from '../../packages/llamacpp/src/index.ts'
import { membersOf } from './declarations.ts'
import { type Example, REFUSED, REPAIRED, RULED, WARNED } from './examples.ts'
import { ROOT } from './pages.ts'

type Row = readonly string[]

export const GENERATED: Readonly<Record<string, () => string>> = {
  'error codes': () => codes(ERROR_CODES, /^tool-call-error \d+ (\S+)/),
  'warning codes': () => codes(WARNING_CODES, /^warning (\S+)/),
  'stream error codes': () =>
    table(
      ['code', 'meaning'],
      Object.entries(SOURCE_ERROR_CODES).map(([name, meaning]) => [code(name), meaning]),
    ),
  limits: () =>
    table(
      ['limit', 'default', 'what it bounds'],
      membersOf('packages/core/src/limits.ts', 'Limits').map(({ name, doc }) => [
        `\`${name}\``,
        DEFAULT_LIMITS[name as keyof typeof DEFAULT_LIMITS].toLocaleString('en'),
        doc,
      ]),
    ),
  dialects: () => table(['name', 'models', 'opener', 'closer', 'holds'], dialectRows()),
  'other markers': () => table(['dialect', 'field', 'markers'], otherRows()),
  options: () => table(['option', 'values', 'does', 'holds back beyond the default'], optionRows()),
  presets: () =>
    table(
      ['preset', 'models', 'options'],
      Object.entries(PRESETS).map(([name, { models, options }]) => [
        code(name),
        models.join(', '),
        Object.entries(options)
          .map(([option, value]) =>
            code(`${option}: ${JSON.stringify(value).replaceAll('"', "'")}`),
          )
          .join(', '),
      ]),
    ),
  'repair codes': () =>
    table(['code', 'what is done', 'the model writes', 'arguments'], repairRows()),
  'refused JSON': () => table(['the model writes', 'code', 'expected'], REFUSED.map(refusedRow)),
  'warning places': () =>
    table(
      ['warning', 'example', 'comes between', 'spans'],
      keysOf(WARNED).flatMap((name) => placeRow(name, WARNED[name])),
    ),
  rules: () =>
    table(
      ['rule', 'meaning', 'example', 'of the marker'],
      keysOf(RULED).map((rule) => ruleRow(rule, RULED[rule])),
    ),
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(record) as Key[]
}

/** Codes with their line, and whether a case that passes shows them. */
function codes(lines: Readonly<Record<string, string>>, pattern: RegExp): string {
  const shown = new Set(fixtureLines().map((line) => pattern.exec(line)?.[1]))
  return table(
    ['code', 'meaning', 'emitted'],
    Object.entries(lines).map(([name, meaning]) => [
      code(name),
      meaning,
      shown.has(name) ? 'yes' : 'not yet',
    ]),
  )
}

/** The event lines of all fixtures but those that do not pass yet. */
function fixtureLines(): string[] {
  return ['hermes', 'wire'].flatMap((name) => {
    const folder = join(ROOT, 'fixtures', name)
    const files = readdirSync(folder)
    const list = files.includes('not-yet.json')
      ? (JSON.parse(readFileSync(join(folder, 'not-yet.json'), 'utf8')) as Record<string, string[]>)
      : {}
    const notYet = new Set(Object.values(list).flat())
    return files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        readFixtures(join(folder, file))
          .filter(({ id }) => !notYet.has(`${file}#${id}`))
          .flatMap(({ events = [] }) => events),
      )
  })
}

/** One row per section; a dialect's name and models stand in its first. */
function dialectRows(): Row[] {
  return dialects.flatMap(({ name, models, sections }) =>
    sections.map((section, at) => [
      at === 0 ? `\`${name}\`` : '',
      at === 0 ? models.join(', ') : '',
      `\`${section.open}\``,
      `\`${section.close}\``,
      section.holds === 'reasoning'
        ? 'reasoning'
        : section.bodies.map((grammar) => `\`${grammar.name}\``).join(', ') +
          (section.placement === 'line-start' ? ', at a line start' : ''),
    ]),
  )
}

/** What a dialect knows beside its sections, as far as it does. */
function otherRows(): Row[] {
  return dialects.flatMap(({ name, turnEnds, turnStarts, results, closers, notations }) => {
    const fields: readonly (readonly [string, readonly string[] | undefined])[] = [
      ['turnEnds', turnEnds],
      ['turnStarts', turnStarts],
      ['results', results?.map(({ open }) => open)],
      ['closers', closers],
      ['notations', notations?.map(({ literal }) => literal)],
    ]
    return fields.flatMap(([field, markers = []]) =>
      markers.length > 0 ? [[code(name), code(field), markers.map(code).join(', ')]] : [],
    )
  })
}

function optionRows(): Row[] {
  return Object.entries(OPTION_DOCS).map(([name, doc]: [string, AnyDoc]) => {
    if (doc.kind === 'open') return [code(name), openValues(doc), doc.does, doc.holds || 'nothing']
    const shown = (value: string): string =>
      code(typeof doc.default === 'boolean' ? value : `'${value}'`)
    const others = Object.keys(doc.holds).filter((value) => value !== String(doc.default))
    const values = [`${shown(String(doc.default))} (default)`, ...others.map(shown)]
    const holds = others.flatMap((value) => {
      const line = doc.holds[value]!
      return line === '' ? [] : [`${shown(value)}: ${line}`]
    })
    return [code(name), values.join(', '), doc.does, holds.join(' ') || 'nothing']
  })
}

type AnyDoc =
  | OpenDoc<unknown>
  | (Omit<ChoiceDoc<never>, 'default' | 'holds'> & {
      readonly default: string | boolean
      readonly holds: Readonly<Record<string, string>>
    })

function openValues({ takes, default: value }: OpenDoc<unknown>): string {
  if (value === undefined) return takes
  const shown =
    value === DEFAULT_LIMITS ? 'DEFAULT_LIMITS' : JSON.stringify(value).replaceAll('"', "'")
  return `${takes}; ${code(shown)} (default)`
}

interface Reading {
  readonly events: readonly StreamEvent[]
  readonly notes: readonly MarkerNote[]
}

/** What a parser makes of an example, whole. */
function read({ input, options }: Example): Reading {
  const events: StreamEvent[] = []
  const notes: MarkerNote[] = []
  const parser = createParser({
    ...options,
    onEvent: (event) => events.push(event),
    explain: (note) => notes.push(note),
  })
  parser.feed(input)
  parser.end()
  return { events: joinDeltas(events), notes }
}

function repairRows(): Row[] {
  return keysOf(REPAIRED).map((name) => {
    const { input, options } = REPAIRED[name]
    const { events } = read({ input: `<tool_call>${input}</tool_call>`, options: options ?? {} })
    const end = events.find((event) => event.type === 'tool-call-end')
    if (end?.repairs?.includes(name) !== true) throw new Error(`${name} does not repair ${input}`)
    return [code(name), REPAIR_CODES[name], code(input), code(end.arguments)]
  })
}

function refusedRow(input: string): Row {
  const { events } = read({ input: `<tool_call>${input}</tool_call>` })
  const error = events.find((event): event is ToolCallError => event.type === 'tool-call-error')
  if (!error) throw new Error(`${input} is no failed call`)
  const [, expected = ''] = /Expected (.*) at offset \d+\.$/.exec(error.message) ?? []
  return [code(input), code(error.code), expected]
}

function placeRow(name: WarningCode, example: Example | undefined): Row[] {
  if (example === undefined) return []
  const { events } = read(example)
  const at = events.findIndex((event) => event.type === 'warning' && event.code === name)
  const warning = events[at]
  if (warning?.type !== 'warning') throw new Error(`no warning ${name} for ${example.input}`)
  const { start = 0, end = 0 } = warning
  const [before, after] = [events[at - 1]?.type, events[at + 1]?.type]
  const place = `${before ? code(before) : 'the start'} and ${code(after ?? '')}`
  const span = example.input.slice(start, end)
  return [[code(name), code(example.input), place, span === '' ? 'a place' : code(span)]]
}

function ruleRow(rule: RuleCode, example: Example): Row {
  const note = read(example).notes.find((found) => found.rule === rule)
  if (!note) throw new Error(`no marker is read by ${rule} in ${example.input}`)
  return [code(rule), RULES[rule], code(example.input), code(note.marker)]
}

/** Inline code in a table: what can't be seen is shown. */
function code(text: string): string {
  const visible = text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replaceAll('\ufeff', '(BOM)')
    .replaceAll('|', '\\|')
  return visible.includes('`') ? fenced(visible) : `\`${visible}\``
}

/** Inline code with backticks in it. */
function fenced(text: string): string {
  const ticks = '`'.repeat(1 + Math.max(...(text.match(/`+/g) ?? []).map((run) => run.length)))
  return `${ticks} ${text} ${ticks}`
}

const dialects: readonly Dialect[] = await Promise.all(
  DIALECTS.map(async (name) => {
    const file = join(ROOT, `packages/core/src/dialects/${name}.ts`)
    const found = Object.values((await import(file)) as Record<string, Dialect>)
    return found.find((value) => value.name === name)!
  }),
)

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|\n`
  return [line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('')
}
