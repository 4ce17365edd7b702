/**
 * The arguments alone as a JSON object, `{…}`, for sections whose header holds the name.
 *
 * Nothing at all before the close marker is a call without arguments, `{}`.
 */
import * as char from '../chars.ts'
import type { Body, Grammar, Sink } from './body.ts'
import { JsonScanner, quoteUnit } from './json.ts'

class JsonArguments implements Body {
  begun = false
  readonly passing: boolean = true
  private name = ''
  private readonly scanner = new JsonScanner()

  get verbatim(): Uint8Array | undefined {
    return this.begun ? this.scanner.verbatim : undefined
  }

  get lastString(): number {
    return this.scanner.lastString
  }

  open(name: string | undefined): void {
    this.begun = false
    this.name = name ?? ''
    this.scanner.open(true)
  }

  take(chunk: string, index: number, sink: Sink): number {
    if (!this.begun) {
      this.begun = true
      if (!sink.started) sink.start(this.name, sink.base + index)
      if (!sink.open) return index
    }
    const end = this.scanner.take(chunk, index, sink)
    sink.pass(chunk, index, end)
    if (!sink.open) return end
    if (this.scanner.done) sink.finish()
    else if (end < chunk.length && chunk.charCodeAt(end) !== char.LESS)
      this.broken(quoteUnit(chunk.charCodeAt(end)), sink.base + end, sink)
    return end
  }

  give(text: string, offset: number, sink: Sink): void {
    this.broken(quoteUnit(text.charCodeAt(0)), offset, sink)
  }

  private broken(found: string, offset: number, sink: Sink): void {
    const { tooDeep } = this.scanner
    const expected = this.scanner.expected || 'the rest of the arguments'
    if (tooDeep) sink.fail('limit', expected, offset)
    else sink.fail('malformed-arguments', expected, offset, found)
  }

  closeSeen(own: boolean, offset: number, sink: Sink): void {
    if (this.begun || !own) return this.broken('a close marker', offset, sink)
    if (!sink.started) sink.start(this.name, offset)
    sink.finish()
  }

  openSeen(offset: number, sink: Sink): void {
    this.broken('an opener', offset, sink)
  }

  end(offset: number, _held: string, sink: Sink): void {
    sink.fail('incomplete-call', this.scanner.expected || 'the rest of the arguments', offset)
  }
}

/** `{…}`, the arguments of a call whose name is in the section's header. */
export const jsonArguments: Grammar = {
  name: 'json-arguments',
  begins: (code) => code === char.OPEN_BRACE,
  several: false,
  create: () => new JsonArguments(),
}
