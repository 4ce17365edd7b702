/**
 * Reads a call object that has no opener, and holds it: whether it is a call shows only behind it.
 *
 * It goes on while the object's keys are those of a call. Nothing of it is emitted; what the machine
 * makes of `raw` (a call, or text in which no marker counts) is its own matter.
 */
import type { Body, Grammar, Sink } from './bodies/body.ts'
import * as char from './chars.ts'
import type { Limits } from './limits.ts'
import type { JsonReading } from './options.ts'
import { isName } from './sink.ts'
import { TextBuilder } from './text-builder.ts'

// Where it stands, `|` being the place.
const OBJECT = 0 // {"name"|: "f"}
const BEHIND = 1 // {"name": "f", "arguments": {}}|
const BETWEEN = 2 // [{"name": "f", "arguments": {}}, |{…}]
type State = 0 | 1 | 2

export class BareCall {
  /** Offset of its first character. */
  start = 0
  /** It is no call. */
  refused = false
  /** Names of the calls that are complete. */
  readonly names: string[] = []
  private readonly grammar: Grammar
  private readonly limits: Limits
  private readonly sink: BareSink
  private body: Body | undefined
  private state: State = OBJECT
  private listed = false
  /** Braces that may follow the root. */
  private braces = 0
  private space = 0

  constructor(grammar: Grammar, limits: Limits, reading: JsonReading) {
    this.grammar = grammar
    this.limits = limits
    this.sink = new BareSink(limits, reading)
  }

  /** Begins at `offset`, where `{` or `[` stands. */
  begin(offset: number): void {
    this.start = offset
    this.refused = false
    this.names.length = 0
    this.listed = false
    this.braces = 0
    this.sink.text.clear()
    this.beginObject()
  }

  private beginObject(): void {
    this.state = OBJECT
    this.space = 0
    this.sink.begin()
    this.body ??= this.grammar.create()
    this.body.open(undefined)
  }

  /** What was read. */
  get raw(): string {
    return this.sink.text.toString() + this.sink.held
  }

  /** Whether what was read are whole calls, whatever came then. */
  get whole(): boolean {
    return this.state === BEHIND && !this.listed && this.sink.finished
  }

  /** Whether what was read are whole calls and nothing else. */
  get complete(): boolean {
    return this.whole && !this.refused
  }

  /** Reads from `index`; returns where it stopped: refused, or at what may be a marker. */
  take(chunk: string, index: number, base: number): number {
    const { sink } = this
    sink.base = base
    while (index < chunk.length && !this.refused) {
      if (this.state === OBJECT) {
        const left = this.limits.arguments - sink.size
        const room = char.splitsPair(chunk, index + left) ? left - 1 : left
        // Up to the limit first, so that it counts at one character.
        const view = chunk.length - index > room ? chunk.slice(0, index + room) : chunk
        this.refused = room <= 0
        if (this.refused) return index
        const end = this.body!.take(view, index, sink)
        this.settle()
        if (end < view.length && this.state === OBJECT) return end
        index = end
      } else if (!this.takeBehind(chunk.charCodeAt(index))) return index
      else if ((this.state as State) !== OBJECT) sink.text.add(chunk.charAt(index++))
    }
    return index
  }

  /** A character behind a call. False if it is none of the call's: a marker may begin there. */
  private takeBehind(code: number): boolean {
    if (char.isSpace(code)) {
      this.refused = ++this.space > this.limits.whitespace
      return !this.refused
    }
    const last = this.state === BEHIND
    if (code === char.CLOSE_BRACKET && last && this.listed) this.listed = false
    else if (code === char.CLOSE_BRACE && last && this.braces > 0) this.braces--
    else if (code === char.COMMA && last && this.listed) this.state = BETWEEN
    else if (code === char.OPEN_BRACE && !last) this.beginObject()
    else {
      this.refused = code !== char.LESS
      return false
    }
    return true
  }

  /** Characters that stand where a marker could are data. */
  give(text: string, offset: number): void {
    if (this.state === OBJECT) this.body!.give(text, offset, this.sink)
    else this.refused = true
    this.settle()
  }

  /** The close marker of the tag that was not opened. True if it completes the call. */
  close(offset: number): boolean {
    if (this.state === OBJECT) this.body!.closeSeen(true, offset, this.sink)
    this.settle()
    return this.complete
  }

  private settle(): void {
    const { sink } = this
    if (this.state !== OBJECT || sink.open) return
    this.refused = !sink.finished
    this.state = BEHIND
    this.names.push(sink.name)
    this.listed ||= sink.listed
    this.braces += sink.braces
  }
}

/** Keeps the source and what decides; has no use for the rest. */
class BareSink implements Sink {
  base = 0
  open = true
  started = false
  finished = false
  listed = false
  braces = 0
  name = ''
  readonly room: number = Infinity
  /** Characters that were read and are not in `text` yet. */
  held = ''
  readonly text = new TextBuilder()
  readonly tokens: boolean = false
  readonly limits: Limits
  readonly reading: JsonReading

  constructor(limits: Limits, reading: JsonReading) {
    this.limits = limits
    this.reading = reading
  }

  begin(): void {
    this.open = true
    this.held = ''
    this.started = false
    this.finished = false
    this.listed = false
    this.braces = 0
  }

  start(name: string): void {
    this.started = true
    this.name = name.trim()
    if (!isName(this.name)) this.fail()
  }

  skip(chunk: string, from: number, to: number): void {
    this.text.add(chunk.slice(from, to))
  }

  /** How many characters were read. */
  get size(): number {
    return this.text.length + this.held.length
  }

  pass(chunk: string, from: number, to: number): void {
    this.skip(chunk, from, to)
  }

  hold(source: string): void {
    this.held = source
  }

  notACall(): void {
    this.open = false
  }

  fail(): void {
    this.open = false
  }

  finish(): void {
    this.finished = this.open
    this.open = false
  }

  list(): void {
    this.listed = true
  }

  doubled(): void {
    this.braces = 1
  }

  parameters(): undefined {
    return undefined
  }

  write(): void {}
  repair(): void {}
  set(): void {}
  append(): void {}
  close(): void {}
  enter(): void {}
  leave(): void {}
  identify(): void {}
  warn(): void {}
}
