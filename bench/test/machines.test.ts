/**
 * Every machine reads every workload that it is measured on, cut in every way, as the workload says:
 * a figure can't come from a wrong reading. And what the core does for it is counted, since counts,
 * unlike times, are the same on every computer.
 */
import { markersOf } from '@talaria/core'
import { CHUNK_MODES, HOSTILE, WORKLOADS, workload } from '@talaria/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flatChunks } from '../chunks.ts'
import { MACHINES, type MachineName, reads } from '../machines.ts'
import { compared, type Read, readWith } from './reading.ts'

/** What may be looked at beyond three times the input. */
const CONSTANT = 64
const CORES = MACHINES.filter((machine) => machine !== 'minimal')

describe.each([...WORKLOADS, ...HOSTILE])('%s', (name) => {
  const made = workload(name)
  const measured = MACHINES.filter((machine) => reads(machine, name))

  describe.each(CHUNK_MODES)('in mode %s', (mode) => {
    const found = new Map<MachineName, Read>()
    let chunks = 0

    beforeAll(() => {
      const pieces = flatChunks(made.input, mode)
      chunks = pieces.length
      for (const machine of measured) found.set(machine, readWith(machine, pieces))
    })
    afterAll(() => found.clear())

    test.each(measured)('%s reads it right', (machine) => {
      expect(found.get(machine)!.reading).toEqual(compared(made))
    })

    test.each(CORES)('%s looks at each unit three times at most', (machine) => {
      expect(found.get(machine)!.visited).toBeLessThanOrEqual(3 * made.input.length + CONSTANT)
    })

    test.each(CORES)('%s makes events by the number of chunks and parts', (machine) => {
      const { events, deltas, parts, warnings } = found.get(machine)!
      // A part starts and ends once; one event says that the stream is over.
      expect(events).toBeLessThanOrEqual(deltas + 2 * parts + warnings + 1)
      // A chunk adds one piece to each part that it touches, and one more where it lets go of what
      // looked like a marker.
      expect(deltas).toBeLessThanOrEqual(2 * (chunks + parts + almostMarkers(made.input)))
    })
  })

  test('what the minimal machine is not measured on, it can not read', () => {
    if (reads('minimal', name)) return
    const read = (): unknown => readWith('minimal', [made.input]).reading
    let right: unknown
    try {
      right = read()
    } catch {
      right = undefined
    }
    expect(right).not.toEqual(compared(made))
  })
})

/** Number of places where a marker, or all of it but its last character, stands. */
function almostMarkers(input: string): number {
  const begun = new Set(markersOf('hermes').map((marker) => marker.slice(0, -1)))
  let count = 0
  for (const text of begun) count += input.split(text).length - 1
  return count
}
