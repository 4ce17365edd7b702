/**
 * Finds literal markers in text that arrives in chunks: one automaton over all of them, with
 * failure links, so that markers may share beginnings, begin one another or overlap.
 *
 * A node stands for the beginning of a marker that has been read. What is held back is therefore
 * always `textOf(node)`: a number describes it and nothing is kept. `next` is a full table of
 * transitions with the failure links worked in, so a step is one look-up and no character is
 * looked at twice. The price is a table of nodes × character classes (some 10 KiB for one family).
 */

export class MarkerAutomaton {
  readonly markers: readonly string[]
  /** How many characters of a marker a node has read. */
  readonly depth: Uint8Array
  /** Which marker ends at a node, on its own path or on a later start's; -1 for none. */
  readonly match: Int16Array
  /** 1 if no longer marker begins with what the node has read. */
  readonly leaf: Uint8Array
  /** The node of the longest proper end of what was read that begins a marker. */
  private readonly fail: Uint16Array
  private readonly next: Uint16Array
  /** The class of each UTF-16 unit: 64 KiB that save a branch and a look-up per step. */
  private readonly classes: Uint8Array
  private readonly width: number
  private readonly texts: readonly string[]

  constructor(markers: readonly string[]) {
    this.markers = markers
    const { classes, width } = classify(markers)
    this.classes = classes
    this.width = width
    const { children, texts, ends } = grow(markers)
    const size = texts.length
    this.texts = texts
    this.depth = Uint8Array.from(texts, (text) => text.length)
    this.leaf = Uint8Array.from(children, (child) => (child.size === 0 ? 1 : 0))
    this.fail = new Uint16Array(size)
    this.match = Int16Array.from(ends)
    this.next = new Uint16Array(size * width)
    this.link(children)
  }

  /** The node after `node` has read the character. 0: no marker can have begun. */
  step(node: number, code: number): number {
    return this.next[node * this.width + this.classes[code]!]!
  }

  /** Whether a marker may begin with the character. */
  begins(code: number): boolean {
    return this.step(0, code) !== 0
  }

  /** What a node has read. */
  textOf(node: number): string {
    return this.texts[node]!
  }

  /** Breadth first, so that a node's failure node is complete before the node itself. */
  private link(children: readonly ReadonlyMap<number, number>[]): void {
    const queue = [0]
    for (let at = 0; at < queue.length; at++) {
      const node = queue[at]!
      const row = node * this.width
      const failRow = this.fail[node]! * this.width
      if (node !== 0) {
        for (let kind = 0; kind < this.width; kind++)
          this.next[row + kind] = this.next[failRow + kind]!
        if (this.match[node] === -1) this.match[node] = this.match[this.fail[node]!]!
      }
      for (const [code, child] of children[node]!) {
        const kind = this.classes[code]!
        this.fail[child] = node === 0 ? 0 : this.next[failRow + kind]!
        this.next[row + kind] = child
        queue.push(child)
      }
    }
  }
}

/** Gives each character that occurs in a marker a class of its own; all others share class 0. */
function classify(markers: readonly string[]): { classes: Uint8Array; width: number } {
  const classes = new Uint8Array(65_536)
  let width = 1
  for (const marker of markers) {
    for (let index = 0; index < marker.length; index++) {
      const code = marker.charCodeAt(index)
      classes[code] ||= width++
    }
  }
  return { classes, width }
}

/** The tree of the markers: children by character, the text and the marker of each node. */
function grow(markers: readonly string[]): {
  children: Map<number, number>[]
  texts: string[]
  ends: number[]
} {
  const children = [new Map<number, number>()]
  const texts = ['']
  const ends = [-1]
  for (const [id, marker] of markers.entries()) {
    let node = 0
    for (let index = 0; index < marker.length; index++) {
      const code = marker.charCodeAt(index)
      let child = children[node]!.get(code)
      if (child === undefined) {
        child = children.length
        children.push(new Map())
        texts.push(marker.slice(0, index + 1))
        ends.push(-1)
        children[node]!.set(code, child)
      }
      node = child
    }
    ends[node] = id
  }
  return { children, texts, ends }
}
