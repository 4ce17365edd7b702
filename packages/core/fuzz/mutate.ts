/** Makes a case out of others: a few random changes to the text, now and then one to the options. */
import type { Random } from '@talaria/fixtures'
import { type Case, type CaseOptions, DICTIONARY, LONGEST, NAMES, valuesOf } from './cases.ts'

type Change = (source: string, at: number, next: Random, other: string) => string

const CHANGES: readonly Change[] = [
  // Insert a word, put one in the place of something, or between two copies.
  (source, at, next) => splice(source, at, 0, pick(DICTIONARY, next)),
  (source, at, next) => splice(source, at, 0, pick(DICTIONARY, next)),
  (source, at, next) => splice(source, at, 1, pick(DICTIONARY, next)),
  (source, at, next) => splice(source, at, size(next), pick(DICTIONARY, next)),
  (source, at, next) => splice(source, at, 0, pick(DICTIONARY, next).repeat(1 + below(4, next))),
  // Leave out, double, move.
  (source, at, next) => splice(source, at, size(next), ''),
  (source, at) => splice(source, at, 1, ''),
  (source, at, next) => splice(source, at, 0, source.slice(at, at + size(next))),
  (source, at, next) => {
    const piece = source.slice(at, at + size(next))
    const rest = splice(source, at, piece.length, '')
    return splice(rest, below(rest.length + 1, next), 0, piece)
  },
  // The beginning of one and the end of another, or a piece of another inside.
  (source, at, next, other) => source.slice(0, at) + other.slice(below(other.length + 1, next)),
  (source, at, next, other) => {
    const from = below(other.length + 1, next)
    return splice(source, at, size(next), other.slice(from, from + 4 * size(next)))
  },
  (source, at, _next, other) => splice(source, at, 0, other),
  // Cut off; any unit.
  (source, at) => source.slice(0, at),
  (source, at, next) => splice(source, at, 1, String.fromCharCode(below(65_536, next))),
  (source, at, next) => splice(source, at, 1, String.fromCharCode(below(128, next))),
]

export function mutate(parent: Case, other: Case, next: Random): Case {
  let { source } = parent
  for (let changes = 1 + below(4, next); changes > 0; changes--) {
    source = pick(CHANGES, next)(source, below(source.length + 1, next), next, other.source)
  }
  return { source: source.slice(0, LONGEST), options: change(parent, other, next) }
}

function change(parent: Case, other: Case, next: Random): CaseOptions {
  const chance = next()
  if (chance < 0.7) return parent.options
  if (chance < 0.8) return other.options
  const name = pick(NAMES, next)
  const { [name]: _, ...rest } = parent.options
  const values = valuesOf(name)
  if (values.length === 0 || chance > 0.95) return rest
  return { ...rest, [name]: pick(values, next) }
}

function splice(source: string, at: number, removed: number, inserted: string): string {
  return source.slice(0, at) + inserted + source.slice(at + removed)
}

/** Mostly small: 1 to 32. */
function size(next: Random): number {
  return 1 + below(1 << below(6, next), next)
}

export function below(limit: number, next: Random): number {
  return Math.floor(next() * limit)
}

export function pick<T>(list: readonly T[], next: Random): T {
  return list[below(list.length, next)]!
}
