/**
 * Watches a message that begins with a code fence: is the whole of it one fenced call?
 *
 * A parser of its own reads the block as a message of bare call objects. It ends the watch with the
 * first thing that is no call, so most blocks cost their first character. Whether the text is held
 * meanwhile (option `fencedCall`) or shown is the machine's matter.
 */
import * as char from './chars.ts'
import type { StreamEvent } from './events.ts'
import type { Parser } from './options.ts'

// Where it stands, `|` being the place.
const OPENING = 0 // ``|`json
const INFO = 1 // ```js|on
const LINE = 2 // |{: at the start of a line
const CONTENT = 3 // {"na|me"
const CLOSING = 4 // ```|  ⏎
const BEHIND = 5 // ```⏎|
type State = 0 | 1 | 2 | 3 | 4 | 5

const FEWEST_TICKS = 3

export class FencedMessage {
  /** Offset of the fence. */
  readonly start: number
  /** It is no fenced call. */
  refuted = false
  /** Where the block's content begins and ends in what was read. */
  contentStart = 0
  contentEnd = 0
  private readonly create: (onEvent: (event: StreamEvent) => void) => Parser
  /** Whether the block may hold tags, not only bare objects. */
  private readonly tagged: boolean
  private parser: Parser | undefined
  private calls = 0
  private state: State = OPENING
  private size = 0
  private fenceCode = 0
  private ticks = 0
  /** Ticks of the run at hand, and where its line began. */
  private run = 0
  private line = ''

  constructor(
    start: number,
    tagged: boolean,
    create: (onEvent: (event: StreamEvent) => void) => Parser,
  ) {
    this.start = start
    this.tagged = tagged
    this.create = create
  }

  get visited(): number {
    return this.parser?.visited ?? 0
  }

  /** Whether what was read is a fenced call and nothing else. */
  end(): boolean {
    if (this.state === LINE && this.run >= this.ticks) this.endContent()
    const closed = this.state === BEHIND || this.state === CLOSING
    if (this.refuted || !closed || !this.parser) return false
    this.parser.end()
    return !this.refuted && this.calls > 0
  }

  /** Reads a piece; returns how much of it: less if it is refuted, or at a marker behind the block. */
  feed(piece: string): number {
    let index = 0
    while (index < piece.length && !this.refuted) {
      const next = this.state === CONTENT ? this.takeContent(piece, index) : this.take(piece, index)
      if (next === index) break
      this.size += next - index
      index = next
    }
    return index
  }

  private take(piece: string, index: number): number {
    const code = piece.charCodeAt(index)
    switch (this.state) {
      case OPENING:
        if (this.ticks === 0) this.fenceCode = code
        if (code === this.fenceCode) this.ticks++
        else if (this.ticks < FEWEST_TICKS) this.refuted = true
        else {
          this.state = INFO
          return this.take(piece, index)
        }
        return index + 1
      case INFO:
        if (code === char.NEWLINE) {
          this.state = LINE
          this.contentStart = this.size + 1
        } else this.refuted = code === char.BACKTICK
        return index + 1
      case LINE:
        return this.takeLine(code, piece, index)
      default:
        return this.takeClosing(code, index)
    }
  }

  /** Blanks and ticks at the start of a line: the closing fence, or content. */
  private takeLine(code: number, piece: string, index: number): number {
    if (code === this.fenceCode) this.run++
    else if (this.run >= this.ticks && mayFollowFence(code)) {
      this.endContent()
      return this.takeClosing(code, index)
    } else if (this.run > 0 || !char.isBlank(code)) {
      const { line } = this
      this.line = ''
      this.run = 0
      this.state = CONTENT
      if (line !== '') this.pass(line)
      return this.refuted ? index : this.takeContent(piece, index)
    }
    this.line += piece.charAt(index)
    return index + 1
  }

  private endContent(): void {
    this.state = CLOSING
    this.contentEnd = this.size - this.line.length
  }

  private takeClosing(code: number, index: number): number {
    if (char.isSpace(code)) {
      if (code === char.NEWLINE) this.state = BEHIND
      return index + 1
    }
    this.refuted = code !== char.LESS
    return index
  }

  private takeContent(piece: string, index: number): number {
    const newline = piece.indexOf('\n', index)
    const end = newline < 0 ? piece.length : newline + 1
    this.pass(piece.slice(index, end))
    if (newline >= 0) this.state = LINE
    return end
  }

  private pass(content: string): void {
    if (!this.parser) {
      const first = content.trimStart().charAt(0)
      const begins = first === '{' || first === '[' || (this.tagged && first === '<')
      if (first === '' || !begins) {
        this.refuted = first !== ''
        return
      }
      this.parser = this.create(({ type }) => {
        if (type === 'tool-call-end') this.calls++
        const other = type === 'text-start' || type === 'reasoning-start'
        if (other || type === 'tool-call-error') this.refuted = true
      })
    }
    this.parser.feed(content)
  }
}

/** White space, or what may begin an end-of-turn token. */
function mayFollowFence(code: number): boolean {
  return char.isBlank(code) || code === char.NEWLINE || code === char.LESS
}
