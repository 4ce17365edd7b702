/**
 * A call as a JSON object, `{"name": …, "arguments": {…}}`, or several of them in a list.
 *
 * The machine itself reads only the call level: what keys mean and what stands between. Texts and
 * values go to the scanner: the arguments' characters pass through, those of a string are decoded
 * first, other values are skipped. It is a call from the first key's quote (or its
 * colon, if it has no quotes) on; before that it may turn out to be text.
 */
import * as char from '../chars.ts'
import type { ErrorCode } from '../errors.ts'
import type { Body, Grammar, Sink } from './body.ts'
import { JsonScanner, isGap } from './json.ts'
import { Decoder, writeEmpty } from './json-decode.ts'
import type { JsonSink } from './json-edits.ts'
import { OtherKeys } from './json-others.ts'
import { Detached } from './json-sinks.ts'
import { bareUnits, foreignQuote, plainEnd, quoteUnit } from './json-text.ts'

// Where the machine stands, `|` being the place.
const BEGIN = 0 // |{"name": "f"}
const LIST = 1 // [|{"name": "f"}]
const FIRST_KEY = 2 // {|"name": "f"}
const KEY = 3 // {"name": "f", |"arguments": {}}
const KEY_TEXT = 4 // {"na|me": "f"}
const COLON = 5 // {"name"|: "f"}
const VALUE = 6 // {"name": |"f"}
const NAME_TEXT = 7 // {"name": "f|"}, and so the id
const INNER = 8 // {"arguments": {"a|": 1}}
const AFTER = 9 // {"name": "f"|}
const OPENED = 10 // {|{"name": "f"}}, where braces may be doubled
const CLOSED = 11 // {{"arguments": {{"a": 1}|}}}
const EMPTY = 12 // {"arguments": [|]}
const GAP = 13 // {"name": "f" /|* … */}
const ENVELOPE = 14 // {"tool_calls": |[{"name": "f"}]}
const ROOT = 15 // {{"name": "f"}|}
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15

// What a key stands for.
const NAME = 0
const FUNCTION = 1
const ARGUMENTS = 2
const NEUTRAL = 3
const OTHER = 4
type Role = 0 | 1 | 2 | 3 | 4

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['name', NAME],
  ['tool', NAME],
  ['tool_name', NAME],
  ['function', FUNCTION],
  ['arguments', ARGUMENTS],
  ['parameters', ARGUMENTS],
  ['args', ARGUMENTS],
  ['input', ARGUMENTS],
  ['id', NEUTRAL],
  ['type', NEUTRAL],
])
const FUNCTION_KEY = 'function='
/** OpenAI's key for a list of calls. */
const ENVELOPE_KEY = 'tool_calls'

// What the scanner's value is.
const PLAIN = 0
const DECODED = 1
const NULL = 2
const IGNORED = 3
type Shape = 0 | 1 | 2 | 3

// What the last character settled, to be told to the sink once it was counted.
const NOTHING = 0
const NO_CALL = 1
const NAMED = 2
const COMPLETE = 3
const BROKEN = 4
type Verdict = 0 | 1 | 2 | 3 | 4

class JsonCall implements Body {
  begun = false
  /** The scanner reads the arguments. */
  passing = false
  /** The object stands without a marker: it has the keys of a call and no others. */
  private readonly bare: boolean
  private state: State = BEGIN
  /** The state around a comment. */
  private back: State = BEGIN
  private readonly scanner = new JsonScanner(true)
  private readonly detached = new Detached()
  private readonly decoder = new Decoder()
  private readonly others = new OtherKeys()
  private shape: Shape = PLAIN
  /** A key was seen: it is a call. */
  proven = false
  private inList = false
  /** Inside the object of `"function": {…}`. */
  private nested = false
  /** That object began with two braces. */
  private nestedTwice = false
  private doubled = false
  private role: Role = OTHER
  private key = ''
  private name: string | undefined
  private argumentsKey: string | undefined
  private id: string | undefined
  /** Keys that stand for nothing in a call. */
  private readonly neutral: string[] = []
  /** Offsets of the key at hand. */
  private keyStart = 0
  private keyEnd = 0
  /** The text at hand is plain so far, and what there is of it. */
  private plain = false
  private text = ''
  /** Its units, without its quotes. */
  private units = 0
  private verdict: Verdict = NOTHING
  private code: ErrorCode | undefined
  private expected = ''
  /** What was found instead: words, or else the unit. */
  private found = ''
  private unit = 0

