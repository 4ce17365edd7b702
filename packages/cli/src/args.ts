/**
 * Reads a command line by a table of options.
 *
 * node:util splits it into tokens; what they mean is checked here, since a slip deserves the
 * question "did you mean", and a value that is not known deserves the list of those that are.
 */
import { parseArgs } from 'node:util'
import { EXIT, Failure } from './failure.ts'
import { didYouMean } from './suggest.ts'

/** One option of a command. */
export interface Option {
  /** What the value is called in help. Absent: the option is a switch. */
  readonly value?: string
  /** The values that are allowed. Absent: any. */
  readonly choices?: readonly string[]
  /** One letter. */
  readonly short?: string
  /** The switch takes `=VALUE` too. */
  readonly optionalValue?: boolean
  /** It may be given several times, and all of them count. */
  readonly repeatable?: boolean
  /** The heading that help shows it under. Absent: among the first. */
  readonly group?: string
  /** The line that help shows. */
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

/** A command line, taken apart. */
export interface Arguments {
  /** Values by option name; `''` for a switch. The last of several counts. */
  readonly values: ReadonlyMap<string, string>
  /** All values of the options that are repeatable, by option name. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  readonly positionals: readonly string[]
}

/** Throws a `Failure` with exit code 2 that says what was expected and what was found. */
export function readArguments(argv: readonly string[], options: Options): Arguments {
  const values = new Map<string, string>()
  const lists = new Map<string, string[]>()
  const positionals: string[] = []
  const config: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, { value, short }] of Object.entries(options)) {
    config[name] = {
      type: value === undefined ? 'boolean' : 'string',
      ...(short !== undefined && { short }),
    }
  }
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) throw usage(`unknown option '${token.rawName}'${meant(token.rawName, options)}`)
    const value = valueOf(token, option)
    values.set(token.name, value)
    if (option.repeatable) lists.set(token.name, [...(lists.get(token.name) ?? []), value])
  }
  return { values, lists, positionals }
}

/** A command line that can't be followed. */
export function usage(message: string): Failure {
  return new Failure(EXIT.usage, message)
}

/** `a, b or c` */
export function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Checks a word against the known ones; `what` is named in the error. */
export function checkChoice(what: string, word: string, known: readonly string[]): void {
  if (known.includes(word)) return
  const hint = didYouMean(word, known)
  throw usage(`${what} must be ${alternatives(known)}, not '${word}'${hint}`)
}

interface OptionToken {
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function valueOf({ rawName, value, inlineValue }: OptionToken, option: Option): string {
  if (option.value === undefined && !option.optionalValue) {
    if (inlineValue) throw usage(`${rawName} takes no value, found '${value}'`)
    return ''
  }
  if (option.optionalValue && value === undefined) return ''
  const expected = option.choices ? alternatives(option.choices) : option.value
  // An option in the place of a value was hardly meant as one.
  if (value === undefined || (!inlineValue && value.startsWith('-') && value !== '-')) {
    throw usage(`${rawName} needs a value: ${expected}`)
  }
  if (option.choices) checkChoice(rawName, value, option.choices)
  return value
}

function meant(rawName: string, options: Options): string {
  if (!rawName.startsWith('--')) return ''
  return didYouMean(
    rawName,
    Object.keys(options).map((name) => `--${name}`),
  )
}
