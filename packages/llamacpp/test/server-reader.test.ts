/** `createLlamaServerReader`: its methods, what goes to `metadata`, and its promises. */
import { type StreamEvent, DEFAULT_LIMITS, collect, log } from '@talaria/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifyGrammar } from '../../core/test/grammar.ts'
import {
  type LlamaServerReader,
  type LlamaServerReaderOptions,
  MAX_FRAME_SIZE,
  SOURCE_ERROR_CODES,
  createLlamaServerReader,
} from '../src/index.ts'
import { frame, recording, stop, token } from './replay-server.ts'

function open(options: Partial<LlamaServerReaderOptions> = {}): {
  reader: LlamaServerReader
  events: StreamEvent[]
} {
  const events: StreamEvent[] = []
  const reader = createLlamaServerReader({ onEvent: (event) => events.push(event), ...options })
  return { reader, events }
}

function finishOf(name: string, choice = 0): Extract<StreamEvent, { type: 'finish' }> {
  const { reader, events } = open({ choice })
  reader.feed(recording(name))
  reader.end()
  return events.at(-1) as Extract<StreamEvent, { type: 'finish' }>
}

describe('what rides in metadata', () => {
  test('the start of a chat', () => {
    const { reader, events } = open()
    reader.feed(recording('chat-plain'))
    expect(events[0]).toEqual({
      type: 'stream-start',
      id: 'chatcmpl-7m15QKZv6kCQMZhvDbKcabWuP7SYUSq9',
      model: 'tiny.gguf',
      created: 1_796_056_286,
      metadata: { systemFingerprint: 'b1-80fb11a' },
    })
  })

  test('the end of a completion', () => {
    expect(finishOf('completion').metadata).toMatchObject({
      model: 'tiny.gguf',
      tokensCached: 86,
      timings: { cache_n: 0, prompt_n: 15, predicted_n: 72 },
    })
    expect(finishOf('completion').metadata).not.toHaveProperty('stoppingWord')
    expect(finishOf('completion-stop-word').metadata).toMatchObject({ stoppingWord: 'STOP' })
  })

  test('the end of a chat', () => {
    expect(finishOf('chat-plain').metadata).toMatchObject({ timings: { predicted_n: 7 } })
    expect(finishOf('chat-n2').metadata).toMatchObject({ timings: { prompt_ms: 1.092 } })
    expect(finishOf('chat-n2', 1).metadata).toMatchObject({ timings: { prompt_ms: 1.01 } })
  })

  test('the error’s own value is its cause', () => {
    const { reader, events } = open()
    reader.feed(recording('error-context'))
    reader.end()
    expect(events[0]).toMatchObject({
      type: 'error',
      rawCode: '400',
      cause: { n_prompt_tokens: 24_000, n_ctx: 4_096, type: 'exceed_context_size_error' },
    })
  })
})

