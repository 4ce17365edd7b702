/**
 * Reads markers that the automaton has begun and the headers behind them, across any cut.
 *
 * What is held is a node of the automaton, so a number; behind some literals a short header follows,
 * which is kept as text and bounded. What turns out to be no marker is released where it stands. A
 * marker that begins a longer one waits for the next characters; what was held behind it is read
 * again, which is never more than the longest marker.
 */
import type { Compiled, Marker, Tag } from './compile.ts'
import { GOING, Header, type HeaderKind, NAME, TAKEN, TICK } from './headers.ts'

/** A whole marker, header and all, where it stands. */
export interface Sighting {
  readonly marker: Marker
  /** The tag that an opener opens. */
  readonly tag: Tag | undefined
  /** The name in its header. */
  readonly name: string | undefined
  /** Offset of the name's first character. */
  readonly nameStart: number
  /** The marker as the model wrote it. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** What the reader needs of the machine. */
export interface MarkerHost {
  /** Offset of the chunk's first character. */
  readonly base: number
  /** Whether a marker counts where it stands; asked when its literal part is complete. */
  accepts(marker: Marker, start: number): boolean
  /** Whether a backtick after the marker makes it text. */
  isTicked(marker: Marker): boolean
  sighted(sighting: Sighting): void
  /** What was held is data. */
  release(text: string, start: number): void
  /** A header that began behind `marker` is none. */
  refused(marker: Marker, header: Header): void
  /** Reads characters that were held. */
  replay(text: string, offset: number): void
}

/** Longest header beside its name: other attributes, blanks. */
const HEADER_ROOM = 1_024
const NONE = -1

export class MarkerReader {
  /** A marker or a header is under way: the next characters go to `take`. */
  busy = false
  /** Code units looked at, for the counter of promise 8. */
  visited = 0
  private readonly header = new Header()
  /** A header is being read. */
  private inHeader = false
  private readonly host: MarkerHost
  private readonly compiled: Compiled
  private readonly nameLimit: number
  private node = 0
  /** A whole marker that may still become a longer one, and where it ended. */
  private candidate = NONE
  private candidateEnd = 0

  constructor(host: MarkerHost, compiled: Compiled, nameLimit: number) {
    this.host = host
    this.compiled = compiled
    this.nameLimit = nameLimit
  }

  clear(): void {
    this.busy = false
    this.node = 0
    this.inHeader = false
    this.candidate = NONE
  }

  /** What is held back. */
  get held(): string {
    return this.inHeader ? this.header.text : this.compiled.automaton.textOf(this.node)
  }

  /** The header that is under way, if one is. */
  get openHeader(): Header | undefined {
    return this.inHeader ? this.header : undefined
  }

  /** Goes on at `index`; returns where it stopped. A character that ends a mismatch is not taken. */
  take(chunk: string, index: number): number {
    return this.inHeader ? this.takeHeader(chunk, index) : this.takeLiteral(chunk, index)
  }

  /** The scan of a run has read the beginning of a marker, up to the chunk's end. */
  hold(node: number): void {
    this.node = node
    this.busy = true
  }

  /** A marker ends at `end`. `whole`: no longer one can follow. `accepted`: already asked for. */
  found(id: number, whole: boolean, node: number, end: number, accepted: boolean): void {
    if (whole) this.meet(id, end, accepted)
    else {
      this.hold(node)
      this.candidate = id
      this.candidateEnd = end
    }
  }

  /** The input ends at `offset`: a marker that waited for a longer one counts. */
  settle(offset: number): void {
    if (this.candidate !== NONE) this.commit(offset)
  }

  private takeLiteral(chunk: string, index: number): number {
    const { automaton } = this.compiled
    const { depth, match, leaf, markers } = automaton
    const size = chunk.length
    while (index < size) {
      const before = this.node
      const next = automaton.step(before, chunk.charCodeAt(index))
      const offset = this.host.base + index
      if (this.candidate !== NONE && this.overtakes(offset + (next === 0 ? 0 : 1) - depth[next]!)) {
        this.commit(offset)
        return index
      }
      this.visited++
      const start = offset - depth[before]!
      const released = depth[before]! + 1 - depth[next]!
      // Nothing of what is held goes on: the character is for the scan of the run it stands in.
      if (next === 0 || (released > 0 && released === depth[before])) {
        this.clear()
        if (before > 0) this.host.release(automaton.textOf(before), start)
        return index
      }
      this.hold(next)
      index++
      if (released > 0) this.host.release(automaton.textOf(before).slice(0, released), start)
      const found = match[next]!
      if (found === NONE) continue
      const whole = markers[found]!.length === depth[next] && leaf[next] === 1
      this.found(found, whole, next, this.host.base + index, false)
      if (whole) return index
    }
    return index
  }

  /** Whether what is held from `start` on leaves the candidate behind. */
  private overtakes(start: number): boolean {
    return start > this.candidateEnd - this.compiled.automaton.markers[this.candidate]!.length
  }

  /** No longer marker came: the shorter one counts, and what was held behind it is read again. */
  private commit(offset: number): void {
    const { candidate, candidateEnd, node, host } = this
    const { automaton } = this.compiled
    const held = automaton.textOf(node)
    const start = offset - held.length
    const candidateStart = candidateEnd - automaton.markers[candidate]!.length
    this.clear()
    if (start < candidateStart) host.release(held.slice(0, candidateStart - start), start)
    this.meet(candidate, candidateEnd, false)
    if (candidateEnd < offset) host.replay(held.slice(candidateEnd - start), candidateEnd)
  }

  /** The literal part of a marker stands here. */
  private meet(id: number, end: number, accepted: boolean): void {
    const marker = this.compiled.markers[id]!
    const { literal } = marker
    const start = end - literal.length
    this.clear()
    if (!accepted && !this.host.accepts(marker, start)) this.host.release(literal, start)
    else if (marker.header !== undefined) this.beginHeader(marker.header, id, literal, start)
    else if (this.host.isTicked(marker)) this.beginHeader(TICK, id, literal, start)
    else this.sight(marker, undefined, start, literal, start)
  }

  private beginHeader(kind: HeaderKind, id: number, literal: string, start: number): void {
    const room = kind === NAME ? literal.length + 1 : HEADER_ROOM
    this.header.begin(kind, id, literal, start, room + this.nameLimit)
    this.inHeader = true
    this.busy = true
  }

  private takeHeader(chunk: string, index: number): number {
    const { header } = this
    const end = header.take(chunk, index)
    this.visited += end - index
    if (header.status === GOING) return end
    const marker = this.compiled.markers[header.marker]!
    this.clear()
    if (header.status === TAKEN)
      this.sight(marker, header.name, header.nameStart, header.text, header.start)
    else this.host.refused(marker, header)
    return end
  }

  private sight(
    marker: Marker,
    name: string | undefined,
    nameStart: number,
    text: string,
    start: number,
  ): void {
    const end = start + text.length
    const { namedTag } = marker
    // On a tag that takes no name, the attribute is one among others.
    if (name === undefined || !namedTag) {
      const { tag } = marker
      return this.host.sighted({ marker, tag, name: undefined, nameStart, text, start, end })
    }
    this.host.sighted({ marker, tag: namedTag, name, nameStart, text, start, end })
  }
}
