/** How the text is read: one flag of the command line for each of the parser's options. */
import {
  type ParserOptions,
  type TagAlias,
  MisuseError,
  PRESETS,
  createParser,
} from '@talaria/core'
import { type Arguments, type Option, type Options, usage } from './args.ts'

type Reading = Pick<
  ParserOptions,
  | 'preset'
  | 'strict'
  | 'guessQuotes'
  | 'curlyQuotes'
  | 'gluedArguments'
  | 'callsInReasoning'
  | 'callsInFences'
  | 'bareJson'
  | 'fencedCall'
  | 'failedAsText'
  | 'stripOrphanTags'
  | 'tagAliases'
  | 'specialTokens'
  | 'dropAfterFabricated'
  | 'quotedClosers'
  | 'unclosedReasoning'
>

interface Flag<Value> extends Option {
  readonly name: string
  readonly choices?: readonly Extract<Value, string>[]
}

/** The parser's options and their flags, in the order of the help. A switch sets `true`. */
const FLAGS: { readonly [Name in keyof Reading]-?: Flag<Reading[Name]> } = {
  preset: {
    name: 'preset',
    value: 'NAME',
    choices: Object.keys(PRESETS),
    help: 'What a model line needs; options beside it win',
  },
  strict: {
    name: 'strict-json',
    help: "Repair no JSON: what breaks its letter fails the call. (--strict is the exit code's.)",
  },
  guessQuotes: {
    name: 'guess-quotes',
    help: 'Guess which double quotes inside a string of the arguments do not end it.',
  },
  curlyQuotes: { name: 'curly-quotes', help: 'Let “ and ” stand for quotes in JSON.' },
  gluedArguments: {
    name: 'glued-arguments',
    value: 'HOW',
    choices: ['fail', 'first'],
    help: 'Arguments in a string that go on behind their object',
  },
  callsInReasoning: {
    name: 'calls-in-reasoning',
    value: 'WHERE',
    choices: ['off', 'at-end', 'on'],
    help: 'Where calls in reasoning count',
  },
  callsInFences: { name: 'calls-in-fences', help: 'Let calls in fenced code count.' },
  bareJson: {
    name: 'bare-json',
    value: 'WHERE',
    choices: ['off', 'whole-message', 'last-line'],
    help: 'Where call objects without a marker count',
  },
  fencedCall: {
    name: 'fenced-call',
    value: 'WHERE',
    choices: ['off', 'whole-message'],
    help: 'Whether a message that is one fenced call counts',
  },
  failedAsText: { name: 'failed-as-text', help: 'Show what a failed call was made of as text.' },
  stripOrphanTags: {
    name: 'strip-orphan-tags',
    help: 'Leave out tags that open or close no call.',
  },
  tagAliases: {
    name: 'tag-alias',
    value: 'OPEN,CLOSE',
    repeatable: true,
    help: 'Another spelling of the call tag, such as <call>,</call>; may be given several times.',
  },
  specialTokens: {
    name: 'special-tokens',
    value: 'HOW',
    choices: ['drop', 'keep'],
    help: 'End-of-turn tokens at the very end',
  },
  dropAfterFabricated: {
    name: 'drop-after-fabricated',
    help: 'Discard what follows a tool result that the model invented.',
  },
  quotedClosers: {
    name: 'quoted-closers',
    value: 'HOW',
    choices: ['text', 'close'],
    help: "What reasoning's close marker between backticks is",
  },
  unclosedReasoning: {
    name: 'unclosed-reasoning',
    value: 'HOW',
    choices: ['reasoning', 'text'],
    help: 'What reasoning is that is never closed',
  },
}

/** The flags, for a command's table. */
export const READING_OPTIONS: Options = Object.fromEntries(
  Object.values(FLAGS).map(({ name, ...option }: Flag<unknown>) => [
    name,
    { ...option, group: 'How the text is read' },
  ]),
)

/** The parser's options that a command line sets. */
export function readingOf({ values, lists }: Arguments): Reading {
  const reading: Record<string, unknown> = {}
  for (const [option, flag] of Object.entries<Flag<unknown>>(FLAGS)) {
    const value = values.get(flag.name)
    if (value !== undefined) reading[option] = flag.value === undefined ? true : value
  }
  const aliases = lists.get(FLAGS.tagAliases.name)
  if (aliases) reading['tagAliases'] = aliases.map(readAlias)
  return reading
}

/** Throws a `Failure` for options that can't be together, before the input is touched. */
export function checkReading(options: ParserOptions): void {
  try {
    createParser({ ...options, onEvent() {} })
  } catch (error) {
    throw error instanceof MisuseError ? usage(error.message) : error
  }
}

/** `<call>,</call>`, or the JSON `{"open": …, "close": …}` for markers that hold a comma. */
function readAlias(text: string): TagAlias {
  const expected = `--tag-alias must be OPEN,CLOSE or {"open":OPEN,"close":CLOSE}, not '${text}'`
  const alias = text.startsWith('{') ? parse(text) : text.split(',')
  const [open, close, more] = Array.isArray(alias) ? alias : [alias?.open, alias?.close]
  if (typeof open !== 'string' || typeof close !== 'string' || more !== undefined) {
    throw usage(expected)
  }
  for (const marker of [open, close]) {
    if (marker.length < 2 || marker.length > 64) {
      throw usage(`--tag-alias: expected markers of 2 to 64 characters, found '${marker}'`)
    }
  }
  return { open, close }
}

/** The keys of an object in JSON; undefined if it is none. */
function parse(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}
