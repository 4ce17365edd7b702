/**
 * Makes call ids: `call_` and 24 base-62 characters, unique over the stream.
 *
 * A random beginning per parser and one draw per call: 24 fresh random characters cost up to a
 * fifth of the time of a small call. The last characters count the calls, so no two can be equal.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = DIGITS.length
const PAIR = BASE * BASE
const PREFIX_PAIRS = 7
/** All pairs of digits: the tail of an id is five look-ups. */
const pairs: string[] = []

export function createIdGenerator(): () => string {
  let prefix = ''
  let count = 0
  return () => {
    // Drawn with the first call: most parsers of plain text never need it.
    if (prefix === '') prefix = createPrefix()
    const drawn = Math.floor(Math.random() * PAIR * PAIR)
    const number = count++
    return (
      prefix +
      pairs[drawn % PAIR]! +
      pairs[Math.floor(drawn / PAIR)]! +
      pairs[Math.floor(number / (PAIR * PAIR)) % PAIR]! +
      pairs[Math.floor(number / PAIR) % PAIR]! +
      pairs[number % PAIR]!
    )
  }
}

function createPrefix(): string {
  if (pairs.length === 0)
    for (const first of DIGITS) for (const second of DIGITS) pairs.push(first + second)
  let prefix = 'call_'
  for (let at = 0; at < PREFIX_PAIRS; at++) prefix += pairs[Math.floor(Math.random() * PAIR)]!
  return prefix
}
