/**
 * What is fuzzed: a text and the options that it is read with. The fixtures' inputs are the
 * beginning, the dialects' markers and the words of JSON the dictionary.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, readFixtures, variants } from '@talaria/fixtures'
import { createParser, markersOf, MisuseError, PRESETS } from '../src/index.ts'
import type { ParserOptions, Tool } from '../src/index.ts'

/** Options that are data; the others are the checks' own. */
export type CaseOptions = Omit<ParserOptions, 'generateId' | 'trace' | 'explain'>

export interface Case {
  readonly source: string
  readonly options: CaseOptions
}

/** Longer inputs take more time than they find. */
export const LONGEST = 600

const TOOLS: readonly (readonly Tool[])[] = [
  [],
  [{ name: 'f' }],
  [{ name: 'other' }],
  [
    { name: 'f', parameters: { type: 'object', properties: { a: {}, b: { type: 'string' } } } },
    {
      type: 'function',
      function: {
        name: 'get_weather',
        parameters: { type: 'object', properties: { city: { type: 'string' }, unit: {} } },
      },
    },
  ],
]

/** What each option may be set to. A new option has to be named here. */
const VALUES: {
  readonly [Name in keyof Required<CaseOptions>]: readonly Exclude<CaseOptions[Name], undefined>[]
} = {
  dialect: ['auto', 'hermes'],
  preset: Object.keys(PRESETS),
  tools: TOOLS,
  toolChoice: ['auto', 'required', 'none'],
  startIn: ['text', 'reasoning', 'call'],
  patches: [true],
  whitespace: ['exact'],
  limits: [
    { depth: 0 },
    { depth: 2 },
    { name: 1 },
    { name: 8 },
    { arguments: 0 },
    { arguments: 9 },
    { arguments: 40 },
    { calls: 0 },
    { calls: 1 },
    { whitespace: 0 },
    { whitespace: 2 },
    { depth: 3, name: 12, arguments: 60, calls: 2, whitespace: 4 },
  ],
  strict: [true],
  guessQuotes: [true],
  curlyQuotes: [true],
  gluedArguments: ['first'],
  callsInReasoning: ['at-end', 'on'],
  callsInFences: [true],
  bareJson: ['whole-message', 'last-line'],
  fencedCall: ['whole-message'],
  failedAsText: [true],
  stripOrphanTags: [true],
  tagAliases: [[{ open: '<tc>', close: '</tc>' }], [{ open: '[[', close: ']]' }]],
  specialTokens: ['keep'],
  dropAfterFabricated: [true],
  quotedClosers: ['close'],
  unclosedReasoning: ['text'],
}

export const NAMES: readonly (keyof CaseOptions)[] = Object.keys(VALUES) as (keyof CaseOptions)[]

export function valuesOf(name: keyof CaseOptions): readonly unknown[] {
  return VALUES[name]
}

/** Pieces that change how a text is read. */
export const DICTIONARY: readonly string[] = [
  ...markersOf('auto'),
  ...['<function=f>', '<tool_call name="f">', "<tool_call name='f'>", '<tool_call >', '<tc>'],
  ...['</tc>', '[[', ']]', '<tool_response>', '</tool_response>', '</parameter>', '</invoke>'],
  ...['<|im_end|>', '<|im_start|>', '<|endoftext|>', '<|eot_id|>', 'assistant\n', 'user\n'],
  ...['{', '}', '[', ']', ':', ',', '"', '\\', '{{', '}}', '""', '{}', '[]', '":', '"}', '"}}'],
  ...['"name"', '"arguments"', '"parameters"', '"function"', '"id":"1",', '"type":"function",'],
  ...['"description":"d",', '{"name":"f"', ',"arguments":{', '"a":', '"f"', 'f', '"function=f"'],
  ...["'", "'a'", 'a:', '“', '”', 'True', 'None', 'null', 'false', '-', '0', '1e9', '.5', 'NaN'],
  ...['//', '/*', '*/', '/', '#', ',}', ',]', '\\"', "\\'", '\\u00', '\\ud83d', '\\x', '\\n'],
  ...['"{\\"a\\":1}"', '"\\"{}\\""', '\ufeff', '\u0001', '\0', '\u2028', '\u007f'],
  ...['`', '```', '```json\n', '\n```\n', '~~~\n', '> ', '\n> ', '\n', '\r\n', ' ', '\t', '\n\n'],
  ...['<', '</', '>', '=', '😀', '\ud83d', '\ude00', 'é', '\u00a0', '\u3000', 'text'],
]

/** All stream fixtures of the family that are short enough, each with its options and alternatives. */
export function fixtureCases(): Case[] {
  const folder = folderOf('hermes')
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'))
  const fixtures = files.toSorted().flatMap((file) => readFixtures(join(folder, file)))
  const cases = fixtures.flatMap(variants).flatMap((found): Case[] => {
    if (found.kind !== 'stream' || found.input.length > LONGEST) return []
    const { dialect, tools } = found
    const { end: _, ...others } = found.options
    const options = {
      ...others,
      ...(dialect !== undefined && { dialect }),
      ...(tools && { tools: tools as unknown as readonly Tool[] }),
    } as CaseOptions
    return [{ source: found.input, options }]
  })
  const usable = cases.filter(({ options }) => isUsable(options))
  if (usable.length === 0) throw new Error('found no fixture to begin with')
  return usable
}

/** Whether a parser takes the options. */
export function isUsable(options: CaseOptions): boolean {
  try {
    createParser({ ...options, onEvent: () => {} })
    return true
  } catch (error) {
    if (error instanceof MisuseError) return false
    throw error
  }
}
