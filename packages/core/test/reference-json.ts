/**
 * JSON by recursive descent, with or without the repairs: the part of the slow twin that says what
 * a model's JSON comes to, where a value ends, and where it breaks.
 *
 * It reads a whole text and looks ahead as far as it likes. `out` is valid JSON for what was read.
 * Strings may themselves hold JSON: then it reads what they hold, and `offsets` lead back.
 */
import type { ErrorCode, RepairCode } from '../src/errors.ts'
import { FOREIGN_CLOSER, isCutMarker, matchAt, TAGS } from './reference-tags.ts'

export interface JsonRules {
  /** No repair. */
  readonly strict?: boolean
  readonly guessQuotes?: boolean
  readonly curlyQuotes?: boolean
  readonly gluedArguments?: 'fail' | 'first'
  /** What stands behind the end, if that is no end of the input: a marker that it cuts is none. */
  readonly behind?: string
}

/** The grammar of a call broke at `at`. */
export class Broken extends Error {
  readonly code: ErrorCode
  readonly at: number
  /** Where reading goes on: behind what was read when it broke. */
  readonly end: number
  /** The input ended inside a string or a comment, where no marker is looked for. */
  readonly opaque: boolean

  constructor(code: ErrorCode, at: number, opaque = false, end = at) {
    super(code)
    this.code = code
    this.at = at
    this.end = end
    this.opaque = opaque
  }
}

/** What is known of the call that JSON is read for. */
export class CallNotes {
  /** The call's name, once it is known. */
  name: string | undefined
  /** Offset behind what proved name and grammar. */
  provedAt = 0
  /** A value other than the name, `id` or `type` has begun. */
  committed = false
  /** Where the last string began. */
  lastString: number = Number.POSITIVE_INFINITY
  /** In order of what was repaired. */
  readonly repairs = new Set<RepairCode>()
  /** The first string in the arguments that mixes invalid escapes with control escapes. */
  suspicious: readonly [start: number, end: number] | undefined
  /** Every `{{` is one brace. */
  doubled = false
}

/** A string that a model wrote. */
interface Units {
  readonly value: string
  /** For each unit of the value, the offset of the last character that it was written with. */
  readonly offsets: readonly number[]
  readonly closed: boolean
}

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”' }
export const BARE_KEY: RegExp = /[\p{L}_$][\p{L}\p{N}_$-]*/uy
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

export class Json {
  at = 0
  /** Valid JSON for what was read. */
  out = ''
  /** Inside the arguments: there quotes are guessed and escapes suspected. */
  inside = false
  readonly notes: CallNotes
  readonly rules: JsonRules
  private readonly source: string
  /** Close markers that end a line comment. */
  private readonly closers: readonly RegExp[]
  private readonly offsets: readonly number[] | undefined
  /** Offset of the quote that ends a string's JSON; absent if the input ends before it. */
  readonly endsAt: number | undefined

  constructor(
    source: string,
    notes: CallNotes,
    rules: JsonRules,
    closers: readonly RegExp[] = [],
    inString?: { readonly offsets: readonly number[]; readonly endsAt: number | undefined },
  ) {
    this.source = source
    this.notes = notes
    this.rules = rules
    this.closers = closers
    this.offsets = inString?.offsets
    this.endsAt = inString?.endsAt
  }

  /** The character at hand. */
  get first(): string | undefined {
    return this.source[this.at]
  }

  /** Offset in the input of what stands at `at`. */
  offset(at: number): number {
    return this.offsets === undefined ? at : (this.offsets[at] ?? this.endsAt ?? Infinity)
  }

  /** Nothing that may stand at `at` stands there. */
  fail(at: number, opaque = false, behind = at): never {
    const { source, offsets, endsAt, notes } = this
    const cut = offsets === undefined && isCutMarker(source.slice(at) + (this.rules.behind ?? ''))
    if (cut || (at >= source.length && endsAt === undefined)) {
      const end = offsets === undefined ? source.length : Number.POSITIVE_INFINITY
      throw new Broken('incomplete-call', end, opaque || offsets !== undefined)
    }
    const code = notes.name === undefined ? 'malformed-call' : 'malformed-arguments'
    throw new Broken(code, this.offset(at), false, this.offset(behind))
  }

