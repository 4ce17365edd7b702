/**
 * What strings and keys of JSON are made of: where a run of plain characters ends, what escapes
 * mean, and which quotes and bare keys may stand for JSON's own.
 */
import * as char from '../chars.ts'

/** So many characters are looked at one by one; behind them a native search is faster. */
const LOOKS = 48
const STRING_STOP = /["\\\u0000-\u001f]/g
/** 1 for the characters that end a run of plain string characters. */
const STOPS = new Uint8Array(65_536)
STOPS.fill(1, 0, 0x20)
STOPS[char.QUOTE] = 1
STOPS[char.BACKSLASH] = 1
/** The same, and the first halves of surrogate pairs: a chunk must not be passed on with one. */
export const VERBATIM: Uint8Array = STOPS.slice().fill(1, 0xd800, 0xdc00)

const ESCAPES: Readonly<Record<number, string>> = {
  [char.QUOTE]: '"',
  [char.BACKSLASH]: '\\',
  [char.SLASH]: '/',
  [char.LOWER_B]: '\b',
  [char.LOWER_F]: '\f',
  [char.LOWER_N]: '\n',
  [char.LOWER_R]: '\r',
  [char.LOWER_T]: '\t',
}

// What a string's escapes have shown.
export const INVALID = 1
const CONTROL = 2
const HARMLESS = 4
/** Invalid escapes beside escapes of control characters: perhaps those were meant as text, too. */
export const SUSPICIOUS: number = INVALID | CONTROL

/** What an escape of two characters shows, by its second one's code. */
const KINDS = new Uint8Array(128)
for (const [code, character] of Object.entries(ESCAPES))
  KINDS[Number(code)] = character < ' ' ? CONTROL : HARMLESS

const BARE_FIRST = /[\p{L}_$]/u
const BARE_REST = /[\p{L}\p{N}_$-]/u

/** Index of the first character that a string in double quotes can't pass over, from `index` on. */
export function plainEnd(chunk: string, index: number): number {
  const size = chunk.length
  const near = Math.min(size, index + LOOKS)
  for (; index < near; index++) {
    if (STOPS[chunk.charCodeAt(index)] === 1) return index
  }
  if (index === size) return size
  STRING_STOP.lastIndex = index
  return STRING_STOP.test(chunk) ? STRING_STOP.lastIndex - 1 : size
}

/** The same in other quotes; `quote` ends the string. */
export function foreignEnd(chunk: string, index: number, quote: number): number {
  for (; index < chunk.length; index++) {
    const code = chunk.charCodeAt(index)
    if (code === quote || STOPS[code] === 1) return index
  }
  return index
}

/** What the character behind a backslash shows; 0 if the two are no escape. */
export function escapeKind(code: number): number {
  return code < 128 ? KINDS[code]! : 0
}

/** What such an escape means. */
export function unescape(code: number): string {
  return ESCAPES[code]!
}

/** The value of a hexadecimal digit; -1 for others. */
export function hexDigit(code: number): number {
  if (char.isDigit(code)) return code - char.ZERO
  const lower = code | 0x20
  return lower >= char.LOWER_A && lower <= char.LOWER_F ? lower - char.LOWER_A + 10 : -1
}

/** What ends a string that begins with the character; 0 if it is no quote but JSON's own. */
export function foreignQuote(code: number, curly: boolean): number {
  if (code === char.APOSTROPHE) return code
  return curly && code === char.OPEN_CURLY ? char.CLOSE_CURLY : 0
}

/** How many units of a key without quotes stand at `index`: 0 for none, 2 for a pair. */
export function bareUnits(chunk: string, index: number, first: boolean): number {
  const point = chunk.codePointAt(index)!
  if (!(first ? BARE_FIRST : BARE_REST).test(String.fromCodePoint(point))) return 0
  return point > 0xffff ? 2 : 1
}

/** A unit in a message. Half of a surrogate pair is not shown, since the other half may be missing. */
export function quoteUnit(code: number): string {
  if ((code & 0xf800) === 0xd800) return 'a character beyond ASCII'
  return code < 0x20 ? 'a control character' : `“${String.fromCharCode(code)}”`
}