  constructor(bare: boolean) {
    this.bare = bare
  }

  get verbatim(): Uint8Array | undefined {
    return this.passing ? this.scanner.verbatim : undefined
  }

  get holds(): boolean {
    if (this.state !== INNER) return false
    return this.shape === DECODED ? this.decoder.holds : this.passing && this.scanner.holds
  }

  get lastString(): number {
    return this.scanner.lastString
  }

  open(): void {
    this.begun = false
    this.state = BEGIN
    this.scanner.clear()
    this.others.clear()
    this.passing = false
    this.proven = false
    this.inList = false
    this.nested = false
    this.doubled = false
    this.name = undefined
    this.argumentsKey = undefined
    this.id = undefined
    if (this.neutral.length > 0) this.neutral.length = 0
    this.verdict = NOTHING
    this.code = undefined
    this.expected = ''
    this.found = ''
  }

  take(chunk: string, index: number, sink: Sink): number {
    const size = chunk.length
    let from = index
    while (index < size) {
      if (this.state === INNER) {
        if (from < index) sink.skip(chunk, from, index)
        index = from = this.takeInner(chunk, index, sink)
        if ((this.state as State) === INNER || !sink.open) return index
        continue
      }
      const { state } = this
      if (state === KEY_TEXT || state === NAME_TEXT || state === GAP) {
        const end = this.takeText(chunk, index, sink)
        // A marker may end a comment.
        const stopped = end === index && this.scanner.inLine
        index = end
        if (stopped) break
      } else {
        const code = chunk.charCodeAt(index)
        if (char.isJsonSpace(code)) {
          if (state >= OPENED) this.settleBrace()
          index++
        } else {
          if (code === char.LESS) break
          if (this.structure(code, chunk, index, sink)) index++
        }
      }
      if (this.verdict !== NOTHING) {
        sink.skip(chunk, from, index)
        from = index
        this.settle(sink.base + index, sink)
        if (!sink.open) return index
      }
    }
    sink.skip(chunk, from, index)
    return index
  }

  give(text: string, offset: number, sink: Sink): void {
    const inner = this.state === INNER
    const into = this.passing ? sink : this.into(sink)
    const taken = this.scanner.takeData(text, into)
    if (taken < text.length)
      return this.broken(offset + taken, quoteUnit(text.charCodeAt(taken)), sink)
    if (!this.passing) sink.skip(text, 0, taken)
    if (!inner && this.scanner.done) this.state = this.back
  }

  closeSeen(own: boolean, offset: number, sink: Sink): void {
    if (this.scanner.inLine) {
      if (!own) return
      if (this.state === GAP) this.state = this.back
    }
    if (own && this.lacksBrace(sink)) {
      sink.repair('missing-brace')
      this.complete(sink)
    } else this.broken(offset, 'a close marker', sink)
  }

  openSeen(offset: number, sink: Sink): void {
    if (!this.scanner.inLine) this.broken(offset, 'an opener', sink)
  }

  end(offset: number, held: string, closing: boolean, sink: Sink): void {
    if (closing && this.lacksBrace(sink)) {
      sink.repair('missing-brace')
      this.complete(sink)
    } else if (!this.proven && ((held !== '' && !this.scanner.inLine) || this.isWord)) {
      sink.notACall()
    } else sink.fail('incomplete-call', this.expectation(), offset)
  }

  /** Whether a word stands where a key would, and no colon has come. */
  private get isWord(): boolean {
    const state = this.state === GAP ? this.back : this.state
    return !this.proven && (state === KEY_TEXT || state === COLON)
  }

  /** Whether nothing but the root's brace is missing. */
  private lacksBrace(sink: Sink): boolean {
    if (sink.reading.strict || this.nested || this.name === undefined) return false
    if (this.state === ROOT) return true
    return (this.state === AFTER || this.state === CLOSED) && this.argumentsKey !== undefined
  }

