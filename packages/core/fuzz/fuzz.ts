/**
 * The fuzzer's loop: a case that goes a new way through the core is kept, and later cases are made
 * out of the kept ones. It begins with the fixtures' inputs. The same seed and number of runs give
 * the same cases.
 */
import { random } from '@talaria/fixtures'
import { BrokenPromise } from './broken.ts'
import { type Case, fixtureCases, isUsable } from './cases.ts'
import type { Edges } from './edges.ts'
import { minimise } from './minimise.ts'
import { below, mutate, pick } from './mutate.ts'
import { verify } from './promises.ts'

export interface FuzzOptions {
  readonly seed: number
  /** Asked before each run. */
  readonly goOn: (progress: Progress) => boolean
  /** What steers the choice of cases. Without it every case is made from a fixture. */
  readonly edges?: Edges
  /** Called before each run, so that a hang can be told. */
  readonly before?: (tried: Case) => void
  /** Called with the first case that breaks a promise, once for each way to break it. */
  readonly found: (finding: Finding) => void
}

export interface Progress {
  readonly runs: number
  /** Cases that others are made from. */
  readonly corpus: number
}

export interface Finding {
  readonly promise: string
  readonly message: string
  readonly smallest: Case
}

/** Half of all cases are made from this many of the latest. */
const LATEST = 64
/** Up to this length a smaller case is tried at every cut. */
const SHORT = 120

/** Runs until `goOn` says no. */
export function fuzz({ seed, goOn, edges, before = () => {}, found }: FuzzOptions): Progress {
  const next = random(seed)
  const known = new Set<string>()
  const fixtures = fixtureCases()
  const corpus: Case[] = []
  const record = edges && (<T>(act: () => T): T => edges.record(act))
  for (let runs = 0; ; runs++) {
    const progress = { runs, corpus: corpus.length }
    if (!goOn(progress)) return progress
    const tried = fixtures[runs] ?? child(corpus, next)
    if (!isUsable(tried.options)) continue
    before(tried)
    const broken = breach(() => verify(tried, record && { record }))
    if (broken && !known.has(kindOf(broken))) {
      known.add(kindOf(broken))
      found(smallestOf(tried, broken, before))
    }
    if (edges ? edges.learn() : runs < fixtures.length) corpus.push(tried)
  }
}

function child(corpus: readonly Case[], next: () => number): Case {
  const parent = next() < 0.5 ? pick(corpus, next) : pick(corpus.slice(-LATEST), next)
  return mutate(parent, corpus[below(corpus.length, next)]!, next)
}

function smallestOf(tried: Case, broken: BrokenPromise, before: (tried: Case) => void): Finding {
  let last = broken
  const smallest = minimise(tried, (smaller) => {
    if (!isUsable(smaller.options)) return false
    before(smaller)
    const all = smaller.source.length <= SHORT
    const again =
      breach(() => verify(smaller)) ??
      (all ? breach(() => verify(smaller, { effort: 'all' })) : undefined)
    if (again === undefined || kindOf(again) !== kindOf(broken)) return false
    last = again
    return true
  })
  return { promise: broken.promise, message: last.message, smallest }
}

/** What tells two findings apart: the promise, and its message up to the first value in it. */
function kindOf({ promise, message }: BrokenPromise): string {
  return `${promise}: ${/^[^\d"[{]*/.exec(message)![0]}`
}

function breach(act: () => void): BrokenPromise | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof BrokenPromise) return error
    throw error
  }
}
