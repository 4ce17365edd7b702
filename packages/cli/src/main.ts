#!/usr/bin/env node
/** The `talaria` process: gives a command the process's streams, signals and exit code. */
import { EXIT } from './failure.ts'
import { run } from './run.ts'

const controller = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The first asks for the closing events; who asks twice does not want to wait for them.
    if (controller.signal.aborted) process.exit(EXIT[name])
    controller.abort(name)
  })
}

// Who can't be told what is wrong gets the exit code still.
process.stderr.on('error', () => {})

const code = await run(process.argv.slice(2), {
  // Opened by those who read it only.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: controller.signal,
})
// What a signal interrupted (a file's read, a write to a reader that stalled) may never end.
if (controller.signal.aborted) process.exit(code)
process.exitCode = code