describe('its methods', () => {
  test('decoded frames', () => {
    const { reader, events } = open()
    reader.frame(null)
    reader.frame({ index: 0, content: 'Hi', stop: false })
    reader.frame({ index: 0, content: '', stop: true, stop_type: 'eos' })
    expect(reader.finished).toBe(true)
    reader.end()
    expect(log(events)).toEqual([
      'stream-start',
      'text-start 0',
      'text-delta 0 "Hi"',
      'text-end 0',
      'finish stop eos',
    ])
  })

  test.each([[undefined], [1], ['x'], [[]]])('%j is no frame', (value) => {
    const { reader, events } = open()
    reader.frame(value)
    expect(collect(events).error).toMatchObject({ code: 'malformed-frame' })
  })

  test('events come before the call returns', () => {
    const { reader, events } = open()
    reader.feed(token('Hi').slice(0, -2))
    expect(events).toEqual([])
    reader.feed('\n\n')
    expect(log(events)).toEqual(['stream-start', 'text-start 0', 'text-delta 0 "Hi"'])
    reader.abort()
  })

  test.each(['end', 'abort'] as const)('feeding after %s throws', (method) => {
    const { reader } = open()
    reader[method]()
    expect(() => reader.feed('x')).toThrow(expect.objectContaining({ name: 'MisuseError' }))
    expect(() => reader.frame({})).toThrow(expect.objectContaining({ name: 'MisuseError' }))
  })

  test('only the first of several ends counts', () => {
    const { reader, events } = open()
    reader.abort()
    reader.end()
    reader.fail(new Error('late'))
    expect(log(events)).toEqual(['finish aborted'])
  })

  test('after the answer’s own end nothing throws and nothing comes', () => {
    const { reader, events } = open()
    reader.feed(token('Hi') + stop())
    const count = events.length
    reader.feed('data: {"broken')
    reader.frame({ error: 'late' })
    reader.fail(new Error('late'))
    expect(events).toHaveLength(count)
  })

  test('a failure carries what was thrown, and the system’s code', () => {
    const { reader, events } = open()
    const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    const error = new TypeError('terminated', { cause })
    reader.feed(token('Hi'))
    reader.fail(error)
    expect(events.at(-2)).toEqual({
      type: 'error',
      code: 'connection-failed',
      message: 'terminated: read ECONNRESET',
      rawCode: 'ECONNRESET',
      cause: error,
    })
  })

  test('what is neither text nor bytes is refused', () => {
    const { reader } = open()
    expect(() => reader.feed([1] as never)).toThrow(
      expect.objectContaining({ code: 'not-a-chunk' }),
    )
  })

  const both = [
    token('Hi <tool_call>{"name":"f","arguments":{"a":1}}</tool_call>'),
    frame({
      choices: [
        {
          index: 0,
          delta: {
            reasoning_content: 'plan',
            content: 'Hi <tool_call>{"name":"f","arguments":{}}</tool_call>',
            tool_calls: [
              { index: 0, id: 'a', function: { name: 'g', arguments: '{"b":2}' } },
              { index: 1, id: 'b', function: { name: 'h', arguments: '{"c":3}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    }) + 'data: [DONE]\n\n',
  ]
  test.each(both)('a listener may abort at any event (%#)', (text) => {
    const whole = open()
    whole.reader.feed(text)
    whole.reader.end()
    for (let at = 0; at < whole.events.length - 1; at++) {
      const events: StreamEvent[] = []
      const reader = createLlamaServerReader({
        onEvent: (event) => {
          if (events.push(event) === at + 1) reader.abort()
        },
      })
      reader.feed(text)
      if (!reader.finished) reader.end()
      verifyGrammar(events, { overlap: true })
      expect(log(events).slice(0, at + 1)).toEqual(log(whole.events.slice(0, at + 1)))
    }
  })

  test('a listener may not feed', () => {
    const codes: unknown[] = []
    const reader = createLlamaServerReader({
      onEvent: () => {
        try {
          reader.feed(token('more'))
        } catch (error) {
          codes.push(error)
        }
      },
    })
    reader.feed(token('Hi') + stop())
    expect(codes).toHaveLength(5)
    expect(codes[0]).toMatchObject({ code: 'busy' })
  })

  test.each([
    ['an unknown dialect', { dialect: 'nope' }],
    ['wrong tools', { tools: [{}] as never }],
    ['an unknown limit', { limits: { size: 1 } as never }],
    ['an unknown option', { choise: 1 } as never],
    ['an option of another function', { signal: new AbortController().signal } as never],
    ['a choice that is none', { choice: -1 }],
    ['an endpoint that is none', { endpoint: '/infill' as never }],
    ['a frame size that is none', { maxFrameSize: 0.5 }],
    ['a listener that is none', { onEvent: 'log' as never }],
    ['a reporter that is none', { onProgress: true as never }],
  ])('%s throws at once', (_, options) => {
    expect(() => open(options)).toThrow(expect.objectContaining({ name: 'MisuseError' }))
  })

  test('no options at all throw', () => {
    expect(() => createLlamaServerReader(undefined as never)).toThrow(
      expect.objectContaining({ name: 'MisuseError' }),
    )
  })

  test('an exception of the event handler reaches the caller', () => {
    const reader = createLlamaServerReader({
      onEvent: () => {
        throw new Error('mine')
      },
    })
    expect(() => reader.feed(token('Hi'))).toThrow('mine')
  })
})

describe('limits', () => {
  test('a frame may be as large as the limit says, and no larger', () => {
    const line = JSON.stringify({ content: 'x'.repeat(50), stop: true, stop_type: 'eos' })
    const run = (text: string, maxFrameSize: number): string[] => {
      const { reader, events } = open({ maxFrameSize })
      reader.feed(text)
      reader.end()
      return log(events)
    }
    for (const text of [`data: ${line}\n\n`, line]) {
      expect(run(text, line.length).at(-1)).toBe('finish stop eos')
      expect(run(text, line.length - 1)[0]).toMatch(/^error frame-too-large /)
    }
  })

  test('by default it is large enough for the longest prompt to be echoed', () => {
    expect(MAX_FRAME_SIZE).toBe(64 * 1024 * 1024)
    expect(MAX_FRAME_SIZE).toBeGreaterThan(DEFAULT_LIMITS.arguments)
  })

  test('a line without end is given up at the limit', () => {
    const { reader, events } = open({ maxFrameSize: 1_000 })
    for (let count = 0; count < 100 && !reader.finished; count++) reader.feed('x'.repeat(64))
    expect(reader.finished).toBe(true)
    expect(events[0]).toMatchObject({ code: 'frame-too-large' })
  })

  test('each code of a failure has its line', () => {
    for (const line of Object.values(SOURCE_ERROR_CODES)) expect(line).toMatch(/^\S.+\.$/)
  })
})

const RECORDED = [
  'completion',
  'chat-plain-usage',
  'chat-n2',
  'piano-two_parallel-chat',
  'piano-marker_in_string-raw',
  'piano-think_unclosed_call-chat',
  'dialect-qwen3-chat',
  'v1-completions-usage',
  'chat-tools-required-nonstream',
  'ping-completion',
  'error-401',
  'responses-tools',
]

describe('promises', () => {
  const endings = ['end', 'abort', 'fail'] as const

  test.each(RECORDED)('every prefix of %s ends well', (name) => {
    const body = recording(name)
    fc.assert(
      fc.property(fc.nat(body.length), fc.constantFrom(...endings), (size, ending) => {
        const { reader, events } = open()
        reader.feed(body.subarray(0, size))
        if (ending === 'fail') reader.fail(new Error('cut'))
        else reader[ending]()
        verifyGrammar(events, { overlap: true })
        const whole = collect(events)
        for (const { name: tool, input } of whole.calls) {
          expect(callsOf(body)).toContainEqual([tool, input])
        }
      }),
      { seed: 7, numRuns: 60 },
    )
  })

  test('any frames at any cuts give the same events', () => {
    const text = fc.constantFrom(
      'Hi ',
      '<tool_call>',
      '{"name":"f","arguments":{',
      '"a":1}}',
      '🙂',
      '',
    )
    const args = fc.constantFrom('{', '"a":', '1', '}', '{}', '{"a":1}', 'x', '')
    const word = fc.constantFrom(undefined, '', 'null', 'a', 'b')
    const item = fc.record(
      {
        index: fc.constantFrom(0, 1),
        id: word,
        function: fc.record({ name: word, arguments: args }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    const delta = fc.record(
      { content: text, reasoning_content: text, tool_calls: fc.array(item, { maxLength: 2 }) },
      { requiredKeys: [] },
    )
    const choice = fc.record(
      {
        index: fc.constantFrom(0, 1),
        delta,
        finish_reason: fc.constantFrom(null, 'stop', 'length'),
      },
      { requiredKeys: ['delta'] },
    )
    const chunk = fc.record({ choices: fc.array(choice, { minLength: 1, maxLength: 2 }) })
    const oddity = fc.constantFrom(
      null,
      { type: 'ping' },
      { choices: [], usage: { prompt_tokens: 1 } },
    )
    const line = fc.oneof(
      { weight: 12, arbitrary: chunk.map(frame) },
      { weight: 2, arbitrary: oddity.map(frame) },
      { weight: 1, arbitrary: fc.constantFrom(': ping\n\n', 'data: [DONE]\n\n', 'data: {\n\n') },
    )
    const cuts = fc.array(fc.nat(400), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), cuts, fc.boolean(), (lines, at, isCr) => {
        const body = new TextEncoder().encode(lines.join('').replaceAll('\n', isCr ? '\r\n' : '\n'))
        const run = (chunks: readonly Uint8Array[]): string[] => {
          let count = 0
          const { reader, events } = open({ patches: true, generateId: () => `made-${count++}` })
          for (const piece of chunks) reader.feed(piece)
          reader.end()
          verifyGrammar(events, { overlap: true })
          return log(events)
        }
        const places = [0, ...at.filter((place) => place < body.length).sort((a, b) => a - b)]
        const pieces = places.map((place, n) => body.subarray(place, places[n + 1]))
        expect(run(pieces)).toEqual(run([body]))
      }),
      { seed: 11, numRuns: 400 },
    )
  })
})

/** Names and inputs of the calls of a whole stream. */
function callsOf(body: Uint8Array): unknown[] {
  const { reader, events } = open()
  reader.feed(body)
  reader.end()
  return collect(events).calls.map(({ name, input }) => [name, input])
}
