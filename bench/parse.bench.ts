/**
 * Measures one workload in this process, cut in each of the given ways: `node parse.bench.js WORKLOAD
 * MODE,… WARM ROUNDS TURN`. Prints nanoseconds per run as JSON, a list with one entry per mode.
 *
 * Every machine reads the whole text first. V8 then compiles the loop while it runs in it, and code
 * behind a loop that had not run by then may stay slow for good: that must show in the figures of
 * small chunks. Patches and traces come last, since what they do inside the core would slow down
 * the plain core's rows.
 */
import { type ChunkMode, type WorkloadName, workload } from '@talaria/fixtures'
import { flat, flatChunks } from './chunks.ts'
import { lastStored, MACHINES, type MachineName, reads, runMachine, store } from './machines.ts'
import { effortOf, measure, type Row, warm } from './measure.ts'
import type { RowName } from './results.ts'
import { parseArguments, passChunks, searchChunks, sumCharacters } from './yardsticks.ts'

const [name, modes] = process.argv.slice(2) as [WorkloadName, string]
const effort = effortOf(process.argv.slice(4))
const { input, calls } = workload(name)
const argumentTexts = calls.map((call) => flat(call.arguments))
const machines = MACHINES.filter((machine) => reads(machine, name))
const isPlain = (machine: MachineName): boolean => machine === 'minimal' || machine === 'core'
const plain = machines.filter((machine) => isPlain(machine))
const extra = machines.filter((machine) => !isPlain(machine))

function rowsOf(measured: readonly MachineName[], chunks: readonly string[]): Row<RowName>[] {
  return measured.map((machine) => ({
    name: machine,
    run: () => runMachine(machine, chunks, store),
  }))
}

function floorsOf(chunks: readonly string[]): Row<RowName>[] {
  const floors: Row<RowName>[] = [
    { name: 'indexOf', run: () => store(searchChunks(chunks)) },
    { name: 'charCodeAt', run: () => store(sumCharacters(chunks)) },
    { name: 'event per chunk', run: () => passChunks(chunks, store) },
  ]
  if (argumentTexts.length > 0) {
    floors.push({ name: 'JSON.parse', run: () => parseArguments(argumentTexts, store) })
  }
  return floors
}

const cuts = modes.split(',').map((mode) => flatChunks(input, mode as ChunkMode))
const found = cuts.map(() => new Map<RowName, number>())

for (const measured of [plain, extra]) {
  warm(rowsOf(measured, [flat(input)]), effort)
  for (const [index, chunks] of cuts.entries()) {
    const rows = rowsOf(measured, chunks)
    if (measured === plain) rows.unshift(...floorsOf(chunks))
    warm(rows, effort)
    for (const [row, nanoseconds] of measure(rows, effort)) found[index]!.set(row, nanoseconds)
  }
}
if (lastStored() === undefined) throw new Error(`${name} gave no event.`)
console.log(JSON.stringify(found.map((times) => Object.fromEntries(times))))