  repair(code: RepairCode): void {
    this.notes.repairs.add(code)
  }

  /** Goes to the next character that is neither white space nor in a comment. */
  space(): string | undefined {
    for (;;) {
      const { first } = this
      if (first !== undefined && /[ \t\r\n]/.test(first)) {
        this.out += first
        this.at++
      } else if (this.rules.strict) return first
      else if (first === '\ufeff') {
        this.repair('byte-order-mark')
        this.at++
      } else if (first === '/') this.comment()
      else return first
    }
  }

  private comment(): void {
    const { source } = this
    const kind = source[this.at + 1]
    if (kind !== '/' && kind !== '*') this.fail(this.at + 1, true)
    this.repair('comment')
    let end = this.at + 2
    if (kind === '*') {
      end = source.indexOf('*/', end) + 2
      if (end === 1) this.fail(source.length, true)
    } else {
      while (source[end] !== '\n' && !this.closers.some((closer) => matchAt(closer, source, end))) {
        // The line break may stand in a tag, which is no JSON then.
        const tag = this.offsets === undefined ? tagAt(source, end) : undefined
        if (tag?.includes('\n')) this.fail(end + tag.indexOf('\n') + 1, false, end)
        // The end of a string ends its comment, too.
        if (end >= source.length && this.offsets === undefined) this.fail(end)
        if (end >= source.length) break
        end++
      }
    }
    this.at = end
  }

  /** Any value. */
  value(): void {
    const { first } = this
    if (first === '{') this.object()
    else if (first === '[') this.list()
    else if (this.isQuote(first)) this.string()
    else this.atom()
  }

  isQuote(character: string | undefined): boolean {
    if (character === '"') return true
    if (this.rules.strict) return false
    return character === "'" || (character === '“' && this.rules.curlyQuotes === true)
  }

  /**
   * An object. `member` reads what follows a key; `stop` may end it behind a value, without its
   * brace: then `object` is false. The second brace behind a root is left to what follows the call.
   */
  object(
    member?: (key: string, start: number) => void,
    stop: () => boolean = () => false,
    isRoot = false,
  ): boolean {
    this.out += '{'
    this.at++
    const twice = this.notes.doubled && this.first === '{'
    if (twice) this.at++
    if (this.space() !== '}') {
      do {
        const start = this.at
        const key = this.key()
        if (member) member(key, start)
        else this.pair()
        this.space()
        if (stop()) return false
      } while (this.goesOn('}'))
    }
    this.out += '}'
    this.at++
    if (twice && !isRoot && this.source[this.at] === '}') this.at++
    return true
  }

  private pair(): void {
    this.colon()
    this.value()
  }

  private list(): void {
    this.out += '['
    this.at++
    if (this.space() !== ']') {
      do this.value()
      while (this.goesOn(']'))
    }
    this.out += ']'
    this.at++
  }

  private key(): string {
    if (this.isQuote(this.first)) return this.string(true)
    const bare = this.rules.strict ? undefined : matchAt(BARE_KEY, this.source, this.at)
    if (!bare) this.fail(this.at)
    this.repair('unquoted-key')
    this.out += JSON.stringify(bare.text)
    this.at = bare.end
    return bare.text
  }

  colon(): void {
    if (this.space() !== ':') this.fail(this.at)
    this.out += ':'
    this.at++
    this.space()
  }

  /** Takes what stands between two members. False at the closer. */
  private goesOn(closer: string): boolean {
    const found = this.space()
    if (found === closer) return false
    const { strict } = this.rules
    if (found === ',') {
      const comma = this.out.length
      this.out += ','
      this.at++
      if (this.space() !== closer) return true
      if (strict) this.fail(this.at)
      this.repair('trailing-comma')
      this.out = this.out.slice(0, comma) + this.out.slice(comma + 1)
      return false
    }
    const begins = closer === '}' ? ['"', "'"] : ['{', '[']
    if (strict || found === undefined || !begins.includes(found)) this.fail(this.at)
    this.repair('missing-comma')
    this.out += ','
    return true
  }

