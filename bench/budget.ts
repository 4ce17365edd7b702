/**
 * What the core may cost: the figures that docs/performance.md promises. A run shows them beside
 * what it finds, and fails nobody, since times depend on who else uses the machine.
 */
import type { ChunkMode, WORKLOADS, WorkloadName } from '@talaria/fixtures'

/** Time of the core ÷ time of the minimal machine. */
const RATIOS: Readonly<Record<(typeof WORKLOADS)[number], Readonly<Record<ChunkMode, number>>>> = {
  agent: { whole: 1.15, sse: 1.45, token: 1.35, char: 1.05 },
  write_file: { whole: 0.6, sse: 1, token: 1.1, char: 1.05 },
  prose: { whole: 0.7, sse: 1.55, token: 1.75, char: 1.05 },
  parallel: { whole: 1.35, sse: 1.4, token: 1.3, char: 1.2 },
  write_1mb: { whole: 0.6, sse: 0.95, token: 0.85, char: 0.5 },
}

/** Many small calls: more patches than text. */
const SMALL_CALLS: ReadonlySet<WorkloadName> = new Set(['agent', 'parallel', 'small_calls'])

/** Time of the core ÷ time of the minimal machine; none for hostile workloads. */
export function coreBudget(workload: WorkloadName, mode: ChunkMode): number | undefined {
  return (RATIOS as Partial<Record<WorkloadName, Record<ChunkMode, number>>>)[workload]?.[mode]
}

/** Time with path patches ÷ time without. */
export function patchesBudget(workload: WorkloadName): number {
  return SMALL_CALLS.has(workload) ? 2.2 : 1.7
}

/** Time of 1 MiB in token-sized chunks, in milliseconds. */
export const MEBIBYTE_MILLISECONDS = 25

/** Factor of time for each doubling of an argument. */
export const DOUBLING = 2.2

/** Live heap ÷ size of the open call's arguments. */
export const LIVE_HEAP = 1.5
