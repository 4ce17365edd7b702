/**
 * The real engine for tests. Where it cannot be loaded, tests that need it are skipped with one
 * printed line; in CI that is a failure, so that they never vanish there.
 */
import { vi } from 'vitest'
import { type AvailableEngine, loadNodeLlamaCpp } from '../src/piano.ts'

/** A busy machine may take its time; no test measures it. In milliseconds. */
const PATIENCE = 60_000

/** The engine, to be disposed of after the file's tests. */
export async function loadRealEngine(): Promise<AvailableEngine | undefined> {
  vi.setConfig({ testTimeout: PATIENCE, hookTimeout: PATIENCE })
  const engine = await loadNodeLlamaCpp()
  return engine.available ? engine : without(engine.reason)
}

/** The package alone, for what needs none of its native code. */
export async function importNodeLlamaCpp(): Promise<typeof import('node-llama-cpp') | undefined> {
  return await import('node-llama-cpp').catch(without)
}

function without(reason: unknown): undefined {
  if (process.env.CI) throw new Error(`CI needs the real engine. ${String(reason)}`)
  process.stderr.write(`Skipped what needs the real engine. ${String(reason)}\n`)
}

/** All items of a stream. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