  /** A character stands at `offset` that can't stand in a call. */
  private broken(offset: number, found: string, sink: Sink): void {
    if (!this.proven) return sink.notACall()
    const code = this.code ?? malformed(sink)
    sink.fail(code, this.expectation(), offset, code === 'limit' ? undefined : found)
  }

  private expectation(): string {
    if (this.state === INNER && this.expected === '')
      return this.scanner.expected || 'the rest of the value'
    return this.expected || EXPECTED[this.state]
  }

  // ------------------------------------------------------------------ texts and values

  /** The scanner's turn; it may end within the chunk. */
  private takeInner(chunk: string, index: number, sink: Sink): number {
    const { scanner, shape } = this
    let end = scanner.take(chunk, index, this.passing ? sink : this.into(sink))
    if (shape === DECODED) {
      if (scanner.done) this.decoder.end(sink.base + end - 1)
      if (this.decoder.brokenAt >= 0) {
        end = Math.max(index, this.decoder.brokenAt - sink.base)
        sink.skip(chunk, index, end)
        this.expected = this.decoder.expected
        if (this.decoder.tooDeep) this.code = 'limit'
        this.broken(sink.base + end, this.decoder.found, sink)
        return end
      }
    }
    if (!this.passing) sink.skip(chunk, index, end)
    if (scanner.done) this.endInner(sink)
    else if (end < chunk.length && sink.open && chunk.charCodeAt(end) !== char.LESS) {
      if (scanner.tooDeep) this.code = 'limit'
      this.broken(sink.base + end, quoteUnit(chunk.charCodeAt(end)), sink)
    }
    return end
  }

  private endInner(sink: Sink): void {
    this.state = this.scanner.twice ? CLOSED : AFTER
    this.passing = false
    if (this.shape === DECODED) this.scanner.suspectAs(this.decoder.scanner)
    if (this.shape === NULL) writeEmpty(sink)
  }

  /** Where the scanner puts a value that is no plain object of arguments. */
  private into(sink: Sink): JsonSink {
    const { shape } = this
    const kept = shape === IGNORED && this.role === OTHER ? this.others.sink(sink) : undefined
    return (shape === DECODED ? this.decoder : (kept ?? this.detached)).on(sink, sink.base)
  }

  /** A key, a name, an id or a comment. */
  private takeText(chunk: string, index: number, sink: Sink): number {
    const { scanner } = this
    const limit = this.state === NAME_TEXT ? sink.limits.name : Infinity
    if (this.plain) return this.takePlain(chunk, index, limit, sink)
    const room = index + limit - this.units + 1
    const view = room < chunk.length ? chunk.slice(0, room) : chunk
    const end = scanner.take(view, index, this.detached.on(sink, sink.base))
    if (scanner.done) {
      if (this.state === GAP) this.state = this.back
      else this.endText(scanner.key, sink.base + end)
      return end
    }
    if (scanner.expected !== '') {
      this.unit = chunk.charCodeAt(end)
      this.refuse(scanner.expected)
      return end
    }
    this.units += end - index
    return this.units > limit ? this.refuseLong(end - (this.units - limit), limit) : end
  }

  private refuseLong(index: number, limit: number): number {
    const what = this.role === NEUTRAL ? 'an id' : 'a name'
    this.refuse(`${what} of ${limit} characters at the most`, 'limit')
    return index
  }

  /**
   * A text in double quotes, up to the first character that is not plain: from there on the scanner
   * reads it. Promise 1 binds the two, and most texts never get so far.
   */
  private takePlain(chunk: string, index: number, limit: number, sink: Sink): number {
    const end = plainEnd(chunk, index)
    const room = limit - this.units
    if (end - index > room) return this.refuseLong(index + room, limit)
    this.text += chunk.slice(index, end)
    this.units += end - index
    if (end === chunk.length) return end
    if (chunk.charCodeAt(end) === char.QUOTE) {
      this.endText(this.text, sink.base + end + 1)
      return end + 1
    }
    this.plain = false
    this.scanner.openText(this.text)
    return end
  }

