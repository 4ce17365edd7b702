/**
 * Reads one JSON value of any size, a character once, and says where it ends.
 *
 * A pushdown machine with numbers for states: it validates as it goes, so that what passed through
 * it is the beginning of valid JSON at any time. It keeps no text, save (when value tokens are
 * wanted) the open key or atom. RFC 8259 is the grammar.
 */
import * as char from '../chars.ts'
import type { JsonValue } from '../events.ts'
import type { Sink } from './body.ts'

// Where the machine stands, `|` being the place.
const VALUE = 0 // {"a": |1}
const FIRST_ITEM = 1 // [|1]
const FIRST_KEY = 2 // {|"a": 1}
const KEY = 3 // {"a": 1, |"b": 2}
const COLON = 4 // {"a"|: 1}
const AFTER = 5 // {"a": 1|}
const STRING = 6 // "ab|c"
const ESCAPE = 7 // "\|n"
const HEX = 8 // "\u|00e9"
const NUMBER = 9 // 1|2
const WORD = 10 // tr|ue
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10

// Where a number stands.
const SIGN = 0 // -|1
const NOUGHT = 1 // 0|
const WHOLE = 2 // 1|2
const POINT = 3 // 1.|5
const FRACTION = 4 // 1.5|
const EXPONENT = 5 // 1e|5
const EXPONENT_SIGN = 6 // 1e+|5
const POWER = 7 // 1e5|

