/**
 * Says whether the grammar of a call follows an opener that does not count where it stands, so that
 * a warning can name it: `<tool_call>` in a sentence is talk, a whole call in code is news.
 *
 * The opener is text already and nothing is held: the watch looks at the few characters behind it,
 * up to the first that decides.
 */
import * as char from './chars.ts'
import { CALL_CLOSER, CALL_OPENER, type Marker, type Tag } from './compile.ts'
import type { WarningCode } from './errors.ts'
import { GOING, Header, NAME, TAKEN } from './headers.ts'

// What may follow, `|` being the place.
const HEADER = 0 // <function=f|>
const BODY = 1 // <tool_call>|  {
const LIST = 2 // <tool_call>[| {
const OBJECT = 3 // <tool_call>{| "name"
const TAG = 4 // <tool_call>|<function=f>: a marker decides
const KEY = 5 // <tool_call>{na|me: a colon decides
const BEHIND_KEY = 6 // <tool_call>{name|  :
const BRACKET = 7 // <tool_call>|[: unless a marker begins with it
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** Longest header of an opener that is looked at. */
const HEADER_ROOM = 1_024
const BEYOND_ASCII = /[\p{L}\p{N}]/u

export class CallWatch {
  active = false
  /** A call's grammar has begun: there is something to warn of. */
  seen = false
  code: WarningCode = 'quoted-call'
  /** Offsets of the opener's literal part. */
  start = 0
  end = 0
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  private state: State = BODY
  private tag: Tag | undefined
  /** The header names the call: any object follows it, or the close marker. */
  private named = false
  private readonly header = new Header()
  private marker: Marker | undefined
  /** Offset of a character that may begin a marker. */
  private at = 0
  /** Whether a bracket may. */
  private readonly brackets: boolean

  constructor(brackets: boolean) {
    this.brackets = brackets
  }

  clear(): void {
    this.active = false
    this.seen = false
    this.visited = 0
  }

  /** An opener that does not count stands at `start`. */
  begin(marker: Marker, start: number, code: WarningCode): void {
    this.code = code
    this.start = start
    this.end = start + marker.literal.length
    this.go(marker)
  }

  private go(marker: Marker): void {
    const { header, literal, tag, namedTag } = marker
    this.active = true
    this.seen = false
    this.marker = marker
    this.tag = tag ?? namedTag
    this.named = false
    this.state = header === undefined ? BODY : HEADER
    if (header !== undefined) this.header.begin(header, 0, literal, 0, HEADER_ROOM)
  }

  /** Looks on from `index`; returns where it stopped. `base`: the chunk's offset. */
  take(chunk: string, index: number, base: number): number {
    const from = index
    if (this.state === TAG) this.active = false
    else if (this.state === BRACKET) this.passBracket(base + index)
    while (this.active && index < chunk.length && !this.waits) {
      const code = chunk.charCodeAt(index)
      if (this.state === HEADER) index = this.takeHeader(chunk, index)
      else {
        if (!char.isSpace(code)) this.takeBody(code, base + index)
        else if (this.state === KEY) this.state = BEHIND_KEY
        // What may be a marker, or is no call's, is for others to look at.
        if ((this.active && !this.waits) || this.seen) index++
      }
    }
    this.visited += index - from
    return index
  }

  private takeHeader(chunk: string, index: number): number {
    const { header, marker } = this
    const end = header.take(chunk, index)
    if (header.status === GOING) return end
    if (header.status !== TAKEN) this.active = false
    this.state = BODY
    this.named = header.name !== undefined && marker?.namedTag !== undefined
    if (this.named) this.tag = marker!.namedTag
    return end
  }

  /** A brace stands at `start`: true if it follows the bracket of a list, so that a call has begun. */
  meetsBrace(start: number): boolean {
    if (!this.active || this.state !== BRACKET || start !== this.at + 1) return false
    this.decide()
    return true
  }

  /** No marker began with the bracket: a list may. */
  private passBracket(offset: number): void {
    this.state = LIST
    this.active = offset === this.at + 1
  }

  private takeBody(code: number, offset: number): void {
    const { state } = this
    if (state === BODY && code === char.LESS) this.wait(TAG, offset)
    else if (state === BODY && code === char.OPEN_BRACKET && !this.named) {
      if (this.brackets) this.wait(BRACKET, offset)
      else this.state = LIST
    } else if (state <= LIST && code === char.OPEN_BRACE) {
      if (this.named || state === LIST) this.decide()
      else this.state = OBJECT
    } else if (state === OBJECT) this.beginKey(code)
    else if (state >= KEY && code === char.COLON) this.decide()
    else this.active = state === KEY && isKeyCharacter(code)
  }

  /** The next character may begin a marker. */
  private get waits(): boolean {
    return this.state === TAG || this.state === BRACKET
  }

  private wait(state: State, offset: number): void {
    this.state = state
    this.at = offset
  }

  /** A quote proves a key, as does a second brace; a word without quotes has to be one. */
  private beginKey(code: number): void {
    if (code === char.QUOTE || code === char.APOSTROPHE || code === char.OPEN_BRACE) this.decide()
    else if (isKeyCharacter(code) && !char.isDigit(code) && code !== char.MINUS) this.state = KEY
    else this.active = false
  }

  private decide(): void {
    this.active = false
    this.seen = true
  }

  /**
   * A marker that does not count stands at `start`. True if it belongs to the call that is watched:
   * `seen` then says whether that has begun.
   */
  meets(marker: Marker, start: number): boolean {
    if (this.state !== TAG || this.at !== start) return false
    const { kind, close, header, tag, namedTag } = marker
    const outer = this.tag
    this.active = false
    if (kind === CALL_CLOSER && this.named && close === outer?.close) this.decide()
    const inner = tag ?? namedTag
    if (kind === CALL_OPENER && inner && outer?.wraps.has(inner.open)) {
      if (header === NAME) this.decide()
      else this.go(marker)
      return true
    }
    return this.seen
  }
}

function isKeyCharacter(code: number): boolean {
  if (code > 0x7f) return BEYOND_ASCII.test(String.fromCharCode(code))
  return char.isWordCharacter(code) || code === char.DOLLAR
}
