/** That the figures which the documentation shows are those of the last whole run. */
import { readdirSync, readFileSync } from 'node:fs'
import { CHUNK_MODES, WORKLOADS } from '@talaria/fixtures'
import { expect, test } from 'vitest'
import { coreBudget } from '../budget.ts'
import { withFigures } from '../report.ts'
import type { Results } from '../results.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const last = readdirSync(new URL('../results/', import.meta.url))
  .filter((name) => /^\d{4}-\d\d-\d\d\.json$/.test(name))
  .sort()
  .at(-1)

test('docs/performance.md shows the last results', () => {
  const document = read('../docs/performance.md')
  expect(withFigures(document, JSON.parse(read(`results/${last}`)) as Results)).toBe(document)
})

test('docs/performance.md shows the budgets', () => {
  const document = read('../docs/performance.md')
  for (const name of WORKLOADS) {
    const budgets = CHUNK_MODES.map((mode) => coreBudget(name, mode)!.toFixed(2))
    expect(document).toMatch(
      new RegExp(`^\\| \`${name}\`: .* \\| ${budgets.join(' \\| ')} \\|$`, 'm'),
    )
  }
})

test('reports name no folder and no machine', () => {
  for (const name of readdirSync(new URL('../results/', import.meta.url))) {
    expect(read(`results/${name}`)).not.toMatch(/\/(home|root|Users|tmp|opt|srv|var)\/|[A-Z]:\\/)
  }
})