/** So many characters are looked at one by one; behind them a native search is faster. */
const LOOKS = 48
const STRING_STOP = /["\\\u0000-\u001f]/g
/** 1 for the characters that end a run of plain string characters. */
const STOPS = new Uint8Array(65_536)
STOPS.fill(1, 0, 0x20)
STOPS[char.QUOTE] = 1
STOPS[char.BACKSLASH] = 1
/** The same, and the first halves of surrogate pairs: a chunk must not be passed on with one. */
const VERBATIM = STOPS.slice().fill(1, 0xd800, 0xdc00)

const WORDS: Readonly<Record<number, string>> = {
  [char.LOWER_T]: 'true',
  [char.LOWER_F]: 'false',
  [char.LOWER_N]: 'null',
}
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

/** Index of the first character that a string can't pass over, from `index` on. */
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

/** A unit in a message. Half of a surrogate pair is not shown, since the other half may be missing. */
export function quoteUnit(code: number): string {
  if ((code & 0xf800) === 0xd800) return 'a character beyond ASCII'
  return code < 0x20 ? 'a control character' : `“${String.fromCharCode(code)}”`
}

export class JsonScanner {
  /** The value is complete. */
  done = false
  /** Why the character at which `take` stopped can't stand there; empty while all is well. */
  expected = ''
  /** The value is nested deeper than allowed. */
  tooDeep = false
  /** Offset of the last string's first character, keys counted; -1 for none. */
  lastString = -1
  private wanted = true
  private tokens = false
  private state: State = VALUE
  /** Whether each open container is an object, from the outermost on; `depth` are in use. */
  private readonly objects: boolean[] = []
  private depth = 0
  private readonly counts: number[] = []
  /** The innermost open container is an object. */
  private inObject = false
  private inKey = false
  private number = SIGN
  private word = ''
  /** Characters of `word`, or hexadecimal digits, read so far. */
  private at = 0
  private hex = 0
  /** A high surrogate's escape that waits for its other half. */
  private half = 0
  private atom = ''
  private key = ''

  /** See `Body.verbatim`: inside a string whose value nobody asked for. */
  get verbatim(): Uint8Array | undefined {
    return this.state === STRING && !this.tokens ? VERBATIM : undefined
  }

  /** Begins a value. `wanted`: its value tokens go to the sink, if that takes any. */
  open(wanted: boolean): void {
    this.wanted = wanted
    this.done = false
    this.expected = ''
    this.tooDeep = false
    this.lastString = -1
    this.state = VALUE
    this.depth = 0
    if (this.counts.length > 0) this.counts.length = 0
    this.inObject = false
    this.inKey = false
    this.half = 0
    this.atom = ''
    this.key = ''
  }

  /** Reads on; stops at the chunk's end, behind the value, or at what can't stand there. */
  take(chunk: string, index: number, sink: Sink): number {
    const size = chunk.length
    this.tokens = this.wanted && sink.tokens
    while (index < size) {
      const { state } = this
      if (state === STRING) {
        const end = plainEnd(chunk, index)
        if (this.tokens && end > index) this.characters(chunk.slice(index, end), sink)
        index = end
        if (index === size) return index
        const code = chunk.charCodeAt(index)
        if (code === char.BACKSLASH) this.state = ESCAPE
        else if (code === char.QUOTE) this.endString(sink)
        else return this.stop('an escape for the control character', index)
      } else if (state === NUMBER) {
        index = this.takeNumber(chunk, index, sink)
        if (this.done || this.expected !== '') return index
        continue
      } else {
        const code = chunk.charCodeAt(index)
        if (state >= ESCAPE) {
          if (!this.takeOne(code, sink)) return index
        } else if (code > char.SPACE) {
          if (!this.structure(code, sink.base + index, sink)) return index
          // A number is read as a run, from its first character on.
          if (this.state === NUMBER) continue
        } else if (!char.isJsonSpace(code)) return this.stop('a value or white space', index)
      }
      index++
      if (this.done) return index
    }
    return index
  }

  private stop(expected: string, index: number): number {
    this.expected = expected
    return index
  }

  /** A character between tokens. False if it can't stand there. */
  private structure(code: number, offset: number, sink: Sink): boolean {
    switch (this.state) {
      case AFTER:
        if (code === char.COMMA) {
          this.state = this.inObject ? KEY : VALUE
          return true
        }
        if (code === (this.inObject ? char.CLOSE_BRACE : char.CLOSE_BRACKET))
          return this.endContainer(sink)
        return this.refuse(this.afterExpected())
      case COLON:
        if (code !== char.COLON) return this.refuse('“:”')
        this.state = VALUE
        return true
      case KEY:
        return this.beginKey(code, offset, 'a key in double quotes')
      case FIRST_KEY:
        if (code === char.CLOSE_BRACE) return this.endContainer(sink)
        return this.beginKey(code, offset, '“}” or a key in double quotes')
      case FIRST_ITEM:
        if (code === char.CLOSE_BRACKET) return this.endContainer(sink)
        return this.beginValue(code, offset, sink)
      default:
        return this.beginValue(code, offset, sink)
    }
  }

  private refuse(expected: string): boolean {
    this.expected = expected
    return false
  }

  private beginKey(code: number, offset: number, expected: string): boolean {
    if (code !== char.QUOTE) return this.refuse(expected)
    this.inKey = true
    this.key = ''
    this.state = STRING
    this.lastString = offset
    return true
  }

  private beginValue(code: number, offset: number, sink: Sink): boolean {
    if (this.tokens && !this.inObject && this.depth > 0)
      sink.enter(this.counts[this.counts.length - 1]!++)
    switch (code) {
      case char.QUOTE:
        this.inKey = false
        this.state = STRING
        this.lastString = offset
        if (this.tokens) sink.set('')
        return true
      case char.OPEN_BRACE:
      case char.OPEN_BRACKET:
        if (this.depth >= sink.limits.depth) {
          this.tooDeep = true
          return this.refuse(`values nested ${sink.limits.depth} deep at the most`)
        }
        if (this.tokens) sink.set(code === char.OPEN_BRACE ? {} : [])
        this.inObject = code === char.OPEN_BRACE
        this.objects[this.depth++] = this.inObject
        if (this.tokens) this.counts.push(0)
        this.state = this.inObject ? FIRST_KEY : FIRST_ITEM
        return true
      case char.LOWER_T:
      case char.LOWER_F:
      case char.LOWER_N:
        this.word = WORDS[code]!
        this.at = 1
        this.state = WORD
        return true
      default:
        if (code !== char.MINUS && !char.isDigit(code)) return this.refuse('a value')
        // Not consumed here: `takeNumber` reads the number as a run.
        this.number = -1
        this.atom = ''
        this.state = NUMBER
        return true
    }
  }

  private endContainer(sink: Sink): boolean {
    this.depth--
    this.inObject = this.depth > 0 && this.objects[this.depth - 1]!
    if (this.tokens) {
      this.counts.pop()
      sink.close()
    }
    this.endValue(sink)
    return true
  }

  private endValue(sink: Sink): void {
    this.state = AFTER
    if (this.depth === 0) this.done = true
    else if (this.tokens) sink.leave()
  }

  private takeNumber(chunk: string, index: number, sink: Sink): number {
    const from = index
    for (; index < chunk.length; index++) {
      const next = numberStep(this.number, chunk.charCodeAt(index))
      if (next < 0) break
      this.number = next
    }
    if (this.tokens) this.atom += chunk.slice(from, index)
    if (index === chunk.length) return index
    const whole = this.number === NOUGHT || this.number === WHOLE
    if (!whole && this.number !== FRACTION && this.number !== POWER)
      return this.stop('a digit', index)
    // The atom counts with the character that ends it, so that its token has a delta to ride on.
    if (!this.endsAtom(chunk.charCodeAt(index))) return this.stop(this.afterExpected(), index)
    if (this.tokens) sink.set(Number(this.atom))
    this.endValue(sink)
    return index
  }

  private endsAtom(code: number): boolean {
    if (this.depth === 0 || code === char.COMMA || char.isJsonSpace(code)) return true
    return code === (this.inObject ? char.CLOSE_BRACE : char.CLOSE_BRACKET)
  }

  private afterExpected(): string {
    return this.inObject ? '“,” or “}”' : '“,” or “]”'
  }

  /** A character of an escape or a word. False if it can't stand there. */
  private takeOne(code: number, sink: Sink): boolean {
    if (this.state === WORD) {
      if (code !== this.word.charCodeAt(this.at)) return this.refuse(`“${this.word}”`)
      if (++this.at < this.word.length) return true
      if (this.tokens) sink.set(JSON.parse(this.word) as JsonValue)
      this.endValue(sink)
      return true
    }
    if (this.state === ESCAPE) {
      if (code === char.LOWER_U) {
        this.state = HEX
        this.at = 0
        this.hex = 0
        return true
      }
      const character = ESCAPES[code]
      if (character === undefined) return this.refuse('an escape that JSON knows')
      this.state = STRING
      if (this.tokens) this.characters(character, sink)
      return true
    }
    const digit = hexDigit(code)
    if (digit < 0) return this.refuse('four hexadecimal digits')
    this.hex = this.hex * 16 + digit
    if (++this.at < 4) return true
    this.state = STRING
    if (this.tokens) this.characters(String.fromCharCode(this.hex), sink)
    return true
  }

  /** Decoded characters. The first half of a pair waits for the second. */
  private characters(text: string, sink: Sink): void {
    if (this.half !== 0) {
      text = String.fromCharCode(this.half) + text
      this.half = 0
    }
    const last = text.charCodeAt(text.length - 1)
    if (char.isHighSurrogate(last)) {
      this.half = last
      text = text.slice(0, -1)
      if (text === '') return
    }
    if (this.inKey) this.key += text
    else sink.append(text)
  }

  private endString(sink: Sink): void {
    if (this.half !== 0) {
      const text = String.fromCharCode(this.half)
      this.half = 0
      if (this.inKey) this.key += text
      else sink.append(text)
    }
    if (!this.inKey) {
      if (this.tokens) sink.close()
      this.endValue(sink)
      return
    }
    if (this.tokens) sink.enter(this.key)
    this.state = COLON
  }
}

/** The next place in a number; -1 if the character is no part of it. */
function numberStep(state: number, code: number): number {
  const digit = char.isDigit(code)
  switch (state) {
    case -1:
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

function hexDigit(code: number): number {
  if (char.isDigit(code)) return code - char.ZERO
  const lower = code | 0x20
  return lower >= char.LOWER_A && lower <= char.LOWER_F ? lower - char.LOWER_A + 10 : -1
}
