/**
 * Holds end-of-turn tokens, such as `<|im_end|>`, and white space behind them.
 *
 * At the very end of the input they vanish, whatever was being read, and the input ends before
 * them. In front of another turn's header the message ends. Everywhere else they are data.
 */
import * as char from './chars.ts'
import type { Sighting } from './marker-reader.ts'
import { type Reader, TURN_ENDING } from './reader.ts'

export class TurnEnd {
  /** What is held; empty while nothing is. */
  text = ''
  private readonly reader: Reader
  private start = 0
  /** Offset behind the last token. */
  private end = 0
  /** What stood last, once the input is over. */
  private last = ''

  constructor(reader: Reader) {
    this.reader = reader
  }

  add({ text, start, end }: Sighting): void {
    if (this.text.length + text.length > this.reader.limits.whitespace) this.flush()
    if (this.text === '') this.start = start
    this.text += text
    this.end = end
    this.reader.attention |= TURN_ENDING
  }

  clear(): void {
    this.text = ''
    this.reader.attention &= ~TURN_ENDING
  }

  /** White space behind a token, and what comes then; returns where it stopped. */
  take(chunk: string, index: number): number {
    const { reader } = this
    const { compiled, limits, markers } = reader
    let at = index
    while (at < chunk.length && char.isSpace(chunk.charCodeAt(at))) at++
    reader.looks += at - index
    if (this.text.length + at - index > limits.whitespace) {
      this.flush()
      return index
    }
    this.text += chunk.slice(index, at)
    if (at === chunk.length) return at
    if (compiled.automaton.begins(chunk.charCodeAt(at))) return markers.take(chunk, at)
    this.flush()
    return at
  }

  /** The turn did not end: what is held is data where it stands. */
  flush(): void {
    const { text, start, end, reader } = this
    if (text === '') return
    this.clear()
    reader.note('not-at-end', text.trimEnd(), start, end)
    reader.release(text, start, true)
  }

  /** The input is over: the offset at which what counts of it ends. */
  cut(): number {
    const { reader } = this
    if (reader.markers.busy) this.flush()
    this.last = this.text
    if (this.last === '') return reader.base
    this.clear()
    return this.start
  }

  /** All parts have ended at `cut`: the tokens are nobody's. */
  drop(): void {
    const { last, start, end, reader } = this
    if (last === '') return
    this.last = ''
    reader.note('end-of-turn', last.trimEnd(), start, end)
    reader.out.warn('special-token', start, end)
    reader.out.span('marker', reader.base)
  }

  /** Another turn's header follows, up to `end`: the model plays that turn, too. */
  beginTurn({ text, start, end }: Sighting): void {
    const { reader } = this
    const ended = this.text.trimEnd()
    this.clear()
    reader.note('end-of-turn', ended, this.start, this.end)
    reader.note('fabricated', text, start, end)
    reader.endParts(this.start)
    reader.out.warn('fabricated-turn', this.start, end)
    reader.over = true
  }
}
