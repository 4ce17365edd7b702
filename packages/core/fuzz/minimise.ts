/**
 * Makes a case that breaks a promise small: leaves out pieces of the text, from halves down to
 * single units, then options, as long as the same promise stays broken.
 */
import type { Case, CaseOptions } from './cases.ts'

/** The smallest case found for which `breaks` holds, as it does for `found`. */
export function minimise(found: Case, breaks: (smaller: Case) => boolean): Case {
  let smallest = found
  for (;;) {
    const before = smallest
    smallest = withoutOptions(withoutPieces(smallest, breaks), breaks)
    if (smallest === before) return smallest
  }
}

function withoutPieces(found: Case, breaks: (smaller: Case) => boolean): Case {
  let smallest = found
  for (let size = found.source.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.source.length;) {
      const { source } = smallest
      const smaller = { ...smallest, source: source.slice(0, at) + source.slice(at + size) }
      if (breaks(smaller)) smallest = smaller
      else at += size
    }
  }
  return smallest
}

function withoutOptions(found: Case, breaks: (smaller: Case) => boolean): Case {
  let smallest = found
  for (const name of Object.keys(found.options) as (keyof CaseOptions)[]) {
    const { [name]: _, ...options } = smallest.options
    const smaller = { ...smallest, options }
    if (breaks(smaller)) smallest = smaller
  }
  return smallest
}
