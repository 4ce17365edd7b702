/**
 * Reads one JSON value of any size, a character once, and makes valid JSON of it.
 *
 * A pushdown machine with numbers for states: what it let out is the beginning of valid JSON at any
 * time. RFC 8259 is the grammar; where a model breaks its letter and the meaning is plain, an edit
 * (`JsonEdits`) repairs it, unless reading is strict. Valid JSON is never touched. It keeps no text,
 * save the token that is held and (when value tokens are wanted) the open key or atom.
 */
import * as char from '../chars.ts'
import type { JsonValue } from '../events.ts'
import type { JsonReading } from '../options.ts'
import { JsonEdits, type JsonSink } from './json-edits.ts'
import { BEFORE, isNumber, numberStep } from './json-number.ts'
import {
  INVALID,
  SUSPICIOUS,
  VERBATIM,
  bareUnits,
  escapeKind,
  foreignEnd,
  foreignQuote,
  hexDigit,
  plainEnd,
  unescape,
} from './json-text.ts'

// Where the machine stands, `|` being the place. Up to `AFTER`: between tokens.
const VALUE = 0 // {"a": |1}
const ITEM = 1 // [1, |2]
const FIRST_ITEM = 2 // [|1]
const FIRST_KEY = 3 // {|"a": 1}
const KEY = 4 // {"a": 1, |"b": 2}
const COLON = 5 // {"a"|: 1}
const AFTER = 6 // {"a": 1|}
const STRING = 7 // "ab|c"
const NUMBER = 8 // 1|2
const ESCAPE = 9 // "\|n"
const HEX = 10 // "\u|00e9"
const WORD = 11 // tr|ue
const GUESS = 12 // "a" |b", where quotes are guessed
const BARE_KEY = 13 // {a|b: 1}
const OPENED = 14 // {|{"a": 1}}, where braces may be doubled
const CLOSED = 15 // {{"a": 1}|}
// From here on characters are dropped.
const PYTHON = 16 // Tr|ue
const SLASH = 17 // /|/
const LINE = 18 // // a|b
const BLOCK = 19 // /* a|b */
const STAR = 20 // /* ab *|/
type State = number

// What an open container is.
const LIST = 0
const OBJECT = 1
/** An object that began with two braces. */
const TWICE = 2

// How far a step goes; a negative one goes back.
const TAKEN = 1
const AGAIN = 0
const STOP: number = -(2 ** 30)

const WORDS: Readonly<Record<number, string>> = {
  [char.LOWER_T]: 'true',
  [char.LOWER_F]: 'false',
  [char.LOWER_N]: 'null',
  [char.UPPER_T]: 'True',
  [char.UPPER_F]: 'False',
  [char.UPPER_N]: 'None',
}
const MEANINGS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

export class JsonScanner extends JsonEdits {
  /** The value is complete. */
  done = false
  /** Why the character at which `take` stopped can't stand there; empty while all is well. */
  expected = ''
  /** The value is nested deeper than allowed. */
  tooDeep = false
  /** Offset of the last string's first character, keys counted; -1 for none. */
  lastString = -1
  /** The decoded text of the last key, or of the text that was read alone. */
  key = ''
  /** Every `{{` is one brace. */
  doubled = false
  /** The value was an object that began with two braces, and the second of its end may follow. */
  twice = false
  /** The first suspicious string, quotes and all; -1 for none. */
  suspectStart = -1
  suspectEnd = -1
  /** A `<` in a line comment is for the caller to look at. */
  private readonly markers: boolean
  private wanted = false
  /** A text, or a comment, is read and nothing else. */
  private alone = false
  private tokens = false
  private reading: JsonReading | undefined
  private lenient = true
  private mayDouble = false
  private state: State = VALUE
  /** Where a comment stands. */
  private back: State = VALUE
  /** What each open container is, from the outermost on; `depth` are in use. */
  private readonly containers: number[] = []
  private depth = 0
  private readonly counts: number[] = []
  /** The innermost open container is an object. */
  private inObject = false
  private inKey = false
  /** What ends the open string. */
  private quote = char.QUOTE
  /** Whether that is a guess, and whether it would be one. */
  private guesses = false
  private guessing = false
  private escapes = 0
  private number = BEFORE
  private word = ''
  /** Characters of `word`, or hexadecimal digits, read so far. */
  private at = 0
  private hex = 0
  /** A high surrogate's escape that waits for its other half. */
  private half = 0
  private atom = ''
  /** A number's token waits, since the comma that ended it is held. */
  private waits = false

