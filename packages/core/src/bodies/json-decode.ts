/**
 * Reads arguments that stand in a string, as the string is decoded.
 *
 * A scanner reads the string and hands its characters over as value tokens; another reads those as
 * JSON and writes it. Arguments that were put into a string twice take one of these more. What fails
 * is told at the offset of the character in the source, of an escape its last.
 */
import * as char from '../chars.ts'
import type { Sink } from './body.ts'
import { JsonScanner, isGap } from './json.ts'
import type { JsonSink } from './json-edits.ts'
import { Detached, Tokenless, Written } from './json-sinks.ts'
import { foreignQuote, quoteUnit } from './json-text.ts'

// Where it stands, `|` being the place.
const BEFORE = 0 // "|{\"a\": 1}"
const OBJECT = 1 // "{\"a|\": 1}"
const LIST = 2 // "[|]"
const STRING = 3 // "\"{|}\""
const AFTER = 4 // "{\"a\": 1}|"
const GAP = 5 // "// a|b"
const GLUED = 6 // "{} and |more"
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** So often arguments may stand in a string. */
const LEVELS = 2

const EXPECTED: Readonly<Record<State, string>> = {
  [BEFORE]: 'an object',
  [OBJECT]: 'the rest of the arguments',
  [LIST]: '“]”',
  [STRING]: 'the rest of the string',
  [AFTER]: 'the end of the string',
  [GAP]: 'the rest of the comment',
  [GLUED]: '',
}

export class Decoder extends Tokenless implements JsonSink {
  /** Offset of what can't stand there; -1 while all is well. */
  brokenAt = -1
  expected = ''
  found = ''
  tooDeep = false
  private state: State = BEFORE
  private back: State = BEFORE
  private empty = true
  /** Offset of the characters at hand. */
  private start = 0
  /** An object was read. */
  private whole = false
  /** A brace that may follow it. */
  private braces = 0
  private readonly level: number
  readonly scanner: JsonScanner = new JsonScanner(false)
  private readonly gap = new Detached()
  private readonly written = new Written()
  private nested: Decoder | undefined

  constructor(level = 1) {
    super()
    this.level = level
  }

  /** A string begins. `doubled`: so are the call's braces. */
  begin(doubled: boolean): void {
    this.brokenAt = -1
    this.tooDeep = false
    this.state = BEFORE
    this.empty = true
    this.whole = false
    this.braces = 0
    this.scanner.clear()
    this.scanner.doubled = doubled
  }

  /** See `Body.holds`. */
  get holds(): boolean {
    return this.scanner.holds || (this.state === STRING && this.nested!.holds)
  }

  override get tokens(): boolean {
    return true
  }

  pass(): void {}
  write(): void {}

  append(text: string, start: number, end: number): void {
    this.start = start
    const base = end - text.length
    this.empty = false
    for (let index = 0; index < text.length && this.brokenAt < 0;) {
      index = this.take(text, index, base)
    }
  }

  private take(text: string, index: number, base: number): number {
    const { scanner, state } = this
    if (state === GLUED) return text.length
    if (state === BEFORE || state === LIST || state === AFTER)
      return this.structure(text, index, base)
    const end = scanner.take(text, index, this.reader(base))
    if (state === STRING && this.nested!.brokenAt >= 0) return this.takeOver(this.nested!, end)
    if (scanner.expected !== '') {
      this.tooDeep = scanner.tooDeep
      this.failAt(scanner.expected, text, end, base)
    } else if (scanner.done) this.endToken(base + end)
    return end
  }

  /** Where the scanner's characters go. */
  private reader(base: number): JsonSink {
    const { state, sink } = this
    const reader = state === OBJECT ? this.written : state === STRING ? this.nested! : this.gap
    return reader.on(sink, base)
  }

  private endToken(offset: number): void {
    const { state, scanner } = this
    if (state === STRING) {
      this.nested!.end(offset - 1)
      if (this.nested!.brokenAt >= 0) this.takeOver(this.nested!, 0)
      scanner.suspectAs(this.nested!.scanner)
    }
    if (state === OBJECT) {
      this.whole = true
      if (scanner.twice) this.braces = 1
    }
    this.state = state === GAP ? this.back : AFTER
  }

  private takeOver(nested: Decoder, end: number): number {
    this.tooDeep = nested.tooDeep
    this.fail(nested.expected, nested.brokenAt, nested.found)
    return end
  }

  private structure(text: string, index: number, base: number): number {
    const code = text.charCodeAt(index)
    const { sink, scanner, braces, level, state } = this
    this.braces = 0
    if (char.isJsonSpace(code)) return index + 1
    if (isGap(code)) {
      this.back = state
      this.state = GAP
      scanner.openGap()
      return index
    }
    if (state === LIST && code === char.CLOSE_BRACKET) {
      writeEmpty(sink)
      this.state = AFTER
      return index + 1
    }
    if (state === AFTER && braces > 0 && code === char.CLOSE_BRACE) return index + 1
    if (state === AFTER && this.whole && sink.reading.gluedArguments === 'first') {
      sink.repair('first-arguments')
      this.state = GLUED
      return index
    }
    const quote = code === char.QUOTE || foreignQuote(code, sink.reading.curlyQuotes) !== 0
    const begins = code === char.OPEN_BRACE || code === char.OPEN_BRACKET
    if (state !== BEFORE || !(begins || (quote && level < LEVELS))) {
      this.failAt(EXPECTED[state], text, index, base)
      return index
    }
    sink.repair('decoded-arguments')
    if (code === char.OPEN_BRACKET) {
      this.state = LIST
      return index + 1
    }
    this.state = code === char.OPEN_BRACE ? OBJECT : STRING
    scanner.open(code === char.OPEN_BRACE)
    if (quote) this.nest()
    return index
  }

  private nest(): void {
    this.nested ??= new Decoder(this.level + 1)
    this.nested.begin(this.scanner.doubled)
  }

  /** The string ends with the quote at `offset`. */
  end(offset: number): void {
    this.start = offset
    // The end of the string is a line's end, too.
    if (this.state === GAP && this.scanner.inLine) this.state = this.back
    if (this.brokenAt >= 0 || this.state === AFTER || this.state === GLUED) return
    if (this.empty) writeEmpty(this.sink)
    else this.fail(EXPECTED[this.state], offset, 'the end of the string')
  }

  /** Half of a pair counts with the next unit, which shows that it is no pair. */
  private failAt(expected: string, text: string, index: number, base: number): void {
    const unit = text.charCodeAt(index)
    const lone = char.isHighSurrogate(unit) && !char.splitsPair(text, index + 1)
    this.fail(expected, base + index + (lone ? 1 : 0), quoteUnit(unit))
  }

  private fail(expected: string, offset: number, found: string): void {
    // Not before what is read now: that may have come with an earlier chunk.
    this.brokenAt = Math.max(offset, this.start)
    this.expected = expected
    this.found = found
  }
}

/** Arguments that say that there are none. */
export function writeEmpty(sink: Sink): void {
  sink.repair('empty-arguments')
  sink.set({})
  sink.close()
  sink.write('{}')
}
