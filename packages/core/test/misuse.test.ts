/** The API used wrongly: it throws a `MisuseError` at once, which says what to do instead. */
import { describe, expect, test } from 'vitest'
import {
  createParser,
  MisuseError,
  parse,
  parseMessage,
  type Parser,
  type ParserOptions,
  type StreamEvent,
} from '../src/index.ts'
import { ToolCallStream } from '../src/stream.ts'
import { verifyGrammar } from './grammar.ts'

/** What a caller without types may pass. */
function wrong(options: unknown): ParserOptions {
  return options as ParserOptions
}

function misuse(action: () => unknown): MisuseError {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError)
    const fault = error as MisuseError
    expect(fault).toBeInstanceOf(TypeError)
    expect(fault.name).toBe('MisuseError')
    expect(fault.code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(fault.message.length).toBeGreaterThan(10)
    return fault
  }
  throw new Error('expected a MisuseError')
}

function quiet(options: ParserOptions = {}): { parser: Parser; events: StreamEvent[] } {
  const events: StreamEvent[] = []
  return { parser: createParser({ ...options, onEvent: (event) => events.push(event) }), events }
}

describe('options', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'an unknown dialect': { dialect: 'no-such-thing' },
    'a dialect that is no name': { dialect: 7 },
    'an empty list of dialects': { dialect: [] },
    'an unknown dialect in a list': { dialect: ['hermes', 'no-such-thing'] },
    'tools that are no list': { tools: {} },
    'a tool without a name': { tools: [{ description: 'nameless' }] },
    'a tool whose name is no string': { tools: [{ name: 7 }] },
    'a function without a name': { tools: [{ type: 'function', function: {} }] },
    'a tool that is a string': { tools: ['f'] },
    'a tool choice that does not exist': { toolChoice: 'maybe' },
    'a start that does not exist': { startIn: 'middle' },
    'a policy of white space that does not exist': { whitespace: 'trim' },
    'limits that are no object': { limits: 7 },
    'a limit that is no number': { limits: { depth: '7' } },
    'a negative limit': { limits: { calls: -1 } },
    'a broken limit': { limits: { name: Number.NaN } },
    'a limit with a fraction': { limits: { name: 1.5 } },
    'a limit that does not exist': { limits: { width: 1 } },
    'patches that are no boolean': { patches: 'yes' },
    'ids that are not made by a function': { generateId: 'call_1' },
    'a trace that is no function': { trace: true },
    'strictness that is no boolean': { strict: 1 },
    'a guess that is no boolean': { guessQuotes: 'yes' },
    'quotes that are no boolean': { curlyQuotes: '“' },
    'glued arguments of which the last counts': { gluedArguments: 'last' },
    'calls in reasoning without a rule': { callsInReasoning: true },
    'calls in fences that are no boolean': { callsInFences: 'on' },
    'bare JSON without a rule': { bareJson: true },
    'a fenced call without a rule': { fencedCall: true },
    'failed calls as something else': { failedAsText: 'text' },
    'stripping that is no boolean': { stripOrphanTags: 'all' },
    'aliases that are no list': { tagAliases: { open: '<call>', close: '</call>' } },
    'an alias without a closer': { tagAliases: [{ open: '<call>' }] },
    'an alias of one character': { tagAliases: [{ open: '<', close: '</call>' }] },
    'an alias that is too long': { tagAliases: [{ open: '<call>', close: 'x'.repeat(65) }] },
    'special tokens without a rule': { specialTokens: false },
    'dropping that is no boolean': { dropAfterFabricated: 'tail' },
    'quoted closers without a rule': { quotedClosers: true },
    'unclosed reasoning as something else': { unclosedReasoning: 'drop' },
    'an explanation that is no function': { explain: true },
    'a preset that is no name': { preset: 7 },
    'a preset that does not exist': { preset: 'no-such-line' },
    'a preset that every object has': { preset: 'constructor' },
    'an option that does not exist': { startsIn: 'text' },
  }
  for (const [what, options] of Object.entries(cases)) {
    test(what, () => {
      misuse(() => quiet(wrong(options)))
      misuse(() => parseMessage('so', wrong(options)))
      misuse(() => new ToolCallStream(wrong(options)))
    })
  }

  test('parse throws at once, not with the first event', () => {
    misuse(() => parse('so', wrong({ dialect: 'no-such-thing' })))
  })

  test('no listener', () => {
    misuse(() => createParser({} as never))
    misuse(() => createParser({ onEvent: 'log' } as never))
    misuse(() => (createParser as (options?: unknown) => unknown)())
  })

  test('a slip is answered with what was meant', () => {
    expect(misuse(() => quiet(wrong({ dialect: 'Hermes' }))).message).toContain(
      'did you mean “hermes”',
    )
    expect(misuse(() => quiet(wrong({ dialect: 'herms' }))).message).toContain(
      'did you mean “hermes”',
    )
    expect(misuse(() => quiet(wrong({ startsIn: 'text' }))).message).toContain(
      'did you mean “startIn”',
    )
    expect(misuse(() => quiet(wrong({ limits: { deph: 1 } }))).message).toContain(
      'did you mean “depth”',
    )
    expect(misuse(() => quiet(wrong({ preset: 'qwen-3' }))).message).toContain(
      'did you mean “qwen3”',
    )
    expect(misuse(() => quiet(wrong({ dialect: 'zzzzzzzz' }))).message).not.toContain(
      'did you mean',
    )
  })

  test('undefined stands for absent', () => {
    const absent = { dialect: undefined, tools: undefined, limits: undefined, trace: undefined }
    expect(() => quiet(wrong(absent))).not.toThrow()
  })
})

