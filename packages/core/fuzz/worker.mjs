/**
 * The thread that fuzzes. Before each run it writes the case where the main thread can read it, so
 * that a run that never ends still says what it was.
 */
import { register } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

register('./hooks.mjs', import.meta.url)
const { Edges } = await import('./edges.ts')
// Modules count their branches from the moment on that they are loaded.
const edges = new Edges()
const { fuzz } = await import('./fuzz.ts')
const { asFixture } = await import('./report.ts')

const { seed, runs, seconds, all, shared } = workerData
const counter = new Int32Array(shared, 0, 2)
const place = new Uint8Array(shared, 8)
const encoder = new TextEncoder()
const end = performance.now() + seconds * 1_000
let spoken = performance.now()

let stopped = false

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
const say = (message) => parentPort.postMessage(message)

function goOn(progress) {
  if (performance.now() - spoken > 10_000) {
    spoken = performance.now()
    say({ progress: { ...progress, edges: edges.seen } })
  }
  return !stopped && progress.runs < runs && performance.now() < end
}

function before(tried) {
  counter[1] = encoder.encodeInto(JSON.stringify(tried), place).written
  Atomics.add(counter, 0, 1)
}

function found({ promise, message, smallest }) {
  say({ finding: { promise, message, fixture: asFixture(smallest, promise) } })
  stopped = !all
}

const progress = fuzz({ seed, edges, goOn, before, found })
say({ progress: { ...progress, edges: edges.seen } })
