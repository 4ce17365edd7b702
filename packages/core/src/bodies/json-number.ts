/** Numbers of JSON, a character at a time. */
import * as char from '../chars.ts'

// Where a number stands, `|` being the place.
export const BEFORE: number = -1 // |1
const SIGN = 0 // -|1
const NOUGHT = 1 // 0|
const WHOLE = 2 // 1|2
const POINT = 3 // 1.|5
const FRACTION = 4 // 1.5|
const EXPONENT = 5 // 1e|5
const EXPONENT_SIGN = 6 // 1e+|5
const POWER = 7 // 1e5|

/** The next place in a number; -1 if the character is no part of it. */
export function numberStep(state: number, code: number): number {
  const digit = char.isDigit(code)
  switch (state) {
    case BEFORE:
      if (code === char.MINUS) return SIGN
      return digit ? (code === char.ZERO ? NOUGHT : WHOLE) : -1
    case SIGN:
      return digit ? (code === char.ZERO ? NOUGHT : WHOLE) : -1
    case WHOLE:
      if (digit) return WHOLE
      return afterWhole(code)
    case NOUGHT:
      return afterWhole(code)
    case POINT:
      return digit ? FRACTION : -1
    case FRACTION:
      if (digit) return FRACTION
      return code === char.LOWER_E || code === char.UPPER_E ? EXPONENT : -1
    case EXPONENT:
      if (code === char.PLUS || code === char.MINUS) return EXPONENT_SIGN
      return digit ? POWER : -1
    default:
      return digit ? POWER : -1
  }
}

function afterWhole(code: number): number {
  if (code === char.DOT) return POINT
  return code === char.LOWER_E || code === char.UPPER_E ? EXPONENT : -1
}

/** Whether a number may end there. */
export function isNumber(state: number): boolean {
  return state === NOUGHT || state === WHOLE || state === FRACTION || state === POWER
}
