/**
 * Which ways a run took through the core: pairs of branches that followed one another, and roughly
 * how often.
 *
 * `__edge` is what instrumented modules call at each branch. A pair has a place in a table of 64 Ki
 * counters; two pairs may share one, which loses a little and costs nothing. How often counts in
 * powers of two, so that a loop of nine turns is not news after one of eight.
 */

const SIZE = 65_536

declare global {
  var __edge: (branch: number) => void
}

export class Edges {
  /** How many pairs have been seen, each with each power of two. */
  seen = 0
  private readonly counts = new Uint8Array(SIZE)
  private readonly words = new Uint32Array(this.counts.buffer)
  /** By pair, a bit for each power of two. */
  private readonly known = new Uint8Array(SIZE)
  private on = false

  constructor() {
    let previous = 0
    globalThis.__edge = (branch) => {
      if (!this.on) return
      const place = previous ^ branch
      this.counts[place]!++
      previous = branch >>> 1
    }
  }

  /** Counts while `act` runs. */
  record<T>(act: () => T): T {
    this.on = true
    try {
      return act()
    } finally {
      this.on = false
    }
  }

  /** Takes what was recorded since the last time. True if any of it is new. */
  learn(): boolean {
    const before = this.seen
    for (let word = 0; word < this.words.length; word++) {
      if (this.words[word] === 0) continue
      for (let place = word * 4; place < word * 4 + 4; place++) this.take(place)
      this.words[word] = 0
    }
    return this.seen > before
  }

  private take(place: number): void {
    const count = this.counts[place]!
    if (count === 0) return
    const bit = 1 << (31 - Math.clz32(count))
    if ((this.known[place]! & bit) !== 0) return
    this.known[place]! |= bit
    this.seen++
  }
}
