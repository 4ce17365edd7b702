/**
 * `npm run bench`: yardsticks and the core over all workloads, each in processes of its own.
 *
 * What is measured is the built core, as its users get it. Tables are printed as they come; all of
 * it goes to `results/DATE.json`, with a report beside it, and the main figures to the document that
 * shows them. A run that is quick or partial has files of its own, which the repository ignores.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { type ChunkMode, workload, type WorkloadName, WORKLOADS } from '@talaria/fixtures'
import { runChild } from './child.ts'
import { flatChunks } from './chunks.ts'
import { HELP, readArguments, type Request, UsageError } from './command-line.ts'
import type { MachineName } from './machines.ts'
import { type Effort, effortArguments } from './measure.ts'
import {
  groupTable,
  growthTable,
  heapTable,
  markdown,
  ratioTable,
  text,
  withFigures,
} from './report.ts'
import type { Group, Growth, Heap, Results, Times } from './results.ts'

const MEBIBYTE = 1_048_576
const HEAPS: readonly (readonly [MachineName, ChunkMode])[] = [
  ['minimal', 'token'],
  ['core', 'token'],
  ['core', 'char'],
  ['core, patches', 'token'],
]
// Built, this file is in `dist`.
const RESULTS = new URL('../results/', import.meta.url)
const DOCUMENT = new URL('../../docs/performance.md', import.meta.url)

/** Enough for figures that others can rely on. */
const FULL: Effort = { warm: 200, rounds: 9, turn: 20 }
/** Enough to see what a change did, roughly. */
const QUICK: Effort = { warm: 50, rounds: 2, turn: 5 }

/** How much is done for a workload, and in how many processes. */
interface Plan extends Effort {
  readonly processes: number
  /** Whether each mode has processes of its own. */
  readonly apart: boolean
}

function plan(quick: boolean, name: WorkloadName): Plan {
  if (!quick) return { ...FULL, processes: isUsual(name) ? 5 : 3, apart: true }
  // A process for the longest one takes as long as three for the others.
  return { ...QUICK, processes: isUsual(name) && name !== 'write_1mb' ? 2 : 1, apart: false }
}

/** Measures a workload in the given modes; all of them share the processes. */
async function measureWorkload(
  name: WorkloadName,
  modes: readonly ChunkMode[],
  { processes, ...effort }: Plan,
): Promise<Group[]> {
  const found: Times[][] = []
  for (let n = 0; n < processes; n++) {
    const args = [name, modes.join(), ...effortArguments(effort)]
    found.push(await runChild<Times[]>('parse.bench', args))
  }
  const { input } = workload(name)
  return modes.map((mode, index) => ({
    workload: name,
    mode,
    chunks: flatChunks(input, mode).length,
    units: input.length,
    bytes: Buffer.byteLength(input),
    times: found.map((times) => times[index]!),
  }))
}

async function measureWorkloads({ workloads, modes, quick, all }: Request): Promise<Group[]> {
  const groups: Group[] = []
  for (const name of workloads) {
    const planned = plan(quick, name)
    const wanted = quick && all && !isUsual(name) ? modes.filter((mode) => mode === 'token') : modes
    for (const together of planned.apart ? wanted.map((mode) => [mode]) : [wanted]) {
      const measured = await measureWorkload(name, together, planned)
      for (const group of measured) console.log(text(groupTable(group)))
      groups.push(...measured)
    }
  }
  const usual = groups.filter((group) => isUsual(group.workload))
  if (usual.length > 0) console.log(text(ratioTable(usual)))
  return groups
}

async function measureGrowth(quick: boolean): Promise<Growth[]> {
  const growth = await runChild<Growth[]>('growth.bench', effortArguments(quick ? QUICK : FULL))
  console.log(text(growthTable(growth)))
  return growth
}

async function measureHeap(): Promise<Heap[]> {
  const heap: Heap[] = []
  for (const [machine, mode] of HEAPS) {
    heap.push(await runChild<Heap>('heap.bench', [machine, mode, MEBIBYTE], ['--expose-gc']))
  }
  console.log(text(heapTable(heap)))
  return heap
}

function isUsual(name: WorkloadName): boolean {
  return WORKLOADS.some((usual) => usual === name)
}

async function write(results: Results, all: boolean): Promise<void> {
  const name = `${results.date}${all ? '' : '-part'}${results.quick ? '-quick' : ''}`
  await mkdir(RESULTS, { recursive: true })
  await writeFile(new URL(`${name}.json`, RESULTS), `${JSON.stringify(results, null, 2)}\n`)
  await writeFile(new URL(`${name}.md`, RESULTS), markdown(results))
  console.log(`Written: bench/results/${name}.json and ${name}.md`)
  if (!all || results.quick) return
  await writeFile(DOCUMENT, withFigures(await readFile(DOCUMENT, 'utf8'), results))
  console.log('Written: the figures in docs/performance.md')
}

async function main(argv: readonly string[]): Promise<void> {
  const request = readArguments(argv)
  if (!request) return console.log(HELP)
  const { quick, extras, all } = request
  const groups = await measureWorkloads(request)
  const growth = extras.includes('growth') ? await measureGrowth(quick) : []
  const heap = extras.includes('heap') ? await measureHeap() : []
  const { node, v8 } = process.versions
  const cpu = cpus()[0]?.model.trim() ?? 'an unknown CPU'
  const date = new Date().toISOString().slice(0, 10)
  await write({ date, quick, node, v8, cpu, groups, growth, heap }, all)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message}`)
  process.exitCode = 2
}
