/**
 * The options table is true: the default that it names is what the machine does without the option,
 * and each other value changes something, so that the inputs could tell.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFixtures } from '../../fixtures/src/index.ts'
import {
  type ParserOptions,
  type StreamEvent,
  type Tool,
  createParser,
  joinDeltas,
} from '../../packages/core/src/index.ts'
import { OPTION_DOCS } from '../../packages/core/src/option-docs.ts'
import { OPTED } from './examples.ts'
import { ROOT } from './pages.ts'

interface Input {
  readonly input: string
  readonly options: ParserOptions
}

/** Values that are meant to change nothing. */
const SAME: readonly string[] = ['toolChoice: required']
/** Fixtures that are long for a limit's sake are left out. */
const LONGEST = 10_000

const folder = join(ROOT, 'fixtures/hermes')
const inputs: readonly Input[] = [
  ...OPTED.map(({ input, options = {} }) => ({ input, options })),
  ...readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => readFixtures(join(folder, file)))
    .flatMap(({ kind, input, tools, options: { end: _, ...options } }): Input[] => {
      if (kind !== 'stream' || typeof input !== 'string' || input.length > LONGEST) return []
      // A preset's own options are no defaults.
      if ('preset' in options || 'dialect' in options) return []
      const declared = tools && { tools: tools as unknown as readonly Tool[] }
      return [{ input, options: { ...options, ...declared } }]
    }),
]

/** What a parser makes of each input under more options; those that it has itself win. */
function eventsOf(more: ParserOptions): readonly (readonly StreamEvent[])[] {
  return inputs.map(({ input, options }) => {
    const events: StreamEvent[] = []
    let ids = 0
    const generateId = (): string => `call_${ids++}`
    const onEvent = (event: StreamEvent): unknown => events.push(event)
    const parser = createParser({ generateId, ...more, ...options, onEvent })
    parser.feed(input)
    parser.end()
    return joinDeltas(events)
  })
}

const plain = eventsOf({})
const docs = Object.entries(OPTION_DOCS)

describe('the default of', () => {
  const withDefault = docs.filter(([, doc]) => doc.default !== undefined)

  it.each(withDefault)('%s is what holds without it', (name, doc) => {
    expect(eventsOf({ [name]: doc.default })).toEqual(plain)
  })
})

describe('other values of', () => {
  const others = docs.flatMap(([name, doc]) =>
    doc.kind === 'choice'
      ? Object.keys(doc.holds)
          .filter((value) => value !== String(doc.default))
          .map((value) => ({ title: `${name}: ${value}`, name, value, default: doc.default }))
      : [],
  )

  it.each(others)('$title', ({ title, name, value, default: usual }) => {
    const given = typeof usual === 'boolean' ? !usual : value
    const changed = eventsOf({ [name]: given }).some(
      (events, at) => JSON.stringify(events) !== JSON.stringify(plain[at]),
    )
    expect(changed).toBe(!SAME.includes(title))
  })
})
