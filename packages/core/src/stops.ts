/**
 * Finds the next character in a text at which the machine must look: one that may begin a marker,
 * a backtick, a tilde.
 *
 * Three ways, by how much is left of the chunk: a look at each character with a table, which also
 * notices line breaks; one regular expression; a native search per character whose finds are kept
 * until they are passed. Prose, ns per chunk of 5, 40 and 262,144 characters: 22, 130, 688,000 by
 * looks; 29, 90, 246,000 by expression; 37, 127, 38,000 by searches.
 */
import { type Compiled, STOP } from './compile.ts'
import { type Breaks, NO_BREAK, SOME, UNSEEN } from './lines.ts'

/** From this many characters on the regular expression is the fastest. */
const MEDIUM = 16
/** From this many on, a search per character is. */
const LONG = 16
/** More searches than this cost more than the expression. */
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
    if (size - index >= MEDIUM) return this.findAhead(chunk, index)
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
    if (this.searched || (size - index >= LONG && stopCharacters.length <= FEW)) {
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
