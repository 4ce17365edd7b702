/**
 * Seeds fast-check, so that a run can be repeated and no run fails by luck: `FAST_CHECK_SEED` (a
 * number, or `random`) and `FAST_CHECK_RUNS` set what a test file prints first.
 */
import fc from 'fast-check'
import { vi } from 'vitest'

const asked = process.env.FAST_CHECK_SEED ?? '20261130'
const seed = asked === 'random' ? Date.now() % 0x7fffffff : Number(asked)
const numRuns = Number(process.env.FAST_CHECK_RUNS ?? (process.env.CI ? 2_000 : 100))

fc.configureGlobal({ seed, numRuns, baseSize: 'small' })
vi.setConfig({ testTimeout: 600_000 })
console.info(`FAST_CHECK_SEED=${seed} FAST_CHECK_RUNS=${numRuns}`)

/** Fewer runs for a property whose one run is many parses. */
export const fewer: { readonly numRuns: number } = { numRuns: Math.ceil(numRuns / 10) }

export { fc }
