/**
 * Makes call ids: `call_` and 24 base-62 characters, unique over the stream.
 *
 * A random beginning per parser and few draws per call: 24 fresh random characters cost up to a
 * fifth of the time of a small call. The last characters count the calls, so no two can be equal.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const FIXED = 14
const DRAWN = 5
const COUNTED = 5

export function createIdGenerator(): () => string {
  let prefix = ''
  let count = 0
  return () => {
    // Drawn with the first call: most parsers of plain text never need it.
    if (prefix === '') prefix = `call_${random(FIXED)}`
    let id = prefix + random(DRAWN)
    for (let place = 0, rest = count++; place < COUNTED; place++, rest = Math.floor(rest / 62)) {
      id += DIGITS[rest % 62]!
    }
    return id
  }
}

function random(length: number): string {
  let text = ''
  for (let at = 0; at < length; at++) text += DIGITS[Math.floor(Math.random() * 62)]!
  return text
}
