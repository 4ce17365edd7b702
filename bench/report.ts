/**
 * Puts results into tables, once for the terminal and once as Markdown.
 *
 * A report says on what it was made: day, Node, kind of CPU. It names no machine and no folder.
 */
import { CHUNK_MODES, workload } from '@talaria/fixtures'
import { coreBudget, DOUBLING, LIVE_HEAP, MEBIBYTE_MILLISECONDS, patchesBudget } from './budget.ts'
import { MODE_LABELS } from './chunks.ts'
import { MACHINES } from './machines.ts'
import {
  doublings,
  FLOORS,
  type Group,
  type Growth,
  type Heap,
  ratio,
  type Results,
  type RowName,
  summary,
} from './results.ts'

/** The first column is words, the others are figures. */
export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Rows for which a rate over the whole input means something. */
const LOOKS_AT_ALL: ReadonlySet<RowName> = new Set(['charCodeAt', ...MACHINES])

/** All rows of one workload in one mode. */
export function groupTable(group: Group): Table {
  const { workload: name, mode, units, chunks, bytes } = group
  const core = coreBudget(name, mode)
  const rows = [...FLOORS, ...MACHINES].flatMap((row) => {
    const found = summary(group, row)
    if (!found) return []
    const extra = row === 'core, patches' || row === 'core, trace'
    return [
      [
        row,
        figure(found.time / chunks),
        LOOKS_AT_ALL.has(row) ? figure((bytes * 1_000) / found.time) : '',
        fixed(ratio(group, row, 'minimal')),
        row === 'core' ? fixed(core) : '',
        extra ? fixed(ratio(group, row, 'core')) : '',
        row === 'core, patches' ? fixed(patchesBudget(name)) : '',
        fixed(found.slowest / found.fastest),
      ],
    ]
  })
  return {
    title: `${name}, ${cut(mode)}: ${count(chunks, 'chunk')}, ${figure(units)} units`,
    head: [
      'row',
      'ns per chunk',
      'MB/s',
      '÷ minimal',
      'budget',
      '÷ core',
      'budget',
      'slowest ÷ fastest process',
    ],
    rows,
  }
}

/** The core's time ÷ the minimal machine's, beside the budget. */
export function ratioTable(groups: readonly Group[]): Table {
  const names = [...new Set(groups.map((group) => group.workload))]
  const modes = CHUNK_MODES.filter((mode) => groups.some((group) => group.mode === mode))
  return {
    title: 'Time of the core ÷ time of the minimal machine, of its budget',
    head: ['workload', ...modes.map(cut)],
    rows: names.map((name) => [
      name,
      ...modes.map((mode) => {
        const group = groups.find((one) => one.workload === name && one.mode === mode)
        return group ? ofBudget(ratio(group, 'core', 'minimal'), coreBudget(name, mode)) : ''
      }),
    ]),
  }
}

export function growthTable(growth: readonly Growth[]): Table {
  const sizes = growth[0]?.points.map(({ units }) => `${figure(units / 1_024)} KiB, ms`) ?? []
  return {
    title: 'One argument in chunks of 1-8 units: time, and its factor per doubling',
    head: ['row', ...sizes, 'budget', 'per doubling', 'budget'],
    rows: growth.map((one) => [
      one.machine,
      ...one.points.map(({ nanoseconds }) => fixed(nanoseconds / 1e6)),
      one.machine === 'core' ? String(MEBIBYTE_MILLISECONDS) : '',
      doublings(one)
        .map((factor) => factor.toFixed(2))
        .join(', '),
      one.machine === 'core' ? fixed(DOUBLING) : '',
    ]),
  }
}

export function heapTable(heap: readonly Heap[]): Table {
  return {
    title: 'Live heap while a call with a 1 MiB argument is open',
    head: ['row', 'chunks', 'KiB', '÷ arguments', 'budget'],
    rows: heap.map(({ machine, mode, argumentsSize, bytes }) => [
      machine,
      cut(mode),
      figure(bytes / 1_024),
      fixed(bytes / argumentsSize),
      machine === 'core' ? fixed(LIVE_HEAP) : '',
    ]),
  }
}

/** For a terminal. */
export function text({ title, head, rows }: Table): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  return `${title}\n${lines.map((line) => `  ${line.map(pad).join('  ').trimEnd()}\n`).join('')}`
}

/** A whole report. */
export function markdown(results: Results): string {
  const { date, groups } = results
  const parts = [`# Bench of ${date}`, ...figures(results, '##')]
  for (const name of new Set(groups.map((group) => group.workload))) {
    parts.push(`## ${name}`, `${workload(name).description}.`)
    for (const group of groups) {
      if (group.workload === name) parts.push(section(groupTable(group), '###'))
    }
  }
  return `${parts.join('\n\n')}\n`
}

/** Where a document has its figures. */
const BEGIN = '<!-- figures, written by `npm run bench` -->\n'
const END = '\n<!-- end of figures -->'

/** A document with the figures of these results in their place. */
export function withFigures(document: string, results: Results): string {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error('The document has no place for figures.')
  const parts = [`Measured on ${results.date}:`, ...figures(results, '###')].join('\n\n')
  return `${document.slice(0, begin + BEGIN.length)}\n${parts}\n${document.slice(end)}`
}

/** What matters of the results: what the core costs beside its budgets. */
function figures({ node, v8, cpu, quick, groups, growth, heap }: Results, level: string): string[] {
  const usual = groups.filter((group) => coreBudget(group.workload, group.mode) !== undefined)
  const parts = [
    `Node ${node} (V8 ${v8}) on ${cpu}.${quick ? ' A quick run: figures are rough.' : ''}`,
  ]
  if (usual.length > 0) parts.push(section(ratioTable(usual), level))
  if (growth.length > 0) parts.push(section(growthTable(growth), level))
  if (heap.length > 0) parts.push(section(heapTable(heap), level))
  return parts
}

function section({ title, head, rows }: Table, level: string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return `${level} ${title}\n\n${[head, rule, ...rows].map(line).join('\n')}`
}

function cut(mode: Group['mode']): string {
  if (mode === 'whole') return 'whole'
  return `${MODE_LABELS[mode]} ${mode === 'char' ? 'unit' : 'units'}`
}

function ofBudget(found: number | undefined, budget: number | undefined): string {
  if (found === undefined || budget === undefined) return fixed(found)
  return `${fixed(found)} of ${fixed(budget)}${found > budget ? ', over' : ''}`
}

function fixed(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(2)
}

/** Three digits at the least, thousands set apart. */
function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
}

function count(number: number, noun: string): string {
  return `${figure(number)} ${noun}${number === 1 ? '' : 's'}`
}
