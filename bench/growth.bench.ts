/**
 * Measures one long argument in token-sized chunks at three sizes: `node growth.bench.js WARM
 * ROUNDS TURN`. A machine that is linear takes twice the time for twice the size. Prints JSON.
 */
import { longArgument } from '@talaria/fixtures'
import { flatChunks } from './chunks.ts'
import { type MachineName, runMachine, store } from './machines.ts'
import { effortOf, measure, type Row, warm } from './measure.ts'
import type { Growth } from './results.ts'

const SIZES = [65_536, 262_144, 1_048_576]
const MEASURED: readonly MachineName[] = ['minimal', 'core', 'core, patches']

const effort = effortOf(process.argv.slice(2))
const inputs = SIZES.map((size) => flatChunks(longArgument(size).input, 'token'))

const growth: Growth[] = MEASURED.map((machine) => {
  const rows = inputs.map((chunks, index): Row<string> => ({
    name: String(index),
    run: () => runMachine(machine, chunks, store),
  }))
  warm(rows, effort)
  const times = measure(rows, effort)
  return {
    machine,
    points: SIZES.map((units, index) => ({ units, nanoseconds: times.get(String(index))! })),
  }
})
console.log(JSON.stringify(growth))
