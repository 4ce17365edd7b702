/**
 * Calls whose name is an element's text: `<name>f</name><arguments>{…}</arguments>` and, inside
 * another tag, `f</function>{…}`. The arguments are a JSON object.
 *
 * Until the name and what must follow it are there, all of it may be text.
 */
import * as char from '../chars.ts'
import type { Body, Grammar, Sink } from './body.ts'
import { jsonArguments } from './json-arguments.ts'

// Where the body stands, `|` being the place.
const BARE_NAME = 0 // <function>f|</function>{"a": 1}
const BEHIND_NAME = 1 // <function>f |</function>{"a": 1}
const OBJECT = 2 // <function>f</function>| {"a": 1}
const NAME = 3 // <name>f|</name>
const ELEMENT = 4 // <name>f</name>| <arguments>
const ARGUMENTS = 5 // <arguments>|{"a": 1}
const TAGS: readonly string[] = ['<name>', '</name>', '<arguments>', '</arguments>']
type State = 0 | 1 | 2 | 3 | 4 | 5

class ElementCall implements Body {
  private readonly inner: Body = jsonArguments.create()
  private state: State = BARE_NAME
  private name = ''
  /** The marker at hand is part of the grammar: `give` has nothing to do with it. */
  private taken = false

  get begun(): boolean {
    return this.state === ARGUMENTS && this.inner.begun
  }

  get passing(): boolean {
    return this.state === ARGUMENTS
  }

  get verbatim(): Uint8Array | undefined {
    return this.state === ARGUMENTS ? this.inner.verbatim : undefined
  }

  get holds(): boolean {
    return this.state === ARGUMENTS && this.inner.holds === true
  }

  get lastString(): number {
    return this.state === ARGUMENTS ? this.inner.lastString : -1
  }

  open(): void {
    this.state = BARE_NAME
    this.name = ''
    this.taken = false
  }

  take(chunk: string, index: number, sink: Sink): number {
    const from = index
    for (; index < chunk.length && sink.open; index++) {
      if (this.state === ARGUMENTS) break
      const code = chunk.charCodeAt(index)
      if (code === char.LESS) break
      if (this.state === OBJECT && code === char.OPEN_BRACE) this.beginArguments()
      else if (!this.takeName(chunk.charAt(index), sink)) break
      if ((this.state as State) === ARGUMENTS) break
    }
    sink.skip(chunk, from, index)
    if (this.state !== ARGUMENTS || index === chunk.length || !sink.open) return index
    return this.takeArguments(chunk, index, sink)
  }

  /** A character of the name or white space around it. False if it is no call. */
  private takeName(character: string, sink: Sink): boolean {
    const space = char.isSpace(character.charCodeAt(0))
    if (this.state === BARE_NAME && space) this.state = BEHIND_NAME
    else if (this.state === BARE_NAME || this.state === NAME) this.name += character
    else if (!space) sink.notACall()
    if (this.name.length > sink.limits.name) sink.notACall()
    return sink.open
  }

  private beginArguments(): void {
    this.state = ARGUMENTS
    this.inner.open(this.name)
  }

  /** White space before the object is skipped; the object proves the call. */
  private takeArguments(chunk: string, index: number, sink: Sink): number {
    const from = index
    if (!this.inner.begun) {
      while (index < chunk.length && char.isSpace(chunk.charCodeAt(index))) index++
      sink.skip(chunk, from, index)
      if (index === chunk.length) return index
      const code = chunk.charCodeAt(index)
      if (code !== char.OPEN_BRACE) {
        if (code !== char.LESS) sink.notACall()
        return index
      }
    }
    return this.inner.take(chunk, index, sink)
  }

  tagSeen(tag: string): void {
    this.taken = true
    if (tag === TAGS[0] && this.state === BARE_NAME && this.name === '') this.state = NAME
    else if (tag === TAGS[1] && this.state === NAME) this.state = ELEMENT
    else if (tag === TAGS[2] && this.state === ELEMENT) this.beginArguments()
    else this.taken = false
  }

  closeSeen(own: boolean, offset: number, sink: Sink): void {
    const { state } = this
    if (state === ARGUMENTS && this.inner.begun) this.inner.closeSeen(own, offset, sink)
    else if (own && state <= BEHIND_NAME && this.name !== '') {
      this.taken = true
      this.state = OBJECT
    } else if (own && state >= ELEMENT) {
      if (state === ELEMENT) this.beginArguments()
      this.inner.closeSeen(true, offset, sink)
    } else sink.notACall()
  }

  openSeen(offset: number, sink: Sink): void {
    if (this.begun) this.inner.openSeen(offset, sink)
    else sink.notACall()
  }

  give(text: string, offset: number, sink: Sink): void {
    if (this.taken) {
      this.taken = false
      sink.skip(text, 0, text.length)
    } else if (this.begun) this.inner.give(text, offset, sink)
    else sink.notACall()
  }

  end(offset: number, held: string, closing: boolean, sink: Sink): void {
    if (this.begun) this.inner.end(offset, held, closing, sink)
    else if (this.state === ARGUMENTS || this.state === ELEMENT) {
      sink.fail('incomplete-call', 'the rest of the call', offset)
    } else sink.notACall()
  }
}

/** `<name>f</name><arguments>{…}</arguments>` inside `<function>`. */
export const elementCall: Grammar = {
  name: 'element-call',
  begins: () => false,
  tags: TAGS,
  several: false,
  create: () => new ElementCall(),
}

/** `f</function>{…}` behind `<function>` inside another tag. */
export const nameFirst: Grammar = {
  name: 'name-first',
  begins: (code) => char.isWordCharacter(code) || code > 0x7f,
  inside: true,
  several: false,
  create: () => new ElementCall(),
}
