/**
 * Sinks for JSON whose characters are not the call's arguments as they stand.
 *
 * Whoever uses one delivers the source itself, as a whole: here `skip`, and the source in `pass`,
 * mean nothing.
 */
import type { RepairCode } from '../errors.ts'
import type { JsonValue } from '../events.ts'
import type { Limits } from '../limits.ts'
import type { JsonReading } from '../options.ts'
import { TextBuilder } from '../text-builder.ts'
import type { Sink } from './body.ts'
import type { JsonSink } from './json-edits.ts'

/** What they share: they ask the call's sink. */
abstract class Aside {
  base = 0
  protected sink!: Sink

  /** Attaches to the call's sink; the next chunk's first character stands at `base`. */
  on(sink: Sink, base: number): this {
    this.sink = sink
    this.base = base
    return this
  }

  get limits(): Limits {
    return this.sink.limits
  }

  get reading(): JsonReading {
    return this.sink.reading
  }

  repair(code: RepairCode): void {
    this.sink.repair(code)
  }

  skip(): void {}
}

/** Takes no value tokens but the characters of strings. */
export abstract class Tokenless extends Aside {
  get tokens(): boolean {
    return false
  }

  hold(): void {}
  set(): void {}
  close(): void {}
  enter(): void {}
  leave(): void {}
}

/** For JSON that only has to be right. */
export class Detached extends Tokenless implements JsonSink {
  pass(): void {}
  write(): void {}
  append(): void {}
}

/** For arguments that are not written where they are read: the call's sink gets their text. */
export class Written extends Aside implements JsonSink {
  get tokens(): boolean {
    return this.sink.tokens
  }

  pass(chunk: string, from: number, to: number): void {
    if (from < to) this.sink.write(chunk.slice(from, to))
  }

  write(text: string): void {
    this.sink.write(text)
  }

  hold(_source: string, size: number): void {
    this.sink.hold('', size)
  }

  set(value: JsonValue): void {
    this.sink.set(value)
  }

  append(text: string, start: number, end: number): void {
    this.sink.append(text, start, end)
  }

  close(): void {
    this.sink.close()
  }

  enter(step: string | number): void {
    this.sink.enter(step)
  }

  leave(): void {
    this.sink.leave()
  }
}

/** For values that may turn out to be arguments: keeps their text. */
export class Captured extends Tokenless implements JsonSink {
  readonly text: TextBuilder = new TextBuilder()

  append(): void {}

  pass(chunk: string, from: number, to: number): void {
    this.write(chunk.slice(from, to))
  }

  write(text: string): void {
    this.text.add(text)
    // One more for what closes it.
    this.sink.hold('', this.text.length + 1)
  }

  /** Forgets the text. */
  drop(): void {
    if (this.text.length === 0) return
    this.text.clear()
    this.sink.hold('', 0)
  }
}
