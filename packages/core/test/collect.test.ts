/** Events to a message, from any stream: a parser's, or one of a vendor whose parts overlap. */
import { describe, expect, test } from 'vitest'
import {
  collect,
  collectAsync,
  createCollector,
  parseMessage,
  type StreamEvent,
} from '../src/index.ts'
import { anyStream, validStream } from './arbitraries.ts'
import { chunked, drive, eventsOf } from './drive.ts'
import { fc } from './random.ts'
import { read } from './reference.ts'

const vendor: readonly StreamEvent[] = [
  { type: 'stream-start', id: 'r1', model: 'm', created: 1, metadata: { region: 'eu' } },
  { type: 'reasoning-start', index: 0 },
  { type: 'reasoning-end', index: 0, metadata: { signature: 's' } },
  { type: 'text-start', index: 1 },
  { type: 'text-delta', index: 1, delta: 'one ' },
  { type: 'tool-call-start', index: 2, id: 'a', name: 'f' },
  { type: 'tool-call-start', index: 3, id: 'b', name: 'search', server: true },
  { type: 'tool-call-delta', index: 2, delta: '{"a"' },
  { type: 'text-delta', index: 1, delta: 'two' },
  { type: 'tool-call-delta', index: 3, delta: '{}' },
  {
    type: 'tool-call-end',
    index: 3,
    id: 'b',
    name: 'search',
    arguments: '{}',
    input: {},
    server: true,
  },
  { type: 'part', index: 4, kind: 'tool-result', id: 'b', value: [1] },
  { type: 'tool-call-delta', index: 2, delta: ':1}' },
  {
    type: 'tool-call-end',
    index: 2,
    id: 'a',
    name: 'f',
    arguments: '{"a":1}',
    input: { a: 1 },
    repairs: ['comment'],
    metadata: { modelId: '0' },
  },
  { type: 'text-end', index: 1, metadata: { citations: 1 } },
  { type: 'tool-call-error', index: 5, code: 'malformed-call', message: 'no name', raw: '<x>' },
  { type: 'warning', code: 'unknown-tool', message: 'not declared', name: 'f' },
  { type: 'finish', reason: 'tool-calls', rawReason: 'tool_use', usage: { inputTokens: 1 } },
]

describe('collect', () => {
  const message = collect(vendor)

  test('puts parts in order of their index, each with what came for it', () => {
    expect(message.parts).toEqual([
      { type: 'reasoning', index: 0, text: '', metadata: { signature: 's' } },
      { type: 'text', index: 1, text: 'one two', metadata: { citations: 1 } },
      {
        type: 'tool-call',
        index: 2,
        id: 'a',
        name: 'f',
        arguments: '{"a":1}',
        input: { a: 1 },
        repairs: ['comment'],
        metadata: { modelId: '0' },
      },
      {
        type: 'tool-call',
        index: 3,
        id: 'b',
        name: 'search',
        arguments: '{}',
        input: {},
        server: true,
      },
      { type: 'part', index: 4, kind: 'tool-result', id: 'b', value: [1] },
      { type: 'failed-call', index: 5, code: 'malformed-call', message: 'no name', raw: '<x>' },
    ])
  })

  test('tells calls to run from those that the vendor ran and those that failed', () => {
    expect(message.calls.map((call) => call.id)).toEqual(['a'])
    expect(message.serverCalls.map((call) => call.id)).toEqual(['b'])
    expect(message.failed.map((call) => call.code)).toEqual(['malformed-call'])
    expect(message.calls[0]).not.toHaveProperty('type')
  })

  test('keeps what is no part', () => {
    expect(message.start).toEqual({ id: 'r1', model: 'm', created: 1, metadata: { region: 'eu' } })
    expect(message.warnings).toEqual([{ code: 'unknown-tool', message: 'not declared', name: 'f' }])
    expect(message.finish).toEqual({
      reason: 'tool-calls',
      rawReason: 'tool_use',
      usage: { inputTokens: 1 },
    })
    expect(message).not.toHaveProperty('error')
  })

  test('joins text and reasoning over their parts', () => {
    const found = collect(eventsOf('<think>a</think>b<tool_call>{"name":"f"}</tool_call>c'))
    expect(found).toMatchObject({ reasoning: 'a', text: 'bc' })
  })

  test('keeps the failure of a source', () => {
    const found = collect(drive(['so'], { closing: 'fail' }).events)
    expect(found.error?.message).toBe('the source broke')
    expect(found.finish).toEqual({ reason: 'error' })
  })

  test('takes no events, too', () => {
    expect(collect([])).toEqual({
      parts: [],
      text: '',
      reasoning: '',
      calls: [],
      serverCalls: [],
      failed: [],
      warnings: [],
    })
  })
})

describe('createCollector', () => {
  test('shows the message so far at any time', () => {
    const collector = createCollector()
    for (const event of vendor.slice(0, 8)) collector.add(event)
    expect(collector.message()).toMatchObject({ text: 'one ', calls: [] })
    expect(collector.message()).not.toHaveProperty('finish')
    for (const event of vendor.slice(8)) collector.add(event)
    expect(collector.message()).toEqual(collect(vendor))
  })

  test('a message that was shown does not change', () => {
    const collector = createCollector()
    collector.add({ type: 'text-start', index: 0 })
    collector.add({ type: 'text-delta', index: 0, delta: 'one ' })
    const early = collector.message()
    collector.add({ type: 'text-delta', index: 0, delta: 'two' })
    collector.add({ type: 'warning', code: 'unknown-tool', message: 'not declared' })
    expect(early.parts).toEqual([{ type: 'text', index: 0, text: 'one ' }])
    expect(early.warnings).toEqual([])
  })
})

describe('one message, however it is read', () => {
  test('from events, async events, cuts or the whole text', async () => {
    await fc.assert(
      fc.asyncProperty(anyStream, async (source) => {
        const options = { generateId: (): string => `call_${ids++}` }
        let ids = 0
        const whole = parseMessage(source, options)
        expect(collect(eventsOf(source))).toEqual(whole)
        expect(collect(drive(chunked(source, 1)).events)).toEqual(whole)
        async function* events(): AsyncGenerator<StreamEvent> {
          yield* eventsOf(source)
        }
        expect(await collectAsync(events())).toEqual(whole)
      }),
    )
  })

  test('with the calls that the reference finds', () => {
    fc.assert(
      fc.property(validStream, ({ text, calls }) => {
        const message = parseMessage(text)
        expect(
          message.calls.map(({ name, arguments: json }) => ({ name, arguments: json })),
        ).toEqual(calls.map(({ name, arguments: json }) => ({ name, arguments: json })))
        expect(message.text).toBe(read(text).text)
        expect(message.failed).toEqual([])
      }),
    )
  })
})
