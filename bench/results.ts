/** What a run of the bench finds: the shape of `results/DATE.json`. Times are in nanoseconds. */
import type { ChunkMode, WorkloadName } from '@talaria/fixtures'
import type { MachineName } from './machines.ts'

/** Rows of a workload: floors that parse nothing, then the machines. */
export const FLOORS = ['indexOf', 'charCodeAt', 'event per chunk', 'JSON.parse'] as const
export type RowName = (typeof FLOORS)[number] | MachineName

/** One row in one process: nanoseconds per run. */
export type Times = Partial<Record<RowName, number>>

/** A workload cut in one way. */
export interface Group {
  readonly workload: WorkloadName
  readonly mode: ChunkMode
  readonly chunks: number
  readonly units: number
  /** Size of the input in UTF-8. */
  readonly bytes: number
  /** One for each process. */
  readonly times: readonly Times[]
}

/** One long argument in token-sized chunks. */
export interface Growth {
  readonly machine: MachineName
  readonly points: readonly { readonly units: number; readonly nanoseconds: number }[]
}

/** What is alive while a call with a long argument is open. */
export interface Heap {
  readonly machine: MachineName
  readonly mode: ChunkMode
  /** Size of the arguments so far; they are ASCII, so units and bytes. */
  readonly argumentsSize: number
  readonly bytes: number
}

export interface Results {
  /** Day of the run, as in `2026-11-30`. */
  readonly date: string
  readonly quick: boolean
  readonly node: string
  readonly v8: string
  readonly cpu: string
  readonly groups: readonly Group[]
  readonly growth: readonly Growth[]
  readonly heap: readonly Heap[]
}

/** A row, over all processes: nanoseconds per run. */
export interface Summary {
  /**
   * What counts: a yardstick's fastest process, so that one which V8 happened to compile badly
   * flatters nobody; the core's middle one (of two, the faster).
   */
  readonly time: number
  readonly fastest: number
  readonly slowest: number
}

/** Undefined where a row was not measured. */
export function summary({ times }: Group, row: RowName): Summary | undefined {
  const sorted = times.flatMap((process) => process[row] ?? []).sort((a, b) => a - b)
  const [fastest, slowest] = [sorted[0], sorted.at(-1)]
  if (fastest === undefined || slowest === undefined) return undefined
  const time = isYardstick(row) ? fastest : sorted[(sorted.length - 1) >> 1]!
  return { time, fastest, slowest }
}

/** Time of a row ÷ time of another. */
export function ratio(group: Group, row: RowName, by: RowName): number | undefined {
  const [top, bottom] = [summary(group, row), summary(group, by)]
  return top && bottom && top.time / bottom.time
}

function isYardstick(row: RowName): boolean {
  return row === 'minimal' || FLOORS.some((floor) => floor === row)
}

/** Factor of time for each doubling of the argument between a point and the one before it. */
export function doublings({ points }: Growth): number[] {
  return points.slice(1).map((point, index) => {
    const before = points[index]!
    const steps = Math.log2(point.units / before.units)
    return (point.nanoseconds / before.nanoseconds) ** (1 / steps)
  })
}
