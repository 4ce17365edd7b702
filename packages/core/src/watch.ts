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
import { NAME } from './headers.ts'

// What may follow, `|` being the place.
const HEADER = 0 // <function=f|>
const BODY = 1 // <tool_call>|  {
const LIST = 2 // <tool_call>[| {
const OBJECT = 3 // <tool_call>{| "name"
const TAG = 4 // <tool_call>|<function=f>: a marker decides
const KEY = 5 // <tool_call>{na|me: a colon decides
const BEHIND_KEY = 6 // <tool_call>{name|  :
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** Longest header of an opener that is looked at. */
const HEADER_ROOM = 1_024

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
  private header = 0
  /** Offset of a character that may begin a marker. */
  private at = 0

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
    this.active = true
    this.seen = false
    this.tag = marker.tag ?? marker.namedTag
    this.named = marker.tag === undefined
    this.header = 0
    this.state = marker.header === undefined ? BODY : HEADER
  }

  /** Looks on from `index`; returns where it stopped. `base`: the chunk's offset. */
  take(chunk: string, index: number, base: number): number {
    const from = index
    if (this.state === TAG) this.active = false
    while (this.active && index < chunk.length) {
      const code = chunk.charCodeAt(index)
      if (this.state === HEADER) this.takeHeader(code)
      else if (!char.isSpace(code)) this.takeBody(code, base + index)
      else if (this.state === KEY) this.state = BEHIND_KEY
      if (this.active || this.seen) index++
      if (this.seen) break
      if (this.state === TAG && this.active) {
        index--
        break
      }
    }
    this.visited += index - from
    return index
  }

  private takeHeader(code: number): void {
    if (code === char.GREATER) this.state = BODY
    else if (code === char.LESS || code === char.BACKTICK || ++this.header > HEADER_ROOM) {
      this.active = false
    }
  }

  private takeBody(code: number, offset: number): void {
    if (this.state === BODY && code === char.LESS) {
      this.state = TAG
      this.at = offset
    } else if (this.state === BODY && code === char.OPEN_BRACKET) this.state = LIST
    else if (this.state !== OBJECT && code === char.OPEN_BRACE) {
      if (this.named) this.decide()
      else this.state = OBJECT
    } else if (this.state === OBJECT) this.beginKey(code)
    else if (this.state >= KEY && code === char.COLON) this.decide()
    else this.active = this.state === KEY && isKeyCharacter(code)
  }

  /** A quote proves a key, as does a second brace; a word without quotes has to be one. */
  private beginKey(code: number): void {
    if (code === char.QUOTE || code === char.APOSTROPHE || code === char.OPEN_BRACE) this.decide()
    else if (isKeyCharacter(code)) this.state = KEY
    else this.active = false
  }

  private decide(): void {
    this.active = false
    this.seen = true
  }

  /**
   * A marker stands at `start`. True if it belongs to the call that is watched: `seen` then says
   * whether that has begun.
   */
  meets({ kind, literal, close, header, tag, namedTag }: Marker, start: number): boolean {
    if (!this.active || this.state !== TAG || this.at !== start) return false
    const outer = this.tag
    this.active = false
    if (kind === CALL_CLOSER && this.named && close === outer?.close) this.decide()
    const inner = tag ?? namedTag
    if (kind === CALL_OPENER && inner && outer?.wraps.has(inner.open)) {
      if (header === NAME) this.decide()
      else this.go({ kind, literal, close, header, tag, namedTag })
      return true
    }
    return this.seen
  }
}

function isKeyCharacter(code: number): boolean {
  return char.isWordCharacter(code) || code > 0x7f
}