  /** Inside `"function": {…}` only `name` is a name. */
  private roleOf(key: string): Role {
    const role = ROLES.get(key) ?? OTHER
    return this.nested && (role === NAME || role === FUNCTION) && key !== 'name' ? OTHER : role
  }

  /** Whether the key at hand may stand in a call without a marker, though it is none of a call's. */
  private get mayBeBare(): boolean {
    const first = this.name === undefined && this.argumentsKey === undefined && !this.nested
    return this.key.startsWith(FUNCTION_KEY) || (this.key === ENVELOPE_KEY && first)
  }

  /** A text begins at `index`. True if its first character was taken. */
  private beginText(state: State, code: number, offset: number): boolean {
    this.state = state
    this.plain = code === char.QUOTE
    // The quote is not counted.
    this.units = this.plain ? 0 : -1
    this.text = ''
    if (this.plain) this.scanner.lastString = offset
    else this.scanner.openText()
    return this.plain
  }

  private endText(text: string, offset: number): void {
    if (this.state === KEY_TEXT) {
      this.key = text
      this.role = this.roleOf(text)
      this.keyEnd = offset
      this.state = COLON
      if (this.bare && this.role === OTHER && !this.mayBeBare) this.giveUp()
      return
    }
    this.state = AFTER
    if (this.role === NEUTRAL) this.id ??= text
    else this.setName(text)
  }

  private setName(text: string): void {
    const name = text.trim()
    if (this.name === undefined) {
      this.name = name
      this.verdict = NAMED
    } else if (this.name !== name) {
      this.found = 'another'
      this.refuse('one name')
    }
  }

  // ------------------------------------------------------------------ the call level

  /** White space stands where a second brace might have stood. */
  private settleBrace(): void {
    if (this.state === OPENED) this.state = FIRST_KEY
    else if (this.state === CLOSED) this.state = AFTER
  }

  /** A character of the call level that is no white space. False if it has to be read again. */
  private structure(code: number, chunk: string, index: number, sink: Sink): boolean {
    const lenient = !sink.reading.strict
    this.unit = code
    if (isGap(code) && lenient) {
      this.settleBrace()
      this.back = this.state
      this.state = GAP
      this.plain = false
      this.units = 0
      this.scanner.openGap()
      return false
    }
    switch (this.state) {
      case BEGIN:
        this.inList = code === char.OPEN_BRACKET
        this.state = this.inList ? LIST : lenient ? OPENED : FIRST_KEY
        return true
      case ROOT:
        if (code !== char.CLOSE_BRACE) return this.refuse(EXPECTED[ROOT])
        this.verdict = COMPLETE
        return true
      case ENVELOPE:
        if (code !== char.OPEN_BRACKET) return this.giveUp()
        this.inList = true
        // An id beside the list is no call's.
        this.id = undefined
        this.state = LIST
        // The envelope's own brace follows the list.
        sink.doubled()
        return true
      case LIST:
        if (code !== char.OPEN_BRACE) return this.giveUp()
        this.state = lenient ? OPENED : FIRST_KEY
        return true
      case OPENED:
        this.state = FIRST_KEY
        if (code !== char.OPEN_BRACE) return false
        this.double(sink)
        return true
      case FIRST_KEY:
      case KEY:
        return this.takeKey(code, chunk, index, lenient, sink)
      case COLON:
        return this.takeColon(code, lenient, sink)
      case VALUE:
        return this.beginValue(code, sink.base + index, sink)
      case EMPTY:
        if (code !== char.CLOSE_BRACKET) return this.refuse('“]”')
        writeEmpty(sink)
        this.state = AFTER
        return true
      default:
        return this.takeAfter(code, lenient, sink)
    }
  }

  private double(sink: Sink): void {
    if (this.nested) this.nestedTwice = true
    else {
      this.doubled = true
      this.scanner.doubled = true
      sink.repair('doubled-braces')
    }
  }

