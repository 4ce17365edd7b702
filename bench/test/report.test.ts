/** Tables and what they are reckoned from, on made-up figures that a reader can check. */
import { describe, expect, test } from 'vitest'
import {
  growthTable,
  groupTable,
  heapTable,
  markdown,
  ratioTable,
  text,
  withFigures,
} from '../report.ts'
import { doublings, type Group, type Growth, ratio, type Results, summary } from '../results.ts'

const group: Group = {
  workload: 'agent',
  mode: 'token',
  chunks: 1_000,
  units: 4_000,
  bytes: 4_000,
  times: [
    { indexOf: 10_000, minimal: 50_000, core: 100_000, 'core, patches': 150_000 },
    { indexOf: 12_000, minimal: 200_000, core: 60_000, 'core, patches': 120_000 },
    { indexOf: 11_000, minimal: 51_000, core: 70_000, 'core, patches': 140_000 },
  ],
}
const growth: Growth = {
  machine: 'core',
  points: [
    { units: 65_536, nanoseconds: 1e6 },
    { units: 262_144, nanoseconds: 4e6 },
    { units: 1_048_576, nanoseconds: 36e6 },
  ],
}
const results: Results = {
  date: '2026-01-31',
  quick: false,
  node: '20.0.0',
  v8: '11.3',
  cpu: 'Some CPU',
  groups: [group],
  growth: [growth],
  heap: [{ machine: 'core', mode: 'token', argumentsSize: 1_048_576, bytes: 1_572_864 }],
}

describe('what counts of several processes', () => {
  test('a yardstick’s fastest, the core’s middle one', () => {
    expect(summary(group, 'minimal')).toEqual({ time: 50_000, fastest: 50_000, slowest: 200_000 })
    expect(summary(group, 'core')).toEqual({ time: 70_000, fastest: 60_000, slowest: 100_000 })
  })

  test('of two, the faster', () => {
    const two = { ...group, times: group.times.slice(0, 2) }
    expect(summary(two, 'core')?.time).toBe(60_000)
  })

  test('nothing, where nothing was measured', () => {
    expect(summary(group, 'JSON.parse')).toBeUndefined()
    expect(ratio(group, 'core', 'JSON.parse')).toBeUndefined()
  })
})

test('growth is a factor per doubling', () => {
  expect(doublings(growth)).toEqual([2, 3])
})

test('a group shows each measured row with its ratios and budgets', () => {
  const { title, rows } = groupTable(group)
  expect(title).toBe('agent, 1-8 units: 1,000 chunks, 4,000 units')
  expect(rows).toEqual([
    ['indexOf', '10', '', '0.20', '', '', '', '1.20'],
    ['minimal', '50', '80', '1.00', '', '', '', '4.00'],
    ['core', '70', '57.1', '1.40', '1.35', '', '', '1.67'],
    ['core, patches', '140', '28.6', '2.80', '', '2.00', '2.20', '1.25'],
  ])
})

test('ratios stand beside their budgets', () => {
  const hostile: Group = { ...group, workload: 'angles', mode: 'whole' }
  expect(ratioTable([group, hostile])).toMatchObject({
    head: ['workload', 'whole', '1-8 units'],
    rows: [
      ['agent', '', '1.40 of 1.35, over'],
      ['angles', '1.40', ''],
    ],
  })
})

test('growth and heap', () => {
  expect(growthTable([growth])).toMatchObject({
    head: ['row', '64 KiB, ms', '256 KiB, ms', '1,024 KiB, ms', 'budget', 'per doubling', 'budget'],
    rows: [['core', '1.00', '4.00', '36.00', '25', '2.00, 3.00', '2.20']],
  })
  expect(heapTable(results.heap).rows).toEqual([['core', '1-8 units', '1,536', '1.50', '1.50']])
})

test('columns stand under each other', () => {
  const table = {
    title: 'T',
    head: ['row', 'a'],
    rows: [
      ['longer', '1,000'],
      ['s', ''],
    ],
  }
  expect(text(table)).toBe('T\n  row         a\n  longer  1,000\n  s\n')
})

test('a report says on what it was made', () => {
  const report = markdown(results)
  expect(report).toContain('# Bench of 2026-01-31\n\nNode 20.0.0 (V8 11.3) on Some CPU.\n')
  expect(report).toContain('| agent | 1.40 of 1.35, over |')
  expect(report).toContain('100 turns of 400 units of prose and one small call.')
  expect(markdown({ ...results, quick: true })).toContain('A quick run')
})

test('a report of one thing holds nothing else', () => {
  const report = markdown({ ...results, groups: [], growth: [] })
  expect(report.match(/^#.*/gm)).toEqual([
    '# Bench of 2026-01-31',
    '## Live heap while a call with a 1 MiB argument is open',
  ])
})

test('figures go to their place in a document', () => {
  const begin = '<!-- figures, written by `npm run bench` -->'
  const end = '<!-- end of figures -->'
  const document = withFigures(`before\n\n${begin}\n${end}\n\nafter\n`, results)
  expect(document).toMatch(
    /^before\n\n<!-- figures[^]*\n\nMeasured on 2026-01-31:\n\nNode 20\.0\.0/,
  )
  expect(document).toMatch(
    /\| agent \| 1\.40 of 1\.35, over \|[^]*\n\n<!-- end of figures -->\n\nafter\n$/,
  )
  expect(withFigures(document, results)).toBe(document)
  expect(() => withFigures('none', results)).toThrow('no place for figures')
})
