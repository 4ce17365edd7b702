/**
 * The arguments alone as a JSON object, `{…}`, for sections whose header holds the name.
 *
 * Nothing at all before the close marker is a call without arguments, `{}`.
 */
import * as char from '../chars.ts'
import type { Body, Grammar, Sink } from './body.ts'
import { JsonScanner } from './json.ts'
import { quoteUnit } from './json-text.ts'

const REST = 'the rest of the arguments'

class JsonArguments implements Body {
  begun = false
  /** The root began with two braces, and the second of its end is to come. */
  private waits = false
  private name = ''
  private readonly scanner = new JsonScanner(true)

  get passing(): boolean {
    return !this.waits
  }

  get verbatim(): Uint8Array | undefined {
    return this.begun ? this.scanner.verbatim : undefined
  }

  get holds(): boolean {
    return this.scanner.holds
  }

  get lastString(): number {
    return this.scanner.lastString
  }

  open(name: string | undefined): void {
    this.begun = false
    this.waits = false
    this.name = name ?? ''
    this.scanner.clear()
    this.scanner.open(true, true)
  }

  take(chunk: string, index: number, sink: Sink): number {
    if (!this.begun) {
      this.begun = true
      if (!sink.started) sink.start(this.name, sink.base + index)
      if (!sink.open) return index
    }
    if (this.waits) return this.takeBrace(chunk, index, sink)
    const end = this.scanner.take(chunk, index, sink)
    if (this.scanner.done) {
      this.waits = this.scanner.doubled
      if (this.waits) return this.takeBrace(chunk, end, sink)
      this.finish(sink)
    } else if (end < chunk.length && chunk.charCodeAt(end) !== char.LESS)
      this.broken(quoteUnit(chunk.charCodeAt(end)), sink.base + end, sink)
    return end
  }

  private finish(sink: Sink): void {
    const { scanner } = this
    if (scanner.suspectStart >= 0)
      sink.warn('suspicious-escape', scanner.suspectStart, scanner.suspectEnd)
    sink.finish()
  }

  /** White space, and the brace that closes a root with two. */
  private takeBrace(chunk: string, index: number, sink: Sink): number {
    const from = index
    while (index < chunk.length && char.isJsonSpace(chunk.charCodeAt(index))) index++
    const closes = chunk.charCodeAt(index) === char.CLOSE_BRACE
    const end = closes ? index + 1 : index
    sink.skip(chunk, from, end)
    if (closes) this.finish(sink)
    else if (end < chunk.length && chunk.charCodeAt(end) !== char.LESS) {
      this.broken(quoteUnit(chunk.charCodeAt(end)), sink.base + end, sink)
    }
    return end
  }

  /** Only the second brace of the root is missing. */
  private lackBrace(sink: Sink): void {
    sink.repair('missing-brace')
    this.finish(sink)
  }

  give(text: string, offset: number, sink: Sink): void {
    if (this.waits) return this.broken(quoteUnit(text.charCodeAt(0)), offset, sink)
    const taken = this.scanner.takeData(text, sink)
    if (taken < text.length) this.broken(quoteUnit(text.charCodeAt(taken)), offset + taken, sink)
  }

  private broken(found: string, offset: number, sink: Sink): void {
    const { tooDeep } = this.scanner
    const expected = this.waits ? 'the second “}”' : this.scanner.expected || REST
    if (tooDeep) sink.fail('limit', expected, offset)
    else sink.fail('malformed-arguments', expected, offset, found)
  }

  closeSeen(own: boolean, offset: number, sink: Sink): void {
    if (this.scanner.inLine && !own) return
    if (this.waits && own) return this.lackBrace(sink)
    if (this.begun || !own) return this.broken('a close marker', offset, sink)
    if (!sink.started) sink.start(this.name, offset)
    sink.finish()
  }

  openSeen(offset: number, sink: Sink): void {
    if (!this.scanner.inLine) this.broken('an opener', offset, sink)
  }

  end(offset: number, _held: string, closing: boolean, sink: Sink): void {
    if (this.waits && closing) return this.lackBrace(sink)
    sink.fail('incomplete-call', this.scanner.expected || REST, offset)
  }
}

/** `{…}`, the arguments of a call whose name is in the section's header. */
export const jsonArguments: Grammar = {
  name: 'json-arguments',
  begins: (code) => code === char.OPEN_BRACE,
  several: false,
  create: () => new JsonArguments(),
}
