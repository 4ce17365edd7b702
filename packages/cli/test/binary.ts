/** The real `talaria` process, run from the sources. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What `node` is called with, before the arguments of `talaria`. */
export const NODE_ARGUMENTS: readonly string[] = [
  '--conditions=source',
  `--import=${new URL('loader/register.mjs', import.meta.url).href}`,
  fileURLToPath(new URL('../src/main.ts', import.meta.url)),
]

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves when stdout holds `text`, with all that came; rejects if the process ends before. */
  readonly shows: (text: string) => Promise<string>
  readonly ended: Promise<Ended>
}

export function start(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, ...argv], {
    env: { ...process.env, NO_COLOR: '', FORCE_COLOR: undefined, ...env },
  })
  let stdout = ''
  let stderr = ''
  let check = (): void => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    check()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A process that ends early breaks the pipe to it; what matters then is how it ended.
  child.stdin.on('error', () => {})
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  return {
    child,
    ended,
    async shows(text) {
      await new Promise<void>((resolve, reject) => {
        check = () => {
          if (stdout.includes(text)) resolve()
        }
        check()
        void ended.then((end) => reject(new Error(`ended before ${text}: ${JSON.stringify(end)}`)))
      })
      return stdout
    },
  }
}