  /** A string's value. */
  string(isKey = false): string {
    const { value, closed } = this.units(isKey)
    if (!closed) this.fail(this.source.length, true)
    return value
  }

  /** A string, as far as it goes. */
  units(isKey = false): Units {
    const { source, rules } = this
    const start = this.at
    const quote = QUOTES[source.charAt(start)]!
    if (this.offsets === undefined) this.notes.lastString = start
    if (quote === "'") this.repair('single-quotes')
    if (quote === '”') this.repair('curly-quotes')
    let json = ''
    const offsets: number[] = []
    let invalid = false
    let control = false
    let closed = false
    const put = (written: string, length: number): void => {
      json += written
      this.at += length
      offsets.push(this.offset(this.at - 1))
    }
    for (this.at++; !closed && this.at < source.length;) {
      const character = source.charAt(this.at)
      const rest = source.slice(this.at, this.at + 6)
      const escape = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.exec(rest)?.[0]
      if (character === quote && this.isEnd(quote, isKey)) closed = true
      else if (escape) {
        control ||= /[bfnrt]/.test(escape.charAt(1))
        put(escape, escape.length)
      } else if (character === '\\') {
        const begun = /^\\(?:u[\da-fA-F]{0,3})?/.exec(rest)![0].length
        if (quote === "'" && rest.startsWith("\\'")) put("'", 2)
        else if (this.at + begun === source.length) break
        else if (rules.strict) this.fail(this.at + begun)
        else {
          this.repair('invalid-escape')
          invalid = true
          put('\\\\', 1)
        }
      } else if (character < ' ') {
        if (rules.strict) this.fail(this.at)
        this.repair('control-character')
        put(JSON.stringify(character).slice(1, -1), 1)
      } else if (character === '"') {
        if (quote === '"') this.repair('inner-quotes')
        put('\\"', 1)
      } else put(character, 1)
    }
    if (closed) this.at++
    this.out += `"${json}"`
    if (closed && invalid && control && this.inside)
      this.notes.suspicious ??= [this.offset(start), this.offset(this.at - 1) + 1]
    return { value: JSON.parse(`"${json}"`) as string, offsets, closed }
  }

  /** Whether a quote ends its string: always, unless it is to be guessed. */
  private isEnd(quote: string, isKey: boolean): boolean {
    if (quote !== '"' || !this.inside || !this.rules.guessQuotes || this.rules.strict) return true
    const next = /^[ \t\r\n]*([^]?)/.exec(this.source.slice(this.at + 1))![1]!
    return (isKey ? ':<' : ',:}]<').includes(next)
  }

  atom(): void {
    const rest = this.source.slice(this.at)
    const words = this.rules.strict ? ['true', 'false', 'null'] : Object.keys(WORDS)
    const word = [...words, 'true', 'false', 'null'].find((known) => rest.startsWith(known))
    const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(rest)?.[0]
    const whole = word ?? number
    const begun =
      /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/.exec(rest)?.[0] ||
      longestBeginning(rest, [...words, 'true', 'false', 'null'])
    if (!whole || begun.length > whole.length) this.fail(this.at + begun.length)
    if (word && WORDS[word]) this.repair('python-literal')
    this.out += (word && WORDS[word]) ?? whole
    this.at += whole.length
  }
}

/** The opener or closer of a call that stands at `at`. */
function tagAt(source: string, at: number): string | undefined {
  const patterns = [...TAGS.flatMap((tag) => [tag.opener, tag.closer]), FOREIGN_CLOSER]
  return patterns.map((pattern) => matchAt(pattern, source, at)).find(Boolean)?.text
}

/** The longest beginning of one of the words that `text` begins with. */
function longestBeginning(text: string, words: readonly string[]): string {
  const begins = words.flatMap((word) =>
    Array.from(word, (_, i) => word.slice(0, i + 1)).filter((begun) => text.startsWith(begun)),
  )
  return begins.reduce((longest, begun) => (begun.length > longest.length ? begun : longest), '')
}
