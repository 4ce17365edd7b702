/** Finds what a user may have meant by a word that is not known. */

/** The known word nearest to `word`, if it is near enough to be a slip of the keyboard. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = word.length <= 3 ? 1 : word.length <= 6 ? 2 : 3
  let best: string | undefined
  let least = limit + 1
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase())
    if (edits < least) {
      least = edits
      best = candidate
    }
  }
  return best
}

/** `, did you mean 'x'?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const found = nearest(word, known)
  return found === undefined ? '' : `, did you mean '${found}'?`
}

/** Edits between two words; two neighbours swapped count as one. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (row > 1 && column > 1 && swapped) least = Math.min(least, (before[column - 2] ?? 0) + 1)
      current.push(least)
    }
    before = last
    last = current
  }
  return last[b.length] ?? 0
}
