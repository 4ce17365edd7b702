/**
 * Prints JSON as models do when they are sloppy, and says which repairs it takes to read it.
 *
 * Choices come from a list of numbers, so that a failing print shrinks: 0 is never sloppy.
 */
import type { JsonValue, RepairCode } from '../src/index.ts'
import { fc } from './random.ts'

/** A print and what it takes to read it. */
export interface SloppyPrint {
  readonly source: string
  readonly repairs: ReadonlySet<RepairCode>
}

const PLAIN_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }
const COMMENTS = ['', ' c', ' "x', " it's", '{[,:]}', ' é😀 <tool_call> ', '*', ' \\']
const SPACES = ['', ' ', '\n', ' \t\r\n ']

/** Prints arguments: an object. `doubled`: the call's root has two braces. */
export function printSloppily(
  value: JsonValue,
  choices: readonly number[],
  doubled: boolean,
): SloppyPrint {
  return new SloppyPrinter(choices, doubled).print(value)
}

class SloppyPrinter {
  private readonly choices: readonly number[]
  private readonly doubled: boolean
  private readonly repairs = new Set<RepairCode>()
  private at = 0

  constructor(choices: readonly number[], doubled: boolean) {
    this.choices = choices
    this.doubled = doubled
  }

  print(value: JsonValue): SloppyPrint {
    return { source: this.value(value), repairs: this.repairs }
  }

  private choose(size: number): number {
    return (this.choices[this.at++ % Math.max(this.choices.length, 1)] ?? 0) % size
  }

  /** Once in `often` times the sloppy way. */
  private slips(often: number, code: RepairCode): boolean {
    if (this.choose(often) !== often - 1) return false
    this.repairs.add(code)
    return true
  }

  private value(value: JsonValue): string {
    if (typeof value === 'string') return this.string(value)
    if (Array.isArray(value)) return this.list(value)
    if (typeof value === 'object' && value !== null) return this.object(value)
    const text = JSON.stringify(value)
    if (typeof value === 'number' || !this.slips(3, 'python-literal')) return text
    return value === null ? 'None' : value ? 'True' : 'False'
  }

  private gap(): string {
    let text = SPACES[this.choose(SPACES.length)]!
    if (this.slips(9, 'comment')) {
      const content = COMMENTS[this.choose(COMMENTS.length)]!
      text += this.choose(2) === 0 ? `/*${content}*/` : `//${content}\n`
    }
    if (this.slips(23, 'byte-order-mark')) text += `\ufeff${SPACES[this.choose(SPACES.length)]!}`
    return text
  }

  private object(value: { readonly [key: string]: JsonValue }): string {
    const twice = this.doubled && this.choose(2) === 0
    let text = (twice ? '{{' : '{') + this.gap()
    for (const [place, [key, member]] of Object.entries(value).entries()) {
      const printed = this.key(key)
      const quoted = /^["']/.test(printed)
      if (place > 0) text += this.separator(quoted)
      text += `${printed}${this.gap()}:${this.gap()}${this.value(member)}${this.gap()}`
    }
    return `${text}${this.lastComma(Object.keys(value).length)}${twice ? '}}' : '}'}`
  }

  private list(value: readonly JsonValue[]): string {
    let text = `[${this.gap()}`
    for (const [place, member] of value.entries()) {
      const opens = typeof member === 'object' && member !== null
      if (place > 0) text += this.separator(opens)
      text += this.value(member) + this.gap()
    }
    return `${text}${this.lastComma(value.length)}]`
  }

  private separator(clear: boolean): string {
    return clear && this.slips(5, 'missing-comma') ? '' : `,${this.gap()}`
  }

  private lastComma(size: number): string {
    return size > 0 && this.slips(5, 'trailing-comma') ? `,${this.gap()}` : ''
  }

  private key(key: string): string {
    const bare = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)
    return bare && this.slips(4, 'unquoted-key') ? key : this.string(key)
  }

  private string(value: string): string {
    const quote = this.slips(4, 'single-quotes') ? "'" : '"'
    const characters = Array.from(value)
    const print = (character: string, place: number): string => {
      if (character === '"' && quote === "'" && this.choose(2) === 0) return '"'
      if (character === "'" && quote === "'") return "\\'"
      if (character < ' ' && this.slips(3, 'control-character')) return character
      if (character === '\\' && /^[^"'\\/bfnrtu\p{C}]/u.test(characters[place + 1] ?? '')) {
        if (this.slips(3, 'invalid-escape')) return '\\'
      }
      return PLAIN_ESCAPES[character] ?? JSON.stringify(character).slice(1, -1)
    }
    return quote + characters.map(print).join('') + quote
  }
}

const anyText = fc
  .array(
    fc.constantFrom(
      ...[
        'a',
        'é',
        '😀',
        '"',
        "'",
        '\\',
        '\\d',
        '\\u12',
        '\n',
        '\t',
        '\u0000',
        '/',
        '//',
        '/*',
        ',',
      ],
      ...[
        '{',
        '}',
        ']',
        ':',
        ' ',
        '<',
        '</tool_call>',
        '<tool_call>',
        '\ud800',
        '\udc00',
        '“',
        '”',
      ],
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(''))

const anyKey = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '__proto__',
    'constructor',
    'true',
    '$x-1',
    '名前',
    '𝒳',
    '',
    'a b',
    '1',
  ),
  anyText,
)

/** An object of any JSON values, with strings that invite slips. */
export const sloppyInput: fc.Arbitrary<{ readonly [key: string]: JsonValue }> = fc.letrec<{
  object: { readonly [key: string]: JsonValue }
  value: JsonValue
}>((tie) => ({
  object: fc
    .array(fc.tuple(anyKey, tie('value')), { maxLength: 4 })
    // As own keys, `__proto__` too.
    .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as never),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, false, 0, 12, -1.5e-7, 1e21),
    anyText,
    tie('object'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
})).object
