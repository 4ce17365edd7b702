/** Names for the characters that the loops compare with, and the classes that more than one needs. */

export const TAB = 9
export const NEWLINE = 10
export const RETURN = 13
export const SPACE = 32
export const QUOTE = 34
export const DOLLAR = 36
export const APOSTROPHE = 39
export const STAR = 42
export const PLUS = 43
export const COMMA = 44
export const MINUS = 45
export const DOT = 46
export const SLASH = 47
export const ZERO = 48
const NINE = 57
export const COLON = 58
export const SEMICOLON = 59
export const LESS = 60
export const EQUALS = 61
export const GREATER = 62
export const UPPER_E = 69
export const UPPER_F = 70
export const UPPER_N = 78
export const UPPER_T = 84
export const UNDERSCORE = 95
export const LOWER_A = 97
export const LOWER_B = 98
export const LOWER_R = 114
export const LOWER_Z = 122
export const OPEN_BRACKET = 91
export const BACKSLASH = 92
export const CLOSE_BRACKET = 93
export const BACKTICK = 96
export const LOWER_E = 101
export const LOWER_F = 102
export const LOWER_N = 110
export const LOWER_T = 116
export const LOWER_U = 117
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const TILDE = 126
export const OPEN_CURLY = 0x201c
export const CLOSE_CURLY = 0x201d
export const BYTE_ORDER_MARK = 0xfeff

/** Whether JSON allows the character between tokens. */
export function isJsonSpace(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === RETURN || code === TAB
}

/** Whether the character is white space to a reader: JavaScript's `\s`, which holds the BOM. */
export function isSpace(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= RETURN)
  if (code < 0xa0) return false
  return (
    code === 0xa0 ||
    code === 0xfeff ||
    code === 0x3000 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f
  )
}

/** Whether the character is white space within a line. */
export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === RETURN
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** Whether the character is an ASCII letter or digit, `-` or `_`. */
export function isWordCharacter(code: number): boolean {
  const lower = code | 0x20
  if (lower >= LOWER_A && lower <= LOWER_Z) return true
  return isDigit(code) || code === MINUS || code === UNDERSCORE
}

export function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800
}

/** Whether the halves of a surrogate pair stand before and behind `index`. */
export function splitsPair(text: string, index: number): boolean {
  return isHighSurrogate(text.charCodeAt(index - 1)) && (text.charCodeAt(index) & 0xfc00) === 0xdc00
}

/** The first `size` units of a longer text, one less rather than half of a surrogate pair. */
export function cutWhole(text: string, size: number): string {
  return text.slice(0, splitsPair(text, size) ? size - 1 : size)
}