  constructor(markers: boolean) {
    super()
    this.markers = markers
  }

  /** See `Body.verbatim`: inside a string whose value nobody asked for. */
  get verbatim(): Uint8Array | undefined {
    const plain = this.quote === char.QUOTE && !this.guesses
    return this.state === STRING && plain && !this.tokens ? VERBATIM : undefined
  }

  /** Inside a comment that a close marker ends. */
  get inLine(): boolean {
    return this.state === LINE
  }

  /** A call begins. */
  clear(): void {
    this.state = VALUE
    this.doubled = false
    this.lastString = -1
    this.suspectStart = -1
  }

  /** Takes over what another has found suspicious. */
  suspectAs({ suspectStart, suspectEnd }: JsonScanner): void {
    if (this.suspectStart >= 0) return
    this.suspectStart = suspectStart
    this.suspectEnd = suspectEnd
  }

  /**
   * Begins a value of the arguments, or (not `wanted`) one that is none of theirs. `mayDouble`: it is a call's root,
   * which says whether braces are doubled.
   */
  open(wanted: boolean, mayDouble = false): void {
    this.begin(VALUE)
    this.wanted = wanted
    this.alone = false
    this.mayDouble = mayDouble
  }

  /** Begins a key, or a string that is read like one; or goes on in one in double quotes. */
  openText(begun?: string): void {
    this.begin(begun === undefined ? KEY : STRING)
    this.alone = true
    this.wanted = false
    this.key = begun ?? ''
    this.inKey = true
    this.quote = char.QUOTE
    this.guesses = false
  }

  /** Begins what may stand between tokens beside white space: a comment or a byte order mark. */
  openGap(): void {
    this.begin(AFTER)
    this.alone = true
  }

  private begin(state: State): void {
    this.state = state
    this.done = false
    this.expected = ''
    this.tooDeep = false
    this.twice = false
    this.depth = 0
    if (this.counts.length > 0) this.counts.length = 0
    this.inObject = false
    this.inKey = false
    this.half = 0
    this.waits = false
    this.clearEdits()
  }

  /** Reads on; stops at the chunk's end, behind the value, or at what can't stand there. */
  take(chunk: string, index: number, sink: JsonSink): number {
    const size = chunk.length
    this.tokens = this.alone || sink.tokens
    if (sink.reading !== this.reading) this.read(sink.reading)
    this.from = index
    this.mark = index
    while (index < size) {
      const { state } = this
      let step: number
      if (state === STRING) {
        const plain = this.quote === char.QUOTE
        const end = plain ? plainEnd(chunk, index) : foreignEnd(chunk, index, this.quote)
        if (this.tokens && end > index)
          this.characters(chunk.slice(index, end), sink.base + end, sink)
        index = end
        if (index === size) break
        step = this.takeStop(chunk.charCodeAt(index), chunk, index, sink)
      } else if (state === NUMBER) {
        index = this.takeNumber(chunk, index, sink)
        step = this.expected === '' ? AGAIN : STOP
      } else {
        const code = chunk.charCodeAt(index)
        if (state > AFTER) step = this.takeOne(code, chunk, index, sink)
        else if (code > char.SPACE) step = this.structure(code, chunk, index, sink)
        else step = char.isJsonSpace(code) ? TAKEN : this.refuse('a value or white space')
      }
      if (step === STOP) {
        this.endRun(chunk, index, true, sink)
        return index
      }
      index += step
      if (this.done) break
    }
    if (this.holds || this.state >= PYTHON) this.endRun(chunk, index, false, sink)
    else if (this.from < index) sink.pass(chunk, this.from, index)
    return index
  }

  private read(reading: JsonReading): void {
    this.reading = reading
    this.lenient = !reading.strict
    this.guessing = this.lenient && reading.guessQuotes
  }

