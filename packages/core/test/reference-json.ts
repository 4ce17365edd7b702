/**
 * Strict JSON by recursive descent, by the letter of RFC 8259: the part of the slow twin that says
 * where a value ends, where it breaks, and where the last string before that began.
 */
import type { ErrorCode } from '../src/index.ts'

const MARKERS: readonly string[] = [
  ...['tool_call', 'function_call', 'function', 'think', 'thinking', 'reasoning'].flatMap(
    (name) => [`<${name}>`, `</${name}>`],
  ),
  '<function=',
]

/** The grammar of a call broke at `at`. */
export class Broken extends Error {
  readonly code: ErrorCode
  readonly at: number

  constructor(code: ErrorCode, at: number) {
    super(code)
    this.code = code
    this.at = at
  }
}

/** Reads values of one call. Every method takes where it begins and leaves `at` behind it. */
export class Json {
  at = 0
  /** The call's name, once it is known. */
  name: string | undefined
  /** Offset behind what proved name and grammar. */
  provedAt = 0
  /** A value other than the name, `id` or `type` has begun. */
  committed = false
  /** Where the last string began. */
  lastString = Number.POSITIVE_INFINITY
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /** Nothing that may stand at `at` stands there. */
  fail(at: number): never {
    const rest = this.source.slice(at)
    // The end of input may cut a marker, too.
    const cut = MARKERS.some((marker) => marker.startsWith(rest) && marker !== rest)
    if (cut) throw new Broken('incomplete-call', this.source.length)
    throw new Broken(this.name === undefined ? 'malformed-call' : 'malformed-arguments', at)
  }

  /** Any value; returns where it ends. */
  value(at: number): number {
    const first = this.source[at]
    if (first === '{') this.object(at, (_, value) => void this.value(value))
    else if (first === '[') this.list(at)
    else if (first === '"') this.string(at)
    else this.atom(at)
    return this.at
  }

  /** An object; `member` reads the value that begins at the offset it is given. */
  object(at: number, member: (key: string, value: number) => void, loose = false): void {
    this.at = at + 1
    if (this.next() === '}') {
      this.at++
      return
    }
    do {
      if (this.next() !== '"') this.fail(this.at)
      const key = this.text(this.at, loose)
      if (this.next() !== ':') this.fail(this.at)
      this.at++
      this.next()
      member(key, this.at)
    } while (this.comma('}'))
  }

  /** A string's value. `loose`: the string ends at its quote, whatever its escapes are worth. */
  text(at: number, loose: boolean): string {
    if (!loose) this.string(at)
    else {
      this.lastString = at
      const end = /(?:[^"\\\u0000-\u001f]|\\[^]?)*/y
      end.lastIndex = at + 1
      this.at = at + 1 + end.exec(this.source)![0].length
      if (this.source[this.at] !== '"') this.fail(this.at)
      this.at++
    }
    try {
      return JSON.parse(this.source.slice(at, this.at)) as string
    } catch {
      return this.fail(this.at - 1)
    }
  }

  private list(at: number): void {
    this.at = at + 1
    if (this.next() === ']') {
      this.at++
      return
    }
    do {
      this.next()
      this.value(this.at)
    } while (this.comma(']'))
  }

  /** Takes the comma before a further member, or the closer behind the last one. */
  private comma(closer: string): boolean {
    const found = this.next()
    if (found !== ',' && found !== closer) this.fail(this.at)
    this.at++
    return found === ','
  }

  /** Goes to the next character that is no white space. */
  private next(): string | undefined {
    while (/[ \t\r\n]/.test(this.source.charAt(this.at))) this.at++
    return this.source[this.at]
  }

  private string(at: number): void {
    this.lastString = at
    for (this.at = at + 1; this.source[this.at] !== '"';) {
      const rest = this.source.slice(this.at, this.at + 6)
      const character = /^(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})/.exec(rest)?.[0]
      if (!character) this.fail(this.at + (/^\\(?:u[\da-fA-F]{0,3})?/.exec(rest)?.[0].length ?? 0))
      this.at += character.length
    }
    this.at++
  }

  private atom(at: number): void {
    const rest = this.source.slice(at)
    const whole = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(rest)?.[0]
    const begun =
      /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/.exec(rest)?.[0] ||
      /^(?:t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)?/.exec(rest)![0]
    if (!whole || begun.length > whole.length) this.fail(at + begun.length)
    this.at = at + whole.length
  }
}