describe('feeding', () => {
  test('something that is no string', () => {
    for (const chunk of [undefined, null, 7, new Uint8Array(1), ['a'], { text: 'a' }])
      misuse(() => quiet().parser.feed(chunk as unknown as string))
  })

  test('after the end', () => {
    const { parser, events } = quiet()
    parser.end()
    misuse(() => parser.feed('so'))
    misuse(() => parser.feed(''))
    misuse(() => parser.end())
    expect(events).toEqual([{ type: 'finish', reason: 'stop' }])
  })

  test('after an abort or a failure', () => {
    for (const close of [(p: Parser) => p.abort(), (p: Parser) => p.fail(new Error('down'))]) {
      const { parser, events } = quiet()
      close(parser)
      const { length } = events
      misuse(() => parser.feed('so'))
      expect(events.length).toBe(length)
    }
  })

  test('from within a listener', () => {
    const parser: Parser = createParser({
      onEvent: (event) => {
        if (event.type === 'text-start') parser.feed('again')
      },
    })
    misuse(() => parser.feed('so'))
  })
})

describe('what is no misuse', () => {
  test('an abort or a failure after the end changes nothing', () => {
    const { parser, events } = quiet()
    parser.feed('so')
    parser.end()
    const { length } = events
    parser.abort()
    parser.fail(new Error('late'))
    expect(events.length).toBe(length)
  })

  test('an abort from within a listener ends the stream', () => {
    const events: StreamEvent[] = []
    const parser: Parser = createParser({
      onEvent: (event) => {
        events.push(event)
        if (event.type === 'tool-call-start') parser.abort()
      },
    })
    parser.feed('so <tool_call>{"name":"f","arguments":{}}</tool_call> and')
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'aborted' })
    expect(events.filter((event) => event.type === 'tool-call-error')).toHaveLength(1)
    expect(events.filter((event) => event.type === 'tool-call-end')).toHaveLength(0)
  })

  test('a listener may end the stream at any event, and the events keep their grammar', () => {
    const source =
      'a `b` <tool_call>{"arguments":{"c":1},"name":"f"}</tool_call> d' +
      '<tool_call><function=g>{}</function></tool_call>\n<think>e</think>' +
      '<tool_call>{"name":"h","arguments":{"i":oops}}</tool_call>\n<tool_call><function=" j'
    for (const way of ['abort', 'fail'] as const) {
      for (const size of [1, 7, source.length]) {
        for (let at = 0; ; at++) {
          const events: StreamEvent[] = []
          const parser: Parser = createParser({
            tools: [{ name: 'f' }],
            onEvent: (event) => {
              events.push(event)
              if (events.length !== at + 1) return
              if (way === 'abort') parser.abort()
              else parser.fail(new Error('gone'))
            },
          })
          let index = 0
          for (; index < source.length && events.length <= at; index += size) {
            parser.feed(source.slice(index, index + size))
          }
          if (events.length <= at) parser.end()
          verifyGrammar(events)
          if (events.length <= at + 1) break
          expect(events.at(-1)?.type).toBe('finish')
        }
      }
    }
  })

  test('a listener may do nothing else', () => {
    for (const act of [(p: Parser) => p.end(), (p: Parser) => p.cut(), (p: Parser) => p.reset()]) {
      const parser: Parser = createParser({ onEvent: () => act(parser) })
      expect(misuse(() => parser.feed('so')).code).toBe('busy')
      expect(misuse(() => parser.feed('so')).code).toBe('busy')
      expect(misuse(() => parser.end()).code).toBe('busy')
    }
  })

  test('an exception of a listener reaches the caller of feed', () => {
    const parser = createParser({
      onEvent: () => {
        throw new RangeError('mine')
      },
    })
    expect(() => parser.feed('so')).toThrow(RangeError)
  })

  test('a parser is new after a reset, at any time', () => {
    const { parser, events } = quiet()
    const source = 'a `b\n<think>c</think><tool_call>{"name":"f","arguments":{"d":1}}</tool_call>e'
    const rounds: StreamEvent[][] = []
    for (const cut of [0, 3, 9, 20, 40, 60, source.length]) {
      parser.feed(source.slice(0, cut))
      parser.reset()
      events.length = 0
      parser.feed(source)
      parser.end({ reason: 'length' })
      rounds.push(
        events.map((event) => ('id' in event ? { ...event, id: '' } : event)) as StreamEvent[],
      )
      parser.reset()
      events.length = 0
    }
    for (const round of rounds) expect(round).toEqual(rounds[0])
    expect(rounds[0]?.at(-1)).toEqual({ type: 'finish', reason: 'length' })
  })

  test('the end tells what the caller knows', () => {
    const { parser, events } = quiet()
    const usage = { inputTokens: 1, outputTokens: 2 }
    parser.end({ reason: 'content-filter', rawReason: 'filter', usage, metadata: { a: 1 } })
    expect(events).toEqual([
      { type: 'finish', reason: 'content-filter', rawReason: 'filter', usage, metadata: { a: 1 } },
    ])
  })

  test('tool-calls is not believed without a call', () => {
    const { parser, events } = quiet()
    parser.end({ reason: 'tool-calls', rawReason: 'tool_calls' })
    expect(events).toEqual([{ type: 'finish', reason: 'other', rawReason: 'tool_calls' }])
  })
})
