/**
 * Counts what is alive while a call with a long argument is open: `node --expose-gc heap.bench.js
 * MACHINE MODE SIZE`. Prints JSON.
 *
 * Chunks are made as they are fed and dropped by us, so one that a machine keeps counts, and one
 * event is stored, as by a consumer that shows a delta and forgets it. A first, short run makes V8
 * compile what it will, so that code is not counted as data.
 */
import { type ChunkMode, chunks, longArgument } from '@talaria/fixtures'
import { flat } from './chunks.ts'
import { createMachine, type Machine, type MachineName, store } from './machines.ts'
import type { Heap } from './results.ts'

const [machine, mode, size] = process.argv.slice(2) as [MachineName, ChunkMode, string]
const { gc } = globalThis
if (!gc) throw new Error('heap.bench needs `node --expose-gc`.')

/** A machine that has read all of an argument's text but for its last quote. */
function open(cut: readonly string[]): Machine {
  const made = createMachine(machine, store)
  for (const piece of cut) made.feed(flat(piece))
  return made
}

/** An input up to its argument's last quote. */
function openInput(units: number): { readonly pieces: string[]; readonly argumentsSize: number } {
  const { input } = longArgument(units)
  const end = input.lastIndexOf('"}')
  const start = input.indexOf('"arguments":') + '"arguments":'.length
  return { pieces: chunks(input.slice(0, end), mode), argumentsSize: end - start }
}

function live(): number {
  // What the first collection finalizes is free after the second.
  gc!()
  gc!()
  return process.memoryUsage().heapUsed
}

for (let times = 0; times < 4; times++) open(openInput(65_536).pieces).end()
const { pieces, argumentsSize } = openInput(Number(size))
store(undefined)
const before = live()
const made = open(pieces)
const bytes = live() - before
// The machine and its input live until here.
store([made, pieces])
const result: Heap = { machine, mode, argumentsSize, bytes }
console.log(JSON.stringify(result))
