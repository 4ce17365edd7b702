/** How a check says that a promise is broken. */
import { isDeepStrictEqual } from 'node:util'

export class BrokenPromise extends Error {
  /** Which promise: the same fault has the same one. */
  readonly promise: string

  constructor(promise: string, message: string) {
    super(message)
    this.promise = promise
  }
}

/** Throws unless it holds. */
export function must(promise: string, holds: boolean, message: string): void {
  if (!holds) throw new BrokenPromise(promise, message)
}

/** Throws unless both are deeply equal; `what` says of what they are two readings. */
export function same(promise: string, actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  const shown = (value: unknown): string => JSON.stringify(value, undefined, 1) ?? 'nothing'
  throw new BrokenPromise(
    promise,
    `${what}:\n${shown(actual)}\nis not what was expected:\n${shown(expected)}`,
  )
}

/** Runs a checker that throws errors of its own. */
export function attempt(promise: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw new BrokenPromise(promise, (error as Error).message)
  }
}
