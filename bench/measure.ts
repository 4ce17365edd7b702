/**
 * Times rows of one process against each other with tinybench.
 *
 * Rows take turns in short rounds, since a machine that others use, or that gets warm, is as fast in
 * one second as it isn't in the next. A row's time is the median of its best round. Runs that the
 * clock can't tell apart are repeated within one sample.
 */
import { Bench } from 'tinybench'

/** One thing to time. */
export interface Row<Name extends string> {
  readonly name: Name
  /** One run, whole. */
  readonly run: () => void
}

export interface Effort {
  /** Work, in milliseconds, within which a row that has settled gets no faster. */
  readonly warm: number
  /** How often each row gets a turn. */
  readonly rounds: number
  /** Length of a turn in milliseconds; a run is always finished. */
  readonly turn: number
}

/** Shortest sample, in milliseconds: some thousand times what reading the clock costs. */
const SAMPLE = 0.2

/** What counts as faster: by more than the clock and the collector are uneven. */
const FASTER = 0.97

/** Rows that get faster all the time are timed after so many times the work. */
const PATIENCE = 10

/** An effort as the arguments of a process. */
export function effortArguments({ warm: work, rounds, turn }: Effort): number[] {
  return [work, rounds, turn]
}

/** The effort that `effortArguments` wrote. */
export function effortOf(args: readonly string[]): Effort {
  const [work, rounds, turn] = args.map(Number)
  return { warm: work!, rounds: rounds!, turn: turn! }
}

/** Times the rows. Returns nanoseconds per run, to a tenth, by name. */
export function measure<Name extends string>(
  rows: readonly Row<Name>[],
  { rounds, turn }: Effort,
): Map<Name, number> {
  const tasks = rows.map((row) => repeated(row))
  const best = new Map<Name, number>()
  for (let round = 0; round < rounds; round++) {
    for (let turns = 0; turns < tasks.length; turns++) {
      const { name, run, repeats } = tasks[(round + turns) % tasks.length]!
      const nanoseconds = Math.round((median(run, turn) * 1e7) / repeats) / 10
      best.set(name, Math.min(nanoseconds, best.get(name) ?? Infinity))
    }
  }
  return best
}

/**
 * Runs the rows in turn until V8 has done what it will: no row got faster within so much work. It
 * compiles beside us, so what counts is what the process has worked, not how long it had to wait.
 */
export function warm(rows: readonly Row<string>[], effort: Effort): void {
  const best = rows.map(() => Infinity)
  const start = process.cpuUsage()
  let settled = start
  for (let times = 0; times < 3 || worked(settled) < effort.warm; times++) {
    for (const [index, { run }] of rows.entries()) {
      const began = performance.now()
      run()
      const took = performance.now() - began
      if (took > best[index]! * FASTER) continue
      best[index] = took
      settled = process.cpuUsage()
    }
    if (worked(start) > PATIENCE * effort.warm) return
  }
}

/** Milliseconds of work since then, that of V8's threads included. */
function worked(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** Median time of one sample in milliseconds. */
function median(run: () => void, turn: number): number {
  const bench = new Bench({ iterations: 1, time: turn, warmup: false, throws: true })
  bench.add('row', run, { async: false })
  const { result } = bench.runSync()[0]!
  if (result.state !== 'completed') throw new Error(`A turn was not completed: ${result.state}.`)
  return result.latency.p50
}

/** A row whose run is repeated until it fills a sample. */
function repeated<Name extends string>(row: Row<Name>): Row<Name> & { readonly repeats: number } {
  const { name } = row
  const times = (repeats: number): void => {
    for (let n = 0; n < repeats; n++) row.run()
  }
  let repeats = 1
  for (; ; repeats *= 2) {
    const start = performance.now()
    times(repeats)
    if (performance.now() - start >= SAMPLE) break
  }
  return { name, repeats, run: () => times(repeats) }
}
