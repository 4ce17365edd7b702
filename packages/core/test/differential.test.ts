/**
 * The machine against its slow twin: the same parts and warnings, in the same order, from any input
 * and with any option. Neither is right by itself: a disagreement is read against the protocol.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { collect } from '../src/index.ts'
import {
  anyCuts,
  anyStream,
  anyUnits,
  brokenCall,
  hostileStream,
  readingOptions,
  soup,
  validStream,
} from './arbitraries.ts'
import { chunked, cutAt, drive, type DriveOptions } from './drive.ts'
import { hermesInputs } from './fixture-inputs.ts'
import { fc } from './random.ts'
import { read, type ReadOptions } from './reference.ts'

/** The twin knows no limit, and random strings may be long. */
const UNLIMITED = { name: Infinity }

/** What both say, in one form. */
interface Said {
  readonly parts: readonly unknown[]
  /** Warning codes; with offset where one place is the obvious one. */
  readonly warnings: readonly string[]
}

/** Where this stands is a matter of taste: at the end, or where it was noticed. */
const PLACELESS: readonly string[] = ['unclosed-reasoning']
/**
 * Warnings about a tag that ends with the input, or stands in text that was read as a header first:
 * the twin has all the text before it, so it says more. The fixtures pin them.
 */
const EDGES: readonly string[] = [
  'unclosed-tag',
  'trailing-text',
  'orphan-close-tag',
  'foreign-dialect',
  'quoted-call',
  'call-in-reasoning',
  'call-while-disabled',
]

function isInner({ code }: { readonly code: string }): boolean {
  return !EDGES.includes(code)
}

function place({ code, start }: { readonly code: string; readonly start?: number }): string {
  return PLACELESS.includes(code) ? code : `${code} at ${start}`
}

function machine(chunks: readonly string[], options: DriveOptions): Said {
  const { parts, warnings } = collect(drive(chunks, { limits: UNLIMITED, ...options }).events)
  return {
    parts: parts.map((part) => {
      if (part.type === 'text' || part.type === 'reasoning') return { [part.type]: part.text }
      if (part.type === 'tool-call') {
        const { name, arguments: text, input, repairs = [] } = part
        return { call: name, arguments: text, input, repairs }
      }
      if (part.type === 'failed-call') return { failed: part.name, code: part.code, raw: part.raw }
      return part
    }),
    warnings: warnings.filter(isInner).map(place).sort(),
  }
}

function twin(source: string, options: ReadOptions): Said {
  const { parts, warnings } = read(source, options)
  return {
    parts: parts.map((part) => {
      if (part.kind === 'call') {
        const { name, arguments: text, input, repairs } = part
        return { call: name, arguments: text, input, repairs }
      }
      if (part.kind === 'failed') return { failed: part.name, code: part.code, raw: part.raw }
      return { [part.kind]: part.text }
    }),
    warnings: warnings.filter(isInner).map(place).sort(),
  }
}

function verify(source: string, chunks: readonly string[], options: DriveOptions = {}): void {
  const [found, expected] = [machine(chunks, options), twin(source, options)]
  if (!isDeepStrictEqual(found, expected))
    expect({ source, ...found }).toEqual({ source, ...expected })
}

