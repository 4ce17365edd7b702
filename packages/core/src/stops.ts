/**
 * Finds the next character in a text at which the machine must look: one that may begin a marker,
 * a backtick, a tilde.
 *
 * Where little is left of the chunk, by a look at each character with a table, which also notices
 * line breaks. Else by a native search per character whose finds are kept until they are passed, or,
 * if there are many such characters, by one regular expression. Prose, ns per chunk of 5, 40 and 262,144 characters: 22, 130, 688,000 by
 * looks; 29, 90, 246,000 by expression; 37, 127, 38,000 by searches.
 */
import { type Compiled, STOP } from './compile.ts'
import { type Breaks, NO_BREAK, SOME, UNSEEN } from './lines.ts'

/** From this many characters on a native search is faster than a look at each. */
const LONG = 16
/** With more searches than this, one regular expression costs less. */
const FEW = 4

export class Stops {
  /** What is known of the chunk's line breaks. */
  breaks: Breaks = NO_BREAK
  /** Code units passed over, for the counter of promise 8. */
  visited = 0
  private readonly compiled: Compiled
  /** Where each character comes next in the chunk at hand; its length if nowhere. */
  private readonly ahead: number[]
  private searched = false

  constructor(compiled: Compiled) {
    this.compiled = compiled
    this.ahead = compiled.stopCharacters.map(() => 0)
  }

  /** A new chunk: what was found in the last one is void. */
  begin(): void {
    this.breaks = NO_BREAK
    this.searched = false
  }

  /** Index of the next such character from `index` on; the chunk's length if there is none. */
  find(chunk: string, index: number): number {
    const size = chunk.length
    const from = index
    if (size - index >= LONG) return this.findAhead(chunk, index)
    const { stops } = this.compiled
    for (; index < size; index++) {
      const stop = stops[chunk.charCodeAt(index)]!
      if (stop === 0) continue
      if (stop === STOP) break
      if (this.breaks === NO_BREAK) this.breaks = SOME
    }
    this.visited += index - from
    return index
  }

  private findAhead(chunk: string, index: number): number {
    const size = chunk.length
    const { stopPattern, stopCharacters } = this.compiled
    this.breaks = UNSEEN
    let found = size
    if (stopCharacters.length <= FEW) {
      found = this.search(chunk, index)
    } else {
      stopPattern.lastIndex = index
      if (stopPattern.test(chunk)) found = stopPattern.lastIndex - 1
    }
    this.visited += found - index
    return found
  }

  private search(chunk: string, index: number): number {
    const { ahead } = this
    const { stopCharacters } = this.compiled
    let nearest = chunk.length
    for (let at = 0; at < ahead.length; at++) {
      if (!this.searched || ahead[at]! < index) {
        const found = chunk.indexOf(stopCharacters[at]!, index)
        ahead[at] = found < 0 ? chunk.length : found
      }
      if (ahead[at]! < nearest) nearest = ahead[at]!
    }
    this.searched = true
    return nearest
  }
}