  /** Delivers what the chunk has left. `stopped`: nothing more will be read of this value. */
  private endRun(chunk: string, index: number, stopped: boolean, sink: JsonSink): void {
    if (this.state >= PYTHON) return this.dropTo(chunk, index, sink)
    if (this.holds && this.state < STRING && this.heldSpace(index) > sink.limits.whitespace) {
      this.keep(chunk, sink)
    }
    if (!this.holds) this.cut(chunk, index, sink)
    else if (stopped) this.giveUpHeld(chunk, index, sink)
    else this.keepHeld(chunk, sink)
  }

  /** What is held stays as it is. */
  private keep(chunk: string, sink: JsonSink, less = 0): void {
    if (this.waits) {
      this.waits = false
      sink.set(Number(this.atom))
      sink.leave()
    }
    this.release(less, chunk, sink)
  }

  private refuse(expected: string): number {
    this.expected = expected
    return STOP
  }

  // ------------------------------------------------------------------ between tokens

  private structure(code: number, chunk: string, index: number, sink: JsonSink): number {
    switch (this.state) {
      case AFTER:
        if (code === char.COMMA) {
          this.state = this.inObject ? KEY : ITEM
          if (this.lenient) this.hold(index)
          return TAKEN
        }
        if (code === this.closer) return this.endContainer(sink)
        return this.addComma(code, chunk, index, sink)
      case COLON:
        if (code !== char.COLON) return this.takeGap(code, chunk, index, sink, '“:”')
        this.state = VALUE
        return TAKEN
      case KEY:
        if (code === char.QUOTE) return this.beginPlainKey(chunk, index, sink)
        if (code === char.CLOSE_BRACE && this.dropComma(chunk, index, sink))
          return this.endContainer(sink)
        return this.beginKey(code, chunk, index, sink, 'a key in double quotes')
      case FIRST_KEY:
        if (code === char.QUOTE) return this.beginPlainKey(chunk, index, sink)
        if (code === char.CLOSE_BRACE) return this.endContainer(sink)
        return this.beginKey(code, chunk, index, sink, '“}” or a key in double quotes')
      case ITEM:
        if (code === char.CLOSE_BRACKET && this.dropComma(chunk, index, sink))
          return this.endContainer(sink)
        return this.beginValue(code, chunk, index, sink)
      case FIRST_ITEM:
        if (code === char.CLOSE_BRACKET) return this.endContainer(sink)
        return this.beginValue(code, chunk, index, sink)
      default:
        return this.beginValue(code, chunk, index, sink)
    }
  }

  private get closer(): number {
    return this.inObject ? char.CLOSE_BRACE : char.CLOSE_BRACKET
  }

  private get afterExpected(): string {
    return this.inObject ? '“,” or “}”' : '“,” or “]”'
  }

  /** A closing bracket stands behind a comma. False if the comma may not be dropped. */
  private dropComma(chunk: string, index: number, sink: JsonSink): boolean {
    if (!this.holds || this.heldSpace(index) > sink.limits.whitespace) return false
    sink.repair('trailing-comma')
    this.keep(chunk, sink, 1)
    return true
  }

  /** Something else than a comma or a closing bracket stands behind a value. */
  private addComma(code: number, chunk: string, index: number, sink: JsonSink): number {
    if (!this.beginsMember(code)) return this.takeGap(code, chunk, index, sink, this.afterExpected)
    sink.repair('missing-comma')
    this.insert(',', chunk, index, sink)
    this.state = this.inObject ? KEY : ITEM
    return AGAIN
  }

  /** Whether the character begins a member so clearly that a comma may be missing before it. */
  private beginsMember(code: number): boolean {
    if (!this.lenient || this.depth === 0) return false
    if (this.inObject) return code === char.QUOTE || code === char.APOSTROPHE
    return code === char.OPEN_BRACE || code === char.OPEN_BRACKET
  }

  /** A comment or a byte order mark, or what can't stand between tokens. */
  private takeGap(
    code: number,
    chunk: string,
    index: number,
    sink: JsonSink,
    expected: string,
  ): number {
    if (!this.lenient || !isGap(code)) return this.refuse(expected)
    this.owe(chunk, index, sink)
    if (code === char.SLASH) {
      this.back = this.state
      this.state = SLASH
      return TAKEN
    }
    sink.repair('byte-order-mark')
    this.dropTo(chunk, index + 1, sink)
    this.done = this.alone
    return TAKEN
  }

