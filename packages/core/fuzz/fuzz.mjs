/**
 * `node packages/core/fuzz/fuzz.mjs`: fuzzes the core from its sources, and says what it found.
 *
 * The fuzzing is done in a thread of its own, so that this one can see a run that does not end.
 * Exit code: 0 nothing found, 1 a promise was broken, 2 wrong use.
 */
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

const HELP = `Fuzzes the core: fixtures, mutated, with any options, held against the promises.

  --seconds N  how long, default 60
  --runs N     how many runs, if that is less
  --seed N     what is tried, default 1
  --all        goes on after a broken promise, to find others
`
/** A run takes milliseconds. */
const HANGS_AFTER = 20_000
const SHARED = 64 * 1_024

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: 'string', default: '60' },
        runs: { type: 'string', default: 'Infinity' },
        seed: { type: 'string', default: '1' },
        all: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const [seconds, runs, seed] = [values.seconds, values.runs, values.seed].map(Number)
    if (values.help) return undefined
    if ([seconds, runs, seed].some(Number.isNaN)) throw new Error('expected numbers')
    return { seconds, runs, seed, all: values.all }
  } catch (error) {
    console.error(`fuzz: ${error.message}\n`)
    process.exitCode = 2
    return undefined
  }
}

function fuzz({ seconds, runs, seed, all }) {
  const shared = new SharedArrayBuffer(SHARED)
  const counter = new Int32Array(shared, 0, 2)
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: { seconds, runs, seed, all, shared },
  })
  const start = performance.now()
  const say = ({ runs: done, corpus, edges }) => {
    const rate = Math.round((done / (performance.now() - start)) * 1_000)
    console.log(`${done} runs, ${rate} per second, corpus ${corpus}, edges ${edges}, seed ${seed}`)
  }

  let seen = { count: 0, at: performance.now() }
  const watchdog = setInterval(() => {
    const count = Atomics.load(counter, 0)
    const now = performance.now()
    if (count !== seen.count) seen = { count, at: now }
    else if (count > 0 && now - seen.at > HANGS_AFTER) {
      const { source, options } = JSON.parse(
        Buffer.from(new Uint8Array(shared, 8, counter[1])).toString(),
      )
      console.log(`A run does not end, seed ${seed}: ${JSON.stringify(options)}, the text`)
      console.log(JSON.stringify(source))
      process.exitCode = 1
      void worker.terminate()
    }
  }, 1_000)

  worker.on('message', ({ progress, finding }) => {
    if (progress !== undefined) say(progress)
    if (finding === undefined) return
    console.log(`\nBroken: ${finding.promise}\n${finding.message}\n\n${finding.fixture}\n`)
    process.exitCode = 1
  })
  worker.on('error', (error) => {
    console.error(error)
    process.exitCode = 1
  })
  worker.on('exit', () => clearInterval(watchdog))
}

const request = readArguments()
if (request === undefined) console.log(HELP)
else fuzz(request)