/** What random inputs seldom reach: each once told the two apart, or the machine from itself. */
const rare: readonly string[] = [
  // Text that has not been sent yet stands between a call and a marker.
  'a</think>',
  '<function=f>{}</function>X</tool_call>',
  '<tool_call><function=f>{}</function>\n> <function_call>{"name":"g"}</function_call>',
  // A line break inside what turns out to be no tag.
  'a <tool_call\n```\nso <tool_call>{"name":"f"}',
  'a </tool_call\n```\nso <tool_call>{"name":"f"}',
  // An opener and a brace that are no call, and a marker behind them.
  '<tool_call>{\n<think>so</think>',
  '<tool_call>[\n<think>so</think>',
  '<tool_call>{<',
  '<tool_call>[<',
  // A body that is not read, and what it quotes.
  '<tool_call><function=f><parameter=a>see <tool_call>{"name":"rm"}</tool_call></parameter></function></tool_call>',
  '<tool_call><function=f>no <tool_call>{"name":"rm"}</tool_call></function></tool_call>so',
  '<tool_call><function=f>\n<tool_call>{"name":"g"}</tool_call>so',
  '<tool_call><function=f></tool_call>so',
  '<tool_call><function=f></func',
  '<tool_call><function=f><',
  // A second call in a tag, cut or broken in its header.
  '<tool_call><function=f>{}</function><function=',
  '<tool_call><function=f>{}</function>\n<function=g',
  '<tool_call><function=f>{}</function>\n<function=g>',
  '<tool_call><function=f>{}</function><function="></function></tool_call>so',
  '<tool_call>{"name":"f"},<function=',
  '<tool_call>{"name":"f"}{"a"</',
  // Close markers that come late, or for another tag.
  '<tool_call>{"name":"f"}<think>so</think></tool_call>it',
  '<tool_call><function=f>{}</tool_call>so</function>it',
  '<tool_call><function=f>{}<function=g>{}</function></tool_call>so',
  '<function=f>{}</function></tool_call>so',
  '<function>{"name":"f"}</tool_call>]</function>so',
  '<tool_call>{"name":"f"}so</tool_call>it</tool_call>',
  '<tool_call>{"name":"f"},</tool_call>so',
  '<tool_call>{"name":"f"},',
  '<tool_call>{"name":"f"},\n<think>so</think>',
  '<think>so</think></think>',
  // Where counting begins when the arguments break.
  '<tool_call>{"name":"f","arguments":{"a":"</tool_call>"b</tool_call>so',
  '<tool_call>{"name":"f","arguments":{"a":"<tool_call>"b</tool_call>so</tool_call>it',
  '<tool_call>{"name":"f","arguments":{"a":"<tool_call name="g">{}</tool_call>"}}</tool_call>so',
  '<tool_call>{"name":"f","arguments":<tool_call>{"name":"g"}</tool_call>so',
  // The same name twice, another name, keys that are names only outside.
  '<tool_call>{"name":"f","name":"f"}</tool_call>',
  '<tool_call>{"name":"f","name":"g"}</tool_call>',
  '<tool_call>{"name":"f","other":1}</tool_call>',
  '<tool_call>{"function":{"tool":"f"}}</tool_call>',
  '<tool_call>{"function":{"name":"f","arguments":{}}}</tool_call>',
  '<tool_call>{"name":"f","description":"d","parameters":{}}</tool_call>',
  '<tool_call>{"name":"f","arguments":{},"input":{}}</tool_call>',
  // Markers that are no calls', behind an opener that opens nothing.
  '<tool_call>\n<tool_response>{"a":1}<tool_call>{"name":"g"}</tool_call></tool_response>',
  '[THINK]so <tool_call>[/THINK]it',
  // An opener in a quoted line, and one in the next line.
  '`<tool_call>\n<function_call>{"name":"f"}</function_call>',
  // A message that begins with an object, and what stands behind it.
  '{"name":"f","arguments":{}<|eot_id|> <b>so',
  '{"name":"f","arguments":{}}\n</function>so',
  '{\n<tool_call>{"name":"f"}</tool_call>',
  '<tool_call>{"name":"f"}</tool_call>{"name":"g","arguments":{}}</tool_call>',
  '```json\n{"name":"f","arguments":{}}\n```\n<function>',
  '<tool_call>{"name":"f"}<name>so',
]

/** The same, with an option. */
const rareWith: readonly (readonly [string, DriveOptions])[] = [
  ['```\n```\n<', { fencedCall: 'whole-message' }],
  ['[THINK]so[/THINK]it', { bareJson: 'whole-message' }],
  ['<tool_call><tool_response>so', { dropAfterFabricated: true }],
  ['<tool_call><function>so', { stripOrphanTags: true }],
  ['<think><tool_call>{"name":no}</tool_call>so', { callsInReasoning: 'on', failedAsText: true }],
]

describe('the machine and the reference agree', () => {
  test('on mixtures of everything', () => {
    fc.assert(
      fc.property(anyStream, anyCuts, (source, cuts) => verify(source, cutAt(source, cuts))),
    )
  })

  test('on valid calls', () => {
    fc.assert(fc.property(validStream, ({ text }) => verify(text, [text])))
  })

  test('on broken calls with calls behind them', () => {
    fc.assert(
      fc.property(fc.array(brokenCall, { maxLength: 3 }), validStream, (broken, valid) => {
        const source = broken.join('\n') + valid.text
        verify(source, chunked(source, 1))
      }),
    )
  })

  test('on markers and pieces of markers', () => {
    fc.assert(fc.property(soup, (source) => verify(source, [source])))
  })

  test('on any units', () => {
    fc.assert(
      fc.property(fc.array(anyUnits), (pieces) => verify(pieces.join(''), [pieces.join('')])),
    )
  })

  test('on JSON of every fault', () => {
    fc.assert(
      fc.property(hostileStream, readingOptions, (source, options) =>
        verify(source, [source], options),
      ),
    )
  })

  test('with any options', () => {
    fc.assert(
      fc.property(anyStream, readingOptions, (source, options) =>
        verify(source, [source], options),
      ),
    )
  })

  test('from the middle of reasoning or a call', () => {
    const startIn = fc.constantFrom('reasoning' as const, 'call' as const)
    fc.assert(
      fc.property(anyStream, startIn, fc.boolean(), (source, start, inside) => {
        const begun = inside ? source.replace(/^<(?:tool_call|think)\s*>/, '') : source
        verify(begun, [begun], { startIn: start })
      }),
    )
  })

  test('on the fixtures and on their prefixes', () => {
    for (const { source } of hermesInputs()) {
      // The reference is slow: of a long fixture it reads some hundred prefixes, the whole last.
      const step = Math.ceil((source.length + 1) / 100)
      for (let end = source.length; end >= 0; end -= step) {
        const prefix = source.slice(0, end)
        verify(prefix, [prefix])
      }
    }
  })

  test.each(rare)('on %j', (source) => {
    verify(source, [source])
    verify(source, chunked(source, 1))
  })

  test.each(rareWith)('on %j with %j', (source, options) => {
    verify(source, [source], options)
    verify(source, chunked(source, 1), options)
  })
})
