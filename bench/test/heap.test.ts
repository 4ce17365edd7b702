/**
 * What the core keeps alive while a call is open, counted in a process of its own with a forced
 * collection: the arguments so far, once, and not the chunks that brought them.
 */
import type { ChunkMode } from '@talaria/fixtures'
import { expect, test } from 'vitest'
import { LIVE_HEAP } from '../budget.ts'
import { runChild } from '../child.ts'
import type { MachineName } from '../machines.ts'
import type { Heap } from '../results.ts'

const MEBIBYTE = 1_048_576
/** What the machine itself, V8's code for it and the collector's mood may weigh. */
const CONSTANT = 262_144
/** Now and then the collector leaves what is dead; what is kept stays in every process. */
const ATTEMPTS = 3
/** Starting a process that reads sources takes a second, many when others work, too. */
const PATIENCE = 120_000

test.each<[MachineName, ChunkMode]>([
  ['core', 'whole'],
  ['core', 'token'],
  ['core', 'char'],
  ['core, patches', 'token'],
  ['core, trace', 'token'],
])(
  '%s in mode %s keeps the arguments once',
  async (machine, mode) => {
    const counted: Heap[] = []
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const heap = await runChild<Heap>('heap.bench', [machine, mode, MEBIBYTE], ['--expose-gc'])
      expect(heap.argumentsSize).toBeGreaterThan(MEBIBYTE)
      counted.push(heap)
      if (isWithin(heap)) break
    }
    // Less than the arguments would mean that nothing was counted.
    expect(counted.some(isWithin), JSON.stringify(counted)).toBe(true)
  },
  PATIENCE,
)

function isWithin({ bytes, argumentsSize }: Heap): boolean {
  return bytes > 0.9 * argumentsSize && bytes <= LIVE_HEAP * argumentsSize + CONSTANT
}
