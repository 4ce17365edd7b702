/** That every row gets its turns; how long they take is nobody's promise. */
import { expect, test } from 'vitest'
import { effortArguments, effortOf, measure, warm } from '../measure.ts'

const effort = { warm: 0, rounds: 3, turn: 0 }

function rows(): { counts: Record<string, number>; rows: { name: string; run: () => void }[] } {
  const counts: Record<string, number> = { a: 0, b: 0 }
  return {
    counts,
    rows: Object.keys(counts).map((name) => ({ name, run: () => void counts[name]!++ })),
  }
}

test('all rows are timed in all rounds, short ones many times', () => {
  const made = rows()
  const times = measure(made.rows, effort)
  expect([...times.keys()].sort()).toEqual(['a', 'b'])
  for (const name of ['a', 'b']) {
    expect(times.get(name)).toBeGreaterThan(0)
    expect(made.counts[name]).toBeGreaterThan(3)
  }
})

test('all rows are warmed', () => {
  const made = rows()
  warm(made.rows, { ...effort, warm: 1 })
  expect(made.counts['a']).toBeGreaterThanOrEqual(3)
  expect(made.counts['b']).toBe(made.counts['a'])
})

test('what a row throws is no time', () => {
  const run = (): void => {
    throw new Error('wrong')
  }
  expect(() => measure([{ name: 'a', run }], effort)).toThrow('wrong')
})

test('an effort can be handed to a process', () => {
  expect(effortOf(effortArguments({ warm: 1, rounds: 2, turn: 3.5 }).map(String))).toEqual({
    warm: 1,
    rounds: 2,
    turn: 3.5,
  })
})