  private takeKey(
    code: number,
    chunk: string,
    index: number,
    lenient: boolean,
    sink: Sink,
  ): boolean {
    const first = this.state === FIRST_KEY
    if (
      code === char.QUOTE ||
      (lenient && (this.isQuote(code, sink) || bareUnits(chunk, index, true) > 0))
    ) {
      // A word alone may be prose, until its colon comes.
      this.proven ||= this.isQuote(code, sink)
      this.keyStart = sink.base + index
      return this.beginText(KEY_TEXT, code, this.keyStart)
    }
    if (code === char.CLOSE_BRACE && (first ? this.nested : lenient)) {
      if (!first) sink.repair('trailing-comma')
      return this.endObject(sink)
    }
    // Nobody writes a brace and that quote in prose: it was meant as a key's.
    this.proven ||= lenient && code === char.OPEN_CURLY
    return this.proven ? this.refuse('a key in double quotes') : this.giveUp()
  }

  private isQuote(code: number, sink: Sink): boolean {
    const { strict, curlyQuotes } = sink.reading
    return code === char.QUOTE || (!strict && foreignQuote(code, curlyQuotes) !== 0)
  }

  private takeColon(code: number, lenient: boolean, sink: Sink): boolean {
    if (code === char.COLON) {
      this.proven = true
      this.state = VALUE
      if (!this.bare || this.role !== OTHER) return true
      if (this.key !== ENVELOPE_KEY) return this.giveUp()
      this.state = ENVELOPE
      return true
    }
    const ends = code === char.COMMA || code === char.CLOSE_BRACE
    const { key } = this
    if (!ends || !lenient || this.nested || !key.startsWith(FUNCTION_KEY)) return this.refuse('“:”')
    const name = key.slice(FUNCTION_KEY.length)
    const { name: limit } = sink.limits
    if (name.length > limit)
      return this.refuse(`a name of ${limit} characters at the most`, 'limit')
    sink.repair('function-key')
    this.state = AFTER
    this.setName(name)
    return false
  }

  private takeAfter(code: number, lenient: boolean, sink: Sink): boolean {
    const closed = this.state === CLOSED
    this.state = AFTER
    if (code === char.COMMA) this.state = KEY
    else if (code === char.CLOSE_BRACE) {
      if (!closed) return this.endObject(sink)
    } else if (lenient && (code === char.QUOTE || code === char.APOSTROPHE)) {
      sink.repair('missing-comma')
      this.state = KEY
      return false
    } else return this.refuse('“,” or “}”')
    return true
  }

  private beginValue(code: number, offset: number, sink: Sink): boolean {
    const { role } = this
    const quote = this.isQuote(code, sink)
    if (role === NAME || role === FUNCTION) {
      if (role === FUNCTION && code === char.OPEN_BRACE && !this.nested) {
        this.nested = true
        this.nestedTwice = false
        this.state = this.doubled ? OPENED : FIRST_KEY
        return true
      }
      if (!quote) return this.refuse('a name in double quotes')
      return this.beginText(NAME_TEXT, code, offset)
    }
    if (role === NEUTRAL) this.neutral.push(this.key)
    if (role === NEUTRAL && this.key === 'id' && quote) {
      return this.beginText(NAME_TEXT, code, offset)
    }
    if (role === ARGUMENTS) {
      if (this.argumentsKey !== undefined) return this.refuse('one arguments key')
      this.argumentsKey = this.key
    } else if (role === OTHER) {
      this.others.begin(this.key, this.keyStart, this.keyEnd, this.name, sink)
      const { arguments: limit } = sink.limits
      if (sink.room < 0) return this.refuse(`${limit} characters of arguments at the most`, 'limit')
    }
    if (role !== NEUTRAL) this.begun = true
    if (this.others.described && this.argumentsKey === 'parameters') {
      return this.refuse('a call; “description” and “parameters” declare a tool', 'declaration')
    }
    if (role === ARGUMENTS) return this.beginArguments(code, quote, sink)
    this.beginInner(IGNORED, role === OTHER)
    return false
  }

