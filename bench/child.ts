/**
 * Runs one bench file in a fresh process and returns what it prints as JSON.
 *
 * Fresh, since what V8 has compiled for one workload shows in the times of the next. Built code runs
 * built code. From sources, as tests do, the process reads sources as well: types are blanked out
 * as modules load, and our packages are their sources, too.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type BenchFile = 'parse.bench' | 'growth.bench' | 'heap.bench'

const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** Throws what the process wrote to stderr when it fails. */
export async function runChild<Result>(
  file: BenchFile,
  args: readonly (string | number)[],
  flags: readonly string[] = [],
): Promise<Result> {
  const script = fileURLToPath(new URL(`./${file}${extension}`, import.meta.url))
  const loader = ['--conditions=source', '--import=ts-blank-space/register']
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, ...(extension === '.ts' ? loader : []), script, ...args.map(String)],
    // The loader is found from here, wherever the run was started.
    { cwd: fileURLToPath(new URL('.', import.meta.url)) },
  )
  return JSON.parse(stdout) as Result
}
