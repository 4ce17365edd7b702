/**
 * Makes model text safe and measurable for a terminal.
 *
 * A model's text is foreign: an escape sequence in it could move the cursor, set the title or fake
 * output, and a bidirectional override could show other code than there is. So control characters
 * are shown, never sent; only line breaks and tabs pass.
 */

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const EACH_UNSAFE = new RegExp(UNSAFE, 'g')

/** `text` with control characters as pictures (`␛`) or numbers (`<U+202E>`). */
export function visible(text: string): string {
  return UNSAFE.test(text) ? text.replace(EACH_UNSAFE, picture) : text
}

function picture(character: string): string {
  const code = character.charCodeAt(0)
  // Unicode has pictures for the ASCII ones.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** `visible` for text in pieces: a CRLF cut in two is one line break, too. */
export class VisibleText {
  private carriageReturn = false

  /** The next piece. A carriage return at its end waits for what follows. */
  take(piece: string): string {
    let text = this.carriageReturn ? `\r${piece}` : piece
    this.carriageReturn = text.endsWith('\r')
    if (this.carriageReturn) text = text.slice(0, -1)
    return visible(text.includes('\r') ? text.replaceAll('\r\n', '\n') : text)
  }

  /** What waited, at the end of the text. */
  end(): string {
    const rest = this.carriageReturn ? visible('\r') : ''
    this.carriageReturn = false
    return rest
  }
}

/**
 * JSON as it may be printed: controls that `JSON.stringify` leaves as they are become escapes. They
 * stand in strings only, so the value stays the same.
 */
export function safeJson(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, escape)
}

/** One line of a log: no control character passes, wherever it stands. */
export function safeLine(line: string): string {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, escape)
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * How many columns a character takes. Where terminals differ (marks of some scripts, emoji of
 * several code points) the answer is the larger one: a row that is too short does no harm, but one
 * that is too long wraps, and what is painted over it misses.
 */
export function columnsOf(codePoint: number): 0 | 1 | 2 {
  if (codePoint < 0x300) return 1
  if (isIn(codePoint, MARKS)) return 0
  if (codePoint < 0x1100) return 1
  if (isIn(codePoint, WIDE)) return 2
  return EMOJI.test(String.fromCodePoint(codePoint)) ? 2 : 1
}

/** The columns of a whole text without line breaks. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += columnsOf(character.codePointAt(0) ?? 0)
  return width
}

/** As much of `text` as fits into `columns`, with `…` where it was cut. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let width = 1
  let kept = ''
  for (const character of text) {
    width += columnsOf(character.codePointAt(0) ?? 0)
    if (width > columns) break
    kept += character
  }
  return columns < 1 ? '' : `${kept}…`
}

/** Lines of at most `columns`, broken at spaces; only a word that is too long by itself is not. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || widthOf(longer) <= columns) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

const EMOJI = /^\p{Emoji}$/u

type Ranges = readonly (readonly [first: number, last: number])[]

function isIn(codePoint: number, ranges: Ranges): boolean {
  return ranges.some(([first, last]) => codePoint >= first && codePoint <= last)
}

/** Marks that every terminal joins to the character before them. */
const MARKS: Ranges = [
  [0x300, 0x36f],
  [0x200b, 0x200f],
  [0x20d0, 0x20ef],
  [0xfe00, 0xfe0f],
]

/** East Asian wide and full-width blocks and the planes of emoji, in coarse ranges. */
const WIDE: Ranges = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2630, 0x268f],
  [0x2e80, 0x303e],
  [0x3040, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x1b2ff],
  [0x1d300, 0x1d37f],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
]
