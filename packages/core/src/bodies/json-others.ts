/**
 * Keys of a call that are none of its own: ignored beside arguments, or, where a tool declares them
 * all, the arguments themselves. Until that is settled it keeps their values' text.
 */
import type { Sink } from './body.ts'
import type { JsonScanner } from './json.ts'
import { Captured, Written } from './json-sinks.ts'

export class OtherKeys {
  /** Whether a declaration's key was among them. */
  described = false
  /** Offsets of the keys, start and end in turn. */
  private readonly places: number[] = []
  private readonly keys: string[] = []
  private readonly captured = new Captured()
  private readonly written = new Written()
  /** They may still be the arguments. */
  private wanted = true
  private declared: ReadonlySet<string> | undefined

  clear(): void {
    this.described = false
    this.wanted = true
    this.declared = undefined
    if (this.places.length === 0) return
    this.places.length = 0
    this.keys.length = 0
    this.captured.text.clear()
  }

  get size(): number {
    return this.keys.length
  }

  /** A key's value begins. `name`: the call's, if it is known. */
  begin(key: string, start: number, end: number, name: string | undefined, sink: Sink): void {
    this.places.push(start, end)
    this.keys.push(key)
    this.described ||= key === 'description'
    if (sink.reading.strict || (name !== undefined && !this.declares(name, key, sink)))
      this.drop(sink)
    if (!this.wanted) return
    const separator = this.captured.text.length === 0 ? '{' : ','
    this.sink(sink)!.write(`${separator}${JSON.stringify(key)}:`)
  }

  /** Where the value's text goes, if it is of use. */
  sink(sink: Sink): Captured | undefined {
    return this.wanted ? this.captured.on(sink, sink.base) : undefined
  }

  /** There are arguments, or there can be none. */
  drop(sink: Sink): void {
    this.wanted = false
    if (this.keys.length > 0) this.captured.on(sink, 0).drop()
  }

  private declares(name: string, key: string, sink: Sink): boolean {
    this.declared ??= sink.parameters(name)
    return this.declared?.has(key) === true
  }

  /** The root closes. Writes the keys as the arguments; false if they are not, or fail to. */
  lift(name: string, scanner: JsonScanner, sink: Sink): boolean {
    if (!this.wanted || !this.keys.every((key) => this.declares(name, key, sink))) return false
    const text = `${this.captured.text.toString()}}`
    this.drop(sink)
    sink.repair('lifted-arguments')
    const { lastString } = scanner
    scanner.open(true)
    scanner.take(text, 0, this.written.on(sink, 0))
    scanner.lastString = lastString
    return scanner.done
  }

  /** Each key is one that nobody reads. */
  warn(sink: Sink): void {
    const { places } = this
    for (let at = 0; at < places.length; at += 2)
      sink.warn('unknown-key', places[at]!, places[at + 1]!)
  }
}
