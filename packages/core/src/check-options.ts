/** Checks a caller's options, so that a slip is an error at once and not a silent default. */
import { MisuseError } from './errors.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { didYouMean } from './names.ts'

type Check = readonly [expected: string, test: (value: unknown) => boolean]

const isFunction: Check = ['a function', (value) => typeof value === 'function']
const isBoolean: Check = ['true or false', (value) => typeof value === 'boolean']

function oneOf(...words: readonly string[]): Check {
  return [words.map((word) => `“${word}”`).join(' or '), (value) => words.includes(value as string)]
}

const CHECKS: Readonly<Record<string, Check>> = {
  onEvent: isFunction,
  dialect: ['a name or a list of names', isDialect],
  dialects: ['a list of dialects', (value) => Array.isArray(value) && value.length > 0],
  // `readTools` looks at the tools one by one.
  tools: ['a list of tools', Array.isArray],
  toolChoice: oneOf('auto', 'required', 'none'),
  startIn: oneOf('text', 'reasoning', 'call'),
  patches: isBoolean,
  whitespace: oneOf('layout', 'exact'),
  strict: isBoolean,
  guessQuotes: isBoolean,
  curlyQuotes: isBoolean,
  gluedArguments: oneOf('fail', 'first'),
  callsInReasoning: oneOf('off', 'at-end', 'on'),
  callsInFences: isBoolean,
  bareJson: oneOf('off', 'whole-message', 'last-line'),
  fencedCall: oneOf('off', 'whole-message'),
  failedAsText: isBoolean,
  stripOrphanTags: isBoolean,
  tagAliases: ['a list of { open, close } of 2 to 64 characters each', isAliases],
  specialTokens: oneOf('drop', 'keep'),
  dropAfterFabricated: isBoolean,
  quotedClosers: oneOf('text', 'close'),
  unclosedReasoning: oneOf('reasoning', 'text'),
  explain: isFunction,
  preset: ['a name', isString],
  limits: ['an object', (value) => typeof value === 'object' && value !== null],
  generateId: isFunction,
  trace: isFunction,
  signal: [
    'an AbortSignal',
    (value) => typeof value === 'object' && value !== null && 'aborted' in value,
  ],
  endInfo: ['an object', (value) => typeof value === 'object' && value !== null],
}

/** What each way in takes. */
const MACHINE = [
  'tools',
  'toolChoice',
  'startIn',
  'patches',
  'whitespace',
  'strict',
  'guessQuotes',
  'curlyQuotes',
  'gluedArguments',
  'callsInReasoning',
  'callsInFences',
  'bareJson',
  'fencedCall',
  'failedAsText',
  'stripOrphanTags',
  'tagAliases',
  'specialTokens',
  'dropAfterFabricated',
  'quotedClosers',
  'unclosedReasoning',
  'explain',
  'limits',
  'generateId',
  'trace',
]
type Entry = 'createMachine' | 'createParser' | 'parse' | 'stream'
const ENTRIES: Readonly<
  Record<Entry, { readonly takes: readonly string[]; readonly needs: readonly string[] }>
> = {
  createMachine: { takes: [...MACHINE, 'dialects', 'onEvent'], needs: ['onEvent', 'dialects'] },
  createParser: { takes: [...MACHINE, 'dialect', 'preset', 'onEvent'], needs: ['onEvent'] },
  parse: { takes: [...MACHINE, 'dialect', 'preset', 'signal', 'endInfo'], needs: [] },
  stream: { takes: [...MACHINE, 'dialect', 'preset'], needs: [] },
}

/** Throws `MisuseError` that names the option, what was expected and what was found. */
export function checkOptions(options: object, entry: Entry): void {
  if (typeof options !== 'object' || options === null) {
    const found = describe(options)
    throw new MisuseError('invalid-option', `Expected an object of options, found ${found}.`)
  }
  const { takes, needs } = ENTRIES[entry]
  for (const name of needs) {
    if ((options as Record<string, unknown>)[name] === undefined) refuse(name, undefined)
  }
  for (const [name, value] of Object.entries(options)) {
    if (!takes.includes(name)) {
      const near = didYouMean(name, takes) || '.'
      throw new MisuseError('unknown-option', `Unknown option “${name}”${near}`)
    }
    if (value !== undefined && !CHECKS[name]![1](value)) refuse(name, value)
  }
  checkLimits((options as { limits?: object }).limits ?? {})
}

function checkLimits(limits: object): void {
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const known = Object.keys(DEFAULT_LIMITS)
      const near = didYouMean(name, known) || `: expected one of ${known.join(', ')}.`
      throw new MisuseError('unknown-limit', `Unknown limit “${name}”${near}`)
    }
    if (value === undefined) continue
    if (value !== Infinity && !(Number.isInteger(value) && (value as number) >= 0)) {
      const expected = 'a whole number from 0, or Infinity,'
      throw new MisuseError(
        'invalid-limit',
        `Expected ${expected} in limits.${name}, found ${describe(value)}.`,
      )
    }
  }
}

function refuse(name: string, value: unknown): never {
  const expected = CHECKS[name]![0]
  throw new MisuseError(
    'invalid-option',
    `Expected ${expected} in \`${name}\`, found ${describe(value)}.`,
  )
}

function isDialect(value: unknown): boolean {
  return (
    typeof value === 'string' || (Array.isArray(value) && value.length > 0 && value.every(isString))
  )
}

function isAliases(value: unknown): boolean {
  const isMarker = (marker: unknown): boolean =>
    typeof marker === 'string' && marker.length > 1 && marker.length <= 64
  return (
    Array.isArray(value) && value.every((alias) => isMarker(alias?.open) && isMarker(alias?.close))
  )
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}

/** A value in a message: short, and never a model's text. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  return typeof value === 'string' ? JSON.stringify(value) : `${value as number | bigint | boolean}`
}