  private beginPlainKey(chunk: string, index: number, sink: JsonSink): number {
    if (this.holds) this.keep(chunk, sink)
    this.inKey = true
    this.key = ''
    this.beginString(char.QUOTE, sink.base + index)
    return TAKEN
  }

  /** A key that does not begin with a double quote. */
  private beginKey(
    code: number,
    chunk: string,
    index: number,
    sink: JsonSink,
    expected: string,
  ): number {
    const quote = this.foreign(code, sink)
    const units = quote === 0 && this.lenient ? bareUnits(chunk, index, true) : 0
    if (quote === 0 && units === 0) return this.takeGap(code, chunk, index, sink, expected)
    if (this.holds) this.keep(chunk, sink)
    this.inKey = true
    this.key = ''
    if (quote !== 0) return this.beginForeign(quote, chunk, index, sink)
    sink.repair('unquoted-key')
    this.insert('"', chunk, index, sink)
    if (this.tokens) this.key = chunk.slice(index, index + units)
    this.state = BARE_KEY
    return units
  }

  /** What ends a string in quotes that are not JSON's; 0 if it is none. */
  private foreign(code: number, sink: JsonSink): number {
    return this.lenient ? foreignQuote(code, sink.reading.curlyQuotes) : 0
  }

  private beginString(quote: number, offset: number): void {
    this.quote = quote
    this.guesses = this.guessing && this.wanted && quote === char.QUOTE
    this.state = STRING
    this.escapes = 0
    this.lastString = offset
  }

  private beginForeign(quote: number, chunk: string, index: number, sink: JsonSink): number {
    sink.repair(quote === char.APOSTROPHE ? 'single-quotes' : 'curly-quotes')
    this.beginString(quote, sink.base + index)
    this.drop(chunk, index, sink)
    if (this.tokens && !this.inKey) sink.set('')
    sink.write('"')
    return TAKEN
  }

  private beginValue(code: number, chunk: string, index: number, sink: JsonSink): number {
    if (isGap(code)) return this.takeGap(code, chunk, index, sink, 'a value')
    if (this.holds) this.keep(chunk, sink)
    if (this.tokens && !this.inObject && this.depth > 0)
      sink.enter(this.counts[this.counts.length - 1]!++)
    switch (code) {
      case char.QUOTE:
        this.inKey = false
        this.beginString(code, sink.base + index)
        if (this.tokens) sink.set('')
        return TAKEN
      case char.OPEN_BRACE:
      case char.OPEN_BRACKET:
        return this.beginContainer(code === char.OPEN_BRACE, sink)
      case char.UPPER_T:
      case char.UPPER_F:
      case char.UPPER_N:
        if (!this.lenient) return this.refuse('a value')
        this.cut(chunk, index, sink)
        return this.beginWord(code, PYTHON)
      case char.LOWER_T:
      case char.LOWER_F:
      case char.LOWER_N:
        return this.beginWord(code, WORD)
      default:
        return this.beginOther(code, chunk, index, sink)
    }
  }

  private beginWord(code: number, state: State): number {
    this.word = WORDS[code]!
    this.at = 1
    this.state = state
    return TAKEN
  }

  private beginOther(code: number, chunk: string, index: number, sink: JsonSink): number {
    const quote = this.foreign(code, sink)
    if (quote !== 0) {
      this.inKey = false
      return this.beginForeign(quote, chunk, index, sink)
    }
    if (code !== char.MINUS && !char.isDigit(code)) return this.refuse('a value')
    // Not consumed here: `takeNumber` reads the number as a run.
    this.number = BEFORE
    this.atom = ''
    this.state = NUMBER
    return AGAIN
  }