  private beginArguments(code: number, quote: boolean, sink: Sink): boolean {
    this.others.drop(sink)
    if (code === char.OPEN_BRACE) this.beginInner(PLAIN, true)
    else if (sink.reading.strict) return this.refuse('an object')
    else if (quote) {
      this.beginInner(DECODED, false)
      this.decoder.begin(this.doubled)
      this.decoder.on(sink, sink.base)
    } else if (code === char.LOWER_N || code === char.UPPER_N) this.beginInner(NULL, false)
    else if (code === char.OPEN_BRACKET) {
      this.state = EMPTY
      return true
    } else return this.refuse('an object')
    return false
  }

  private beginInner(shape: Shape, wanted: boolean): void {
    this.shape = shape
    this.passing = shape === PLAIN
    this.scanner.open(wanted)
    this.state = INNER
  }

  /** The object's brace has come. */
  private endObject(sink: Sink): boolean {
    if (this.nested) {
      this.nested = false
      this.state = this.nestedTwice ? CLOSED : AFTER
      return true
    }
    if (this.name === undefined) return this.refuse('a name before the call’s end')
    if (this.argumentsKey === undefined && (this.bare || this.others.size > 0)) {
      const lifted =
        !this.hasOwnId(this.name, sink) && this.others.lift(this.name, this.scanner, sink)
      if (this.scanner.tooDeep) return this.refuse(this.scanner.expected, 'limit')
      if (!lifted) return this.refuse('an arguments key before the call’s end')
    }
    // What opened with two braces ends with two: one may be another object's.
    if (this.doubled) this.state = ROOT
    else this.verdict = COMPLETE
    return true
  }

  /** Whether an `id` or `type` that was passed over is declared as a parameter. */
  private hasOwnId(name: string, sink: Sink): boolean {
    const declared = sink.parameters(name)
    return this.neutral.some((key) => declared?.has(key))
  }

  private refuse(expected: string, code?: ErrorCode): false {
    this.expected = expected
    this.code = code
    this.verdict = BROKEN
    return false
  }

  private giveUp(): false {
    this.verdict = NO_CALL
    return false
  }

  /** Tells the sink what the characters up to `offset` settled. */
  private settle(offset: number, sink: Sink): void {
    const { verdict } = this
    this.verdict = NOTHING
    if (verdict === NO_CALL) sink.notACall()
    else if (verdict === NAMED) sink.start(this.name!, offset)
    else if (verdict === BROKEN) this.broken(offset, this.found || quoteUnit(this.unit), sink)
    else this.complete(sink)
  }

  private complete(sink: Sink): void {
    const { others, scanner } = this
    if (this.argumentsKey !== undefined) others.warn(sink)
    if (scanner.suspectStart >= 0)
      sink.warn('suspicious-escape', scanner.suspectStart, scanner.suspectEnd)
    if (this.inList) sink.list()
    if (this.id !== undefined) sink.identify(this.id)
    sink.finish()
  }
}

const EXPECTED: Readonly<Record<State, string>> = {
  [ROOT]: 'the second “}”',
  [ENVELOPE]: 'a list of calls',
  [BEGIN]: '“{”',
  [LIST]: '“{”',
  [FIRST_KEY]: 'a key in double quotes',
  [KEY]: 'a key in double quotes',
  [KEY_TEXT]: 'the rest of the key',
  [COLON]: '“:”',
  [VALUE]: 'a value',
  [NAME_TEXT]: 'the rest of the name',
  [INNER]: 'the rest of the value',
  [AFTER]: '“,” or “}”',
  [OPENED]: 'a key in double quotes',
  [CLOSED]: '“,” or “}”',
  [EMPTY]: '“]”',
  [GAP]: 'the rest of the comment',
}

function malformed(sink: Sink): ErrorCode {
  return sink.started ? 'malformed-arguments' : 'malformed-call'
}

/** `{"name": …, "arguments": {…}}`, alone, one after another, or in a list. */
export const jsonCall: Grammar = {
  name: 'json-call',
  begins: (code) => code === char.OPEN_BRACE || code === char.OPEN_BRACKET,
  several: true,
  create: () => new JsonCall(false),
}

/** The same for an object without a marker: no other keys, and arguments must be there. */
export const bareCall: Grammar = {
  ...jsonCall,
  name: 'bare-call',
  create: () => new JsonCall(true),
}
