/** What can be asked of the bench, and what is said to a slip. */
import { CHUNK_MODES, HOSTILE, WORKLOADS } from '@talaria/fixtures'
import { describe, expect, test } from 'vitest'
import { HELP, readArguments, UsageError } from '../command-line.ts'

test('everything, unless asked for less', () => {
  expect(readArguments([])).toEqual({
    quick: false,
    workloads: [...WORKLOADS, ...HOSTILE],
    modes: CHUNK_MODES,
    extras: ['growth', 'heap'],
    all: true,
  })
  expect(readArguments(['--quick'])).toMatchObject({ quick: true, all: true })
})

test('--only takes names, with commas or again', () => {
  const wanted = { workloads: ['agent', 'angles'], extras: ['heap'], all: false }
  expect(readArguments(['--only', 'angles,heap', '--only=agent'])).toMatchObject(wanted)
  expect(readArguments(['--only', 'growth'])).toMatchObject({ workloads: [], extras: ['growth'] })
})

test('--mode takes sizes as reports show them, and leaves out what has no mode', () => {
  expect(readArguments(['--mode', '1-8,1'])).toMatchObject({
    workloads: [...WORKLOADS, ...HOSTILE],
    modes: ['token', 'char'],
    extras: [],
    all: false,
  })
})

test('help names all that can be asked for', () => {
  expect(readArguments(['--help'])).toBeUndefined()
  expect(readArguments(['-h'])).toBeUndefined()
  for (const name of [...WORKLOADS, ...HOSTILE, 'growth', 'heap']) expect(HELP).toContain(name)
})

describe('a slip', () => {
  test.each([
    [['--only', 'agents'], /--only knows agent, .*growth, heap, but not "agents"/],
    [['--mode', 'token'], /--mode knows whole, 16-64, 1-8, 1, but not "token"/],
    [['--quik'], /--quik/],
    [['agent'], /agent/],
  ])('%j', (argv, message) => {
    expect(() => readArguments(argv)).toThrow(UsageError)
    expect(() => readArguments(argv)).toThrow(message)
  })
})