  private beginContainer(object: boolean, sink: JsonSink): number {
    const { depth } = sink.limits
    if (this.depth >= depth) {
      this.tooDeep = true
      return this.refuse(`values nested ${depth} deep at the most`)
    }
    if (this.tokens) {
      sink.set(object ? {} : [])
      this.counts.push(0)
    }
    this.inObject = object
    this.containers[this.depth++] = object ? OBJECT : LIST
    const mayDouble = this.doubled || (this.mayDouble && this.depth === 1 && this.lenient)
    this.state = object ? (mayDouble ? OPENED : FIRST_KEY) : FIRST_ITEM
    return TAKEN
  }

  private endContainer(sink: JsonSink): number {
    this.depth--
    const twice = this.containers[this.depth] === TWICE
    this.inObject = this.depth > 0 && this.containers[this.depth - 1] !== LIST
    if (this.tokens) {
      this.counts.pop()
      sink.close()
    }
    this.endValue(sink)
    if (twice) {
      this.twice = this.done
      this.state = CLOSED
    }
    return TAKEN
  }

  private endValue(sink: JsonSink): void {
    this.state = AFTER
    if (this.depth === 0) this.done = true
    else if (this.tokens) sink.leave()
  }

  // ------------------------------------------------------------------ inside strings

  /** A character that ends a run of plain ones. */
  private takeStop(code: number, chunk: string, index: number, sink: JsonSink): number {
    if (code === char.BACKSLASH) return this.beginEscape(chunk, index, sink)
    if (code === this.quote) {
      if (this.guesses) {
        this.hold(index)
        this.state = GUESS
        return TAKEN
      }
      if (code === char.QUOTE) {
        this.endString(sink.base + index + 1, sink)
        return TAKEN
      }
      this.drop(chunk, index, sink)
      this.endString(sink.base + index + 1, sink)
      sink.write('"')
      return TAKEN
    }
    if (code === char.QUOTE) {
      this.insert('\\', chunk, index, sink)
      if (this.tokens) this.characters('"', sink.base + index + 1, sink)
      return TAKEN
    }
    if (!this.lenient) return this.refuse('an escape for the control character')
    const character = String.fromCharCode(code)
    sink.repair('control-character')
    this.drop(chunk, index, sink)
    if (this.tokens) this.characters(character, sink.base + index + 1, sink)
    sink.write(JSON.stringify(character).slice(1, -1))
    return TAKEN
  }

  /** An escape of two characters that is whole is taken at once, as `takeEscape` would do it. */
  private beginEscape(chunk: string, index: number, sink: JsonSink): number {
    const kind = index + 1 < chunk.length ? escapeKind(chunk.charCodeAt(index + 1)) : 0
    if (kind !== 0) {
      this.escapes |= kind
      if (this.tokens) {
        const character = unescape(chunk.charCodeAt(index + 1))
        this.characters(character, sink.base + index + 2, sink)
      }
      return 2
    }
    this.state = ESCAPE
    if (this.lenient) this.hold(index)
    return TAKEN
  }

  private takeEscape(code: number, chunk: string, index: number, sink: JsonSink): number {
    if (code === char.LOWER_U) {
      this.state = HEX
      this.at = 0
      this.hex = 0
      return TAKEN
    }
    const kind = escapeKind(code)
    if (kind !== 0) {
      this.escapes |= kind
      return this.endEscape(unescape(code), 0, chunk, index, sink)
    }
    if (code === char.APOSTROPHE && this.quote === code)
      return this.endEscape("'", 1, chunk, index, sink)
    return this.keepBackslash('an escape that JSON knows', chunk, index, sink)
  }

  private takeHex(code: number, chunk: string, index: number, sink: JsonSink): number {
    const digit = hexDigit(code)
    if (digit < 0) return this.keepBackslash('four hexadecimal digits', chunk, index, sink)
    this.hex = this.hex * 16 + digit
    if (++this.at < 4) return TAKEN
    return this.endEscape(String.fromCharCode(this.hex), 0, chunk, index, sink)
  }

  /** The escape's last character, at `index`, has come; `less` of its first ones are dropped. */
  private endEscape(
    character: string,
    less: number,
    chunk: string,
    index: number,
    sink: JsonSink,
  ): number {
    this.state = STRING
    if (this.tokens) this.characters(character, sink.base + index + 1, sink)
    if (this.holds) this.release(less, chunk, sink)
    return TAKEN
  }

