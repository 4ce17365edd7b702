/**
 * Watches a message that begins with a code fence: is the whole of it one fenced call?
 *
 * The block may hold call objects, which are read as they come, or (if the text is held anyway) tags,
 * of which only the first is looked at; what they hold shows when the message has ended. Most blocks
 * cost their first line.
 */
import type { BareCall } from './bare-call.ts'
import * as char from './chars.ts'
import { CALL_OPENER, type Compiled } from './compile.ts'

// Where it stands, `|` being the place.
const OPENING = 0 // ``|`json
const INFO = 1 // ```js|on
const CONTENT = 2 // |{"name": "f"}: its first character
const OBJECT = 3 // {"na|me": "f"}
const CLOSING = 4 // ``|`
const BEHIND = 5 // ```⏎|
const OPENER = 6 // <tool|_call>
const TAGGED = 7 // <tool_call>|{"name": "f"}
type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

const FEWEST_TICKS = 3

export class FencedMessage {
  /** Offset of the fence. */
  readonly start: number
  /** It is no fenced call. */
  refuted = false
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  /** Where the block's content begins in what was read. */
  contentStart = 0
  private contentEnd = 0
  private readonly call: BareCall
  private readonly compiled: Compiled
  /** Whether the block may hold tags. */
  private readonly mayTag: boolean
  private state: State = OPENING
  private size = 0
  private fenceCode = 0
  private ticks = 0
  /** Ticks of the closing fence so far. */
  private run = 0
  private opener = ''

  constructor(start: number, mayTag: boolean, compiled: Compiled, call: BareCall) {
    this.start = start
    this.mayTag = mayTag
    this.compiled = compiled
    this.call = call
  }

  /** The block began with a tag. */
  get tagged(): boolean {
    return this.state === TAGGED
  }

  /** Reads a piece; returns how much of it: less if it is refuted, or at a marker behind the block. */
  feed(piece: string): number {
    let index = 0
    while (index < piece.length && !this.refuted) {
      const next = this.take(piece, index)
      if (next === index) break
      this.size += next - index
      // What follows a tag is not looked at before the end.
      if (this.state !== TAGGED) this.visited += next - index
      index = next
    }
    return index
  }

  private take(piece: string, index: number): number {
    const code = piece.charCodeAt(index)
    switch (this.state) {
      case OPENING:
        return this.takeOpening(code, piece, index)
      case INFO:
        if (code === char.BACKTICK) return this.refute(index)
        if (code === char.NEWLINE) this.beginContent(1)
        return index + 1
      case CONTENT:
        return this.takeFirst(code, piece, index)
      case OBJECT:
        return this.takeObject(piece, index)
      case CLOSING:
        return this.takeClosing(code, index)
      case BEHIND:
        if (char.isSpace(code)) return index + 1
        return code === char.LESS ? index : this.refute(index)
      case OPENER:
        return this.takeOpener(piece, index)
      default:
        return piece.length
    }
  }

  private refute(index: number): number {
    this.refuted = true
    return index
  }

  private takeOpening(code: number, piece: string, index: number): number {
    if (this.ticks === 0) this.fenceCode = code
    if (code === this.fenceCode) this.ticks++
    else if (this.ticks < FEWEST_TICKS) return this.refute(index)
    else {
      this.state = INFO
      return this.take(piece, index)
    }
    return index + 1
  }

  private beginContent(size: number): void {
    this.state = CONTENT
    this.contentStart = this.size + size
  }

  private takeFirst(code: number, piece: string, index: number): number {
    if (char.isSpace(code)) return index + 1
    if (code === char.OPEN_BRACE || code === char.OPEN_BRACKET) {
      this.state = OBJECT
      this.call.begin(this.start + this.size)
      return this.takeObject(piece, index)
    }
    if (code !== char.LESS || !this.mayTag) return this.refute(index)
    this.state = OPENER
    return this.takeOpener(piece, index)
  }

  /** The objects, and white space behind them up to the closing fence. */
  private takeObject(piece: string, index: number): number {
    const { call } = this
    const end = call.take(piece, index, this.start + this.size - index)
    if (!call.refused) return end < piece.length ? this.refute(end) : end
    // What refuses to follow the objects may be the fence.
    if (!call.whole || piece.charCodeAt(end) !== this.fenceCode) return this.refute(end)
    this.state = CLOSING
    this.contentEnd = this.size + end - index
    return end === index ? this.takeClosing(this.fenceCode, index) : end
  }

  private takeClosing(code: number, index: number): number {
    if (code === this.fenceCode) this.run++
    else if (this.run < this.ticks) return this.refute(index)
    else if (code === char.LESS) return index
    else if (code === char.NEWLINE) this.state = BEHIND
    else if (!char.isBlank(code)) return this.refute(index)
    return index + 1
  }

  /** Whether a call's opener begins the content. */
  private takeOpener(piece: string, index: number): number {
    this.opener += piece.charAt(index)
    const { opener } = this
    const openers = this.compiled.markers.filter(
      ({ kind, literal }) => kind === CALL_OPENER && literal.startsWith(opener),
    )
    if (openers.length === 0) return this.refute(index)
    if (openers.some(({ literal }) => literal === opener)) this.state = TAGGED
    return index + 1
  }

  /**
   * The input is over; `text` is what was held. Where the content ends, if the message is a fenced
   * call; in a block with tags that is for the caller to find out.
   */
  end(text: string): number | undefined {
    if (this.refuted) return undefined
    if (this.state === TAGGED) {
      const tail = /\n[ \t\r]*(`+|~+)\s*$/.exec(text.slice(-this.ticks - MARGIN))
      const run = tail?.[1]
      if (run?.charCodeAt(0) !== this.fenceCode || run.length < this.ticks) return undefined
      return text.length - tail![0].length + 1
    }
    const closed = this.state === BEHIND || (this.state === CLOSING && this.run >= this.ticks)
    return closed ? this.contentEnd : undefined
  }
}

/** White space that may stand around the closing fence of a block with tags. */
const MARGIN = 256
