/** Finds what a caller meant by a name that does not exist. */

/** So many slips of a key are one name still. */
const FEW = 2

/** The known name nearest to `name`, if one is near enough to be a slip. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name)
  if (wanted === '') return undefined
  const far = known.map((candidate) => {
    const other = plain(candidate)
    const steps = distance(wanted, other)
    return steps > FEW && (other.startsWith(wanted) || wanted.startsWith(other)) ? FEW : steps
  })
  const least = Math.min(...far)
  return least > FEW ? undefined : known[far.indexOf(least)]
}

/** ` did you mean “x”?` for a slip, else nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : `: did you mean “${near}”?`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Levenshtein distance of two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, swap)
    }
    row = next
  }
  return row[b.length]!
}
