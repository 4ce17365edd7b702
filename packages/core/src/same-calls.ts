/**
 * Finds calls that repeat an earlier one: same name, equal arguments.
 *
 * Two numbers stand for a value, whatever its spacing and the order of its keys: a rough one that
 * looks at no string as a whole, so that it costs little, and a fine one that is made only for calls
 * whose rough ones agree. Long arguments are not compared, and what is kept is bounded.
 */
import type { JsonValue } from './events.ts'

/** Arguments longer than this, in UTF-16 units, are not compared. */
const LONGEST = 65_536
/** Nor are values that are nested deeper. */
const DEEPEST = 256
/** Values are kept up to so many units of their text; then their fine numbers are. */
const KEPT = 1_048_576

/** The fine numbers of calls of one name whose rough ones agree. */
type Fine = Set<number>

export class SameCalls {
  /** By name and rough number: the only such call's value, or fine numbers. */
  private readonly names = new Map<string, Map<number, JsonValue | Fine>>()
  private kept = 0

  clear(): void {
    this.kept = 0
    if (this.names.size > 0) this.names.clear()
  }

  /** Notes a completed call; true if an equal one came before. */
  add(name: string, text: string, input: JsonValue): boolean {
    if (text.length > LONGEST) return false
    let calls = this.names.get(name)
    if (!calls) this.names.set(name, (calls = new Map()))
    const rough = hash(input, false, 0)
    if (Number.isNaN(rough)) return false
    let alike = calls.get(rough)
    if (alike === undefined) {
      this.kept += text.length
      calls.set(rough, this.kept <= KEPT ? input : new Set([hash(input, true, 0)]))
      return false
    }
    if (!(alike instanceof Set)) calls.set(rough, (alike = new Set([hash(alike, true, 0)])))
    const { size } = alike
    return alike.add(hash(input, true, 0)).size === size
  }
}

/** Up to 53 bits that equal values share; NaN for a value that is too deep. */
function hash(value: JsonValue, fine: boolean, depth: number): number {
  if (typeof value === 'string') return fine ? hashText(value) : sketchText(value)
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 0.25 : 0.75
  if (value === null) return 0.125
  if (depth === DEEPEST) return Number.NaN
  let sum = 5
  if (Array.isArray(value)) {
    for (const item of value) sum = mix(sum, hash(item, fine, depth + 1))
    return sum
  }
  // A sum, so that the order of the keys does not count.
  for (const key of Object.keys(value)) {
    sum += mix(fine ? hashText(key) : sketchText(key), hash(value[key]!, fine, depth + 1))
  }
  return sum % Number.MAX_SAFE_INTEGER
}

/** Length and three characters. */
function sketchText(text: string): number {
  const { length } = text
  if (length === 0) return 7
  const middle = text.charCodeAt(length >> 1)
  return ((length * 31 + text.charCodeAt(0)) * 31 + middle) * 31 + text.charCodeAt(length - 1)
}

function hashText(text: string): number {
  let low = 0x2545f491
  let high = text.length
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x9e3779b1)
    high = Math.imul(high ^ code, 0x85ebca77) ^ (low >>> 13)
  }
  return (low >>> 0) * 0x20_0000 + (high >>> 11)
}

/** Mixes two numbers; NaN stays NaN. */
function mix(a: number, b: number): number {
  return (a * 0x9e37 + b * 0x79b1 + 0x7f4a) % Number.MAX_SAFE_INTEGER
}
