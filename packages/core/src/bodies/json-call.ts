/**
 * A call as a JSON object, `{"name": …, "arguments": {…}}`, or several of them in a list.
 *
 * The machine itself reads only the call level: keys, the name, what stands between. Values go to
 * the scanner: the arguments' characters pass through, other values are skipped. It is a call from
 * the first key's quote on; before that it may turn out to be text.
 */
import * as char from '../chars.ts'
import type { ErrorCode } from '../errors.ts'
import type { Body, Grammar, Sink } from './body.ts'
import { JsonScanner, plainEnd, quoteUnit } from './json.ts'

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
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

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
  private state: State = BEGIN
  private readonly scanner = new JsonScanner()
  /** A key was seen: it is a call. */
  private proven = false
  private inList = false
  /** Inside the object of `"function": {…}`. */
  private nested = false
  private role: Role = OTHER
  private key = ''
  private name: string | undefined
  private argumentsKey: string | undefined
  private described = false
  private id: string | undefined
  /** Offset behind the key at hand. */
  private keyEnd = 0
  /** Offsets of the keys that stand for nothing, start and end in turn. */
  private readonly others: number[] = []
  /** The string at hand, escapes as they are. */
  private text = ''
  private escaped = false
  /** The last character was a backslash that escapes the next. */
  private escaping = false
  private stringStart = -1
  private verdict: Verdict = NOTHING
  private code: ErrorCode | undefined
  private expected = ''
  /** What was found instead: words, or else the unit. */
  private found = ''
  private unit = 0

  get verbatim(): Uint8Array | undefined {
    return this.passing ? this.scanner.verbatim : undefined
  }

  get lastString(): number {
    return Math.max(this.stringStart, this.scanner.lastString)
  }

  open(): void {
    this.begun = false
    this.state = BEGIN
    this.scanner.open(false)
    this.passing = false
    this.proven = false
    this.inList = false
    this.nested = false
    this.name = undefined
    this.argumentsKey = undefined
    this.described = false
    this.id = undefined
    if (this.others.length > 0) this.others.length = 0
    this.stringStart = -1
    this.verdict = NOTHING
    this.code = undefined
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
      if (this.state === KEY_TEXT || this.state === NAME_TEXT) {
        index = this.takeText(chunk, index, sink)
      } else {
        const code = chunk.charCodeAt(index)
        if (!char.isJsonSpace(code)) {
          if (code === char.LESS) break
          this.structure(code, sink.base + index)
          // The scanner reads a value from its first character on.
          const { verdict } = this
          if ((this.state as State) === INNER || verdict === BROKEN || verdict === NO_CALL) index--
        }
        index++
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
    this.broken(offset, quoteUnit(text.charCodeAt(0)), sink)
  }

  closeSeen(_own: boolean, offset: number, sink: Sink): void {
    this.broken(offset, 'a close marker', sink)
  }

  openSeen(offset: number, sink: Sink): void {
    this.broken(offset, 'an opener', sink)
  }

  end(offset: number, held: string, sink: Sink): void {
    if (held !== '' && !this.proven) sink.notACall()
    else sink.fail('incomplete-call', this.expectation(), offset)
  }

  /** A character stands at `offset` that can't stand in a call. */
  private broken(offset: number, found: string, sink: Sink): void {
    if (!this.proven) return sink.notACall()
    const code = this.code ?? malformed(sink)
    sink.fail(code, this.expectation(), offset, code === 'limit' ? undefined : found)
  }

  private expectation(): string {
    if (this.state === INNER) return this.scanner.expected || 'the rest of the value'
    return this.expected || EXPECTED[this.state]
  }

  /** The scanner's turn; it may end within the chunk. */
  private takeInner(chunk: string, index: number, sink: Sink): number {
    const { scanner } = this
    const end = scanner.take(chunk, index, sink)
    if (this.passing) sink.pass(chunk, index, end)
    else sink.skip(chunk, index, end)
    if (scanner.done) {
      this.state = AFTER
      this.passing = false
    } else if (end < chunk.length && sink.open && chunk.charCodeAt(end) !== char.LESS) {
      if (scanner.tooDeep) this.code = 'limit'
      this.broken(sink.base + end, quoteUnit(chunk.charCodeAt(end)), sink)
    }
    return end
  }

  /** The characters of a key, a name or an id, up to the closing quote. */
  private takeText(chunk: string, index: number, sink: Sink): number {
    const room = this.state === NAME_TEXT ? sink.limits.name - this.text.length : Infinity
    if (this.escaping) {
      if (room < 1) return this.refuseLong(index, sink)
      this.escaping = false
      this.text += chunk.charAt(index)
      return index + 1
    }
    const end = plainEnd(chunk, index)
    if (end - index > room) return this.refuseLong(index + room, sink)
    this.text += chunk.slice(index, end)
    if (end === chunk.length) return end
    const code = chunk.charCodeAt(end)
    if (code === char.QUOTE) this.endText(sink.base + end + 1)
    else if (code === char.BACKSLASH) {
      if (end - index >= room) return this.refuseLong(end, sink)
      this.text += '\\'
      this.escaped = true
      this.escaping = true
    } else {
      this.found = 'a control character'
      this.refuse('an escape for it')
      return end
    }
    return end + 1
  }

  private refuseLong(index: number, sink: Sink): number {
    const what = this.role === NEUTRAL ? 'an id' : 'a name'
    this.refuse(`${what} of ${sink.limits.name} characters at the most`, 'limit')
    return index
  }

  /** Inside `"function": {…}` only `name` is a name. */
  private roleOf(key: string): Role {
    const role = ROLES.get(key) ?? OTHER
    return this.nested && (role === NAME || role === FUNCTION) && key !== 'name' ? OTHER : role
  }

  private beginText(state: State, offset: number): void {
    this.state = state
    this.text = ''
    this.escaped = false
    this.escaping = false
    this.stringStart = offset
  }

  private endText(offset: number): void {
    let text: string
    try {
      text = this.escaped ? (JSON.parse(`"${this.text}"`) as string) : this.text
    } catch {
      this.found = 'others'
      this.refuse('escapes that JSON knows')
      return
    }
    if (this.state === KEY_TEXT) {
      this.key = text
      this.role = this.roleOf(text)
      this.keyEnd = offset
      this.state = COLON
      return
    }
    this.state = AFTER
    if (this.role === NEUTRAL) {
      this.id ??= text
      return
    }
    const name = text.trim()
    if (this.name === undefined) {
      this.name = name
      this.verdict = NAMED
    } else if (this.name !== name) {
      this.found = 'another'
      this.refuse('one name')
    }
  }

  /** A character of the call level that is no white space. */
  private structure(code: number, offset: number): void {
    this.unit = code
    switch (this.state) {
      case BEGIN:
        this.inList = code === char.OPEN_BRACKET
        this.state = this.inList ? LIST : FIRST_KEY
        return
      case LIST:
        if (code === char.OPEN_BRACE) this.state = FIRST_KEY
        else this.verdict = NO_CALL
        return
      case FIRST_KEY:
        if (code === char.CLOSE_BRACE && this.nested) this.endObject()
        else if (code === char.QUOTE) this.beginKey(offset)
        else if (this.proven) this.refuse('a key in double quotes')
        else this.verdict = NO_CALL
        return
      case KEY:
        if (code === char.QUOTE) this.beginKey(offset)
        else this.refuse('a key in double quotes')
        return
      case COLON:
        if (code === char.COLON) this.state = VALUE
        else this.refuse('“:”')
        return
      case VALUE:
        this.beginValue(code, offset)
        return
      default:
        if (code === char.COMMA) this.state = KEY
        else if (code === char.CLOSE_BRACE) this.endObject()
        else this.refuse('“,” or “}”')
    }
  }

  private beginKey(offset: number): void {
    this.proven = true
    this.beginText(KEY_TEXT, offset)
  }

  private beginValue(code: number, offset: number): void {
    const { role } = this
    if (role === NAME || role === FUNCTION) {
      if (code === char.QUOTE) this.beginText(NAME_TEXT, offset)
      else if (role === FUNCTION && code === char.OPEN_BRACE && !this.nested) {
        this.nested = true
        this.state = FIRST_KEY
      } else this.refuse('a name in double quotes')
      return
    }
    if (role === NEUTRAL && this.key === 'id' && code === char.QUOTE)
      return this.beginText(NAME_TEXT, offset)
    if (role === ARGUMENTS) {
      if (this.argumentsKey !== undefined) return this.refuse('one arguments key')
      this.argumentsKey = this.key
    } else if (role === OTHER) {
      this.others.push(this.stringStart, this.keyEnd)
      this.described ||= this.key === 'description'
    }
    if (role !== NEUTRAL) this.begun = true
    if (this.described && this.argumentsKey === 'parameters') {
      return this.refuse('a call; “description” and “parameters” declare a tool', 'declaration')
    }
    if (role === ARGUMENTS && code !== char.OPEN_BRACE) return this.refuse('an object')
    this.scanner.open(role === ARGUMENTS)
    this.passing = role === ARGUMENTS
    this.state = INNER
  }

  private endObject(): void {
    if (this.nested) {
      this.nested = false
      this.state = AFTER
    } else if (this.name === undefined) this.refuse('a name before the call’s end')
    else if (this.argumentsKey === undefined && this.others.length > 0) {
      this.refuse('an arguments key before the call’s end')
    } else this.verdict = COMPLETE
  }

  private refuse(expected: string, code?: ErrorCode): void {
    this.expected = expected
    this.code = code
    this.verdict = BROKEN
  }

  /** Tells the sink what the characters up to `offset` settled. */
  private settle(offset: number, sink: Sink): void {
    const { verdict } = this
    this.verdict = NOTHING
    if (verdict === NO_CALL) sink.notACall()
    else if (verdict === NAMED) sink.start(this.name!, offset)
    else if (verdict === BROKEN) this.broken(offset, this.found || quoteUnit(this.unit), sink)
    else {
      const { others } = this
      for (let at = 0; at < others.length; at += 2)
        sink.warn('unknown-key', others[at]!, others[at + 1]!)
      if (this.inList) sink.list()
      if (this.id !== undefined) sink.identify(this.id)
      sink.finish()
    }
  }
}

const EXPECTED: Readonly<Record<State, string>> = {
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
}

function malformed(sink: Sink): ErrorCode {
  return sink.started ? 'malformed-arguments' : 'malformed-call'
}

/** `{"name": …, "arguments": {…}}`, alone, one after another, or in a list. */
export const jsonCall: Grammar = {
  name: 'json-call',
  begins: (code) => code === char.OPEN_BRACE || code === char.OPEN_BRACKET,
  several: true,
  create: () => new JsonCall(),
}