  /** The backslash that is held escapes nothing: it is text, and so is what follows it. */
  private keepBackslash(expected: string, chunk: string, index: number, sink: JsonSink): number {
    if (!this.lenient) return this.refuse(expected)
    this.escapes |= INVALID
    this.state = STRING
    sink.repair('invalid-escape')
    if (this.tokens) {
      // It counts as read here, where it was decided.
      const text = this.held + chunk.slice(this.mark, index)
      this.characters(text, sink.base + index + text.length, sink)
    }
    this.insert('\\', chunk, this.mark, sink)
    this.release(0, chunk, sink)
    return AGAIN
  }

  /** Behind a quote that ends the string only if the right character follows. */
  private takeGuess(code: number, chunk: string, index: number, sink: JsonSink): number {
    const space = this.heldSpace(index)
    const full = space > sink.limits.whitespace
    if (char.isJsonSpace(code) && !full) return TAKEN
    if (full || mayFollowString(code, this.inKey)) {
      this.endString(sink.base + index - space, sink)
      this.release(0, chunk, sink)
      return AGAIN
    }
    sink.repair('inner-quotes')
    this.state = STRING
    const { held, mark } = this
    this.insert('\\', chunk, mark, sink)
    if (this.tokens) this.characters('"', sink.base + index - space, sink)
    this.holds = false
    // White space behind the quote is read again, as the string's.
    if (held === '') return mark + 1 - index
    this.held = ''
    sink.hold('', 0)
    sink.pass(held, 0, 1)
    this.take(held.slice(1), 0, sink)
    this.from = mark
    this.mark = mark
    return mark - index
  }

  /** Decoded characters; the last was read before offset `end`. Half of a pair waits for the other. */
  private characters(text: string, end: number, sink: JsonSink): void {
    const start = end - text.length
    if (this.half !== 0) {
      text = String.fromCharCode(this.half) + text
      this.half = 0
    }
    const last = text.charCodeAt(text.length - 1)
    if (char.isHighSurrogate(last)) {
      this.half = last
      text = text.slice(0, -1)
      if (text === '') return
      end--
    }
    if (this.inKey) this.key += text
    else sink.append(text, start, end)
  }

  private endString(end: number, sink: JsonSink): void {
    if (this.half !== 0) {
      const text = String.fromCharCode(this.half)
      this.half = 0
      if (this.inKey) this.key += text
      else sink.append(text, end - 1, end)
    }
    if ((this.escapes & SUSPICIOUS) === SUSPICIOUS && this.wanted && this.suspectStart < 0) {
      this.suspectStart = this.lastString
      this.suspectEnd = end
    }
    if (this.inKey) return this.endKey(sink)
    if (this.tokens) sink.close()
    this.endValue(sink)
  }

  private endKey(sink: JsonSink): void {
    this.state = COLON
    if (this.alone) this.done = true
    else if (this.tokens) sink.enter(this.key)
  }

  // ------------------------------------------------------------------ other tokens

  private takeNumber(chunk: string, index: number, sink: JsonSink): number {
    const from = index
    for (; index < chunk.length; index++) {
      const next = numberStep(this.number, chunk.charCodeAt(index))
      if (next < 0) break
      this.number = next
    }
    if (this.tokens) this.atom += chunk.slice(from, index)
    if (index === chunk.length) return index
    const code = chunk.charCodeAt(index)
    if (!isNumber(this.number)) this.expected = 'a digit'
    else if (!this.endsAtom(code)) this.expected = this.afterExpected
    else if (!this.tokens) this.endValue(sink)
    else if (code === char.COMMA && this.lenient && this.depth > 0) {
      this.state = AFTER
      this.waits = true
    } else {
      // The atom counts with the character that ends it, so that its token has a delta to ride on.
      if (isGap(code)) this.cut(chunk, index, sink)
      sink.set(Number(this.atom))
      this.endValue(sink)
    }
    return index
  }

  private endsAtom(code: number): boolean {
    if (this.depth === 0 || code === char.COMMA || code === this.closer) return true
    if (char.isJsonSpace(code) || this.beginsMember(code)) return true
    return this.lenient && isGap(code)
  }

  /** A character of a token that is read one by one. */
  private takeOne(code: number, chunk: string, index: number, sink: JsonSink): number {
    switch (this.state) {
      case ESCAPE:
        return this.takeEscape(code, chunk, index, sink)
      case HEX:
        return this.takeHex(code, chunk, index, sink)
      case WORD:
      case PYTHON:
        return this.takeWord(code, chunk, index, sink)
      case GUESS:
        return this.takeGuess(code, chunk, index, sink)
      case BARE_KEY:
        return this.takeBareKey(chunk, index, sink)
      case OPENED:
        this.state = FIRST_KEY
        if (code !== char.OPEN_BRACE) return AGAIN
        this.containers[this.depth - 1] = TWICE
        this.doubled = true
        sink.repair('doubled-braces')
        this.drop(chunk, index, sink)
        return TAKEN
      case CLOSED:
        this.state = AFTER
        if (code !== char.CLOSE_BRACE) return AGAIN
        this.drop(chunk, index, sink)
        return TAKEN
      default:
        return this.takeComment(code, chunk, index, sink)
    }
  }

  private takeWord(code: number, chunk: string, index: number, sink: JsonSink): number {
    const { word } = this
    if (code !== word.charCodeAt(this.at))
      return this.refuse(`a value, such as “${MEANINGS[word] ?? word}”`)
    if (++this.at < word.length) return TAKEN
    const text = MEANINGS[word] ?? word
    if (this.tokens) sink.set(JSON.parse(text) as JsonValue)
    if (this.state === PYTHON) {
      sink.repair('python-literal')
      this.dropTo(chunk, index + 1, sink)
      sink.write(text)
    }
    this.endValue(sink)
    return TAKEN
  }

  private takeBareKey(chunk: string, index: number, sink: JsonSink): number {
    const units = bareUnits(chunk, index, false)
    if (units === 0) {
      this.insert('"', chunk, index, sink)
      this.endKey(sink)
    } else if (this.tokens) this.key += chunk.slice(index, index + units)
    return units
  }

  private takeComment(code: number, chunk: string, index: number, sink: JsonSink): number {
    switch (this.state) {
      case SLASH:
        if (code !== char.SLASH && code !== char.STAR) return this.refuse('“/” or “*”')
        sink.repair('comment')
        this.state = code === char.SLASH ? LINE : BLOCK
        return TAKEN
      case LINE:
        if (code === char.LESS && this.markers) return STOP
        if (code !== char.NEWLINE) return TAKEN
        this.dropTo(chunk, index, sink)
        this.endLine()
        return AGAIN
      case STAR:
        if (code !== char.SLASH) {
          this.state = code === char.STAR ? STAR : BLOCK
          return TAKEN
        }
        this.dropTo(chunk, index + 1, sink)
        this.endLine()
        return TAKEN
      default:
        if (code === char.STAR) this.state = STAR
        return TAKEN
    }
  }

  /**
   * Takes what stood where a marker might have been: data in a line comment, which may end in it,
   * with white space behind. Returns where it stopped; nothing was taken unless that is the end.
   */
  takeData(text: string, sink: JsonSink): number {
    if (this.state !== LINE) return 0
    const line = text.indexOf('\n')
    const end = line < 0 ? text.length : line
    const rest = end + text.slice(end).search(/[^ \t\r\n]|$/)
    if (rest < text.length) return rest
    sink.skip(text, 0, end)
    if (line < 0) return rest
    this.endLine()
    return this.done ? rest : this.take(text, end, sink)
  }

  /** The comment is over. */
  endLine(): void {
    this.state = this.back
    this.done = this.alone
  }
}

/** Whether something that is dropped may begin with the character. */
export function isGap(code: number): boolean {
  return code === char.SLASH || code === char.BYTE_ORDER_MARK
}

/** What shows that the quote before it ended a string, where quotes are guessed. */
function mayFollowString(code: number, inKey: boolean): boolean {
  if (code === char.COLON || code === char.LESS) return true
  return !inKey && (code === char.COMMA || code === char.CLOSE_BRACE || code === char.CLOSE_BRACKET)
}
