/** `fromLlamaServerStream` over every kind of source. */
import { type StreamEvent, collect, log } from '@talaria/core'
import { describe, expect, test } from 'vitest'
import { verifyGrammar } from '../../core/test/grammar.ts'
import { fromLlamaServerStream } from '../src/index.ts'
import { frame, recordedReads, recording, stop, token } from './replay-server.ts'

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const list: StreamEvent[] = []
  for await (const event of events) list.push(event)
  verifyGrammar(list, { overlap: true })
  return list
}

async function* pieces<T>(...items: readonly T[]): AsyncGenerator<T, void, undefined> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

describe('sources', () => {
  const bytes = recording('piano-two_parallel-raw')
  const sources: readonly [string, () => Parameters<typeof fromLlamaServerStream>[0]][] = [
    ['a response', () => new Response(bytes)],
    ['a stream of bytes', () => new Blob([bytes]).stream()],
    ['an iterable of bytes', () => pieces(...recordedReads('piano-two_parallel-raw'))],
    ['an iterable of text', () => pieces(...new TextDecoder().decode(bytes).split(/(?<=,)/))],
    [
      'an iterable of both',
      () => pieces<string | Uint8Array>('', bytes.subarray(0, 9), bytes.subarray(9)),
    ],
  ]
  test.each(sources)('%s', async (_, source) => {
    const message = collect(await all(fromLlamaServerStream(source())))
    expect(message.calls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
    expect(message.finish).toMatchObject({ reason: 'tool-calls', rawReason: 'eos' })
  })

  test('a character whose bytes come apart', async () => {
    const encoded = new TextEncoder().encode(token('日🙂') + stop())
    const apart = pieces(...Array.from(encoded, (byte) => Uint8Array.of(byte)))
    expect(collect(await all(fromLlamaServerStream(apart))).text).toBe('日🙂')
  })

  test('a response without a body', async () => {
    const response = new Response(null, { status: 204 })
    expect(log(await all(fromLlamaServerStream(response)))).toEqual(['finish interrupted'])
  })

  test('a response with an error status', async () => {
    const response = Response.json({ error: { message: 'no', code: 400 } }, { status: 400 })
    expect(log(await all(fromLlamaServerStream(response)))).toEqual([
      'error server-error 400 "HTTP 400: no"',
      'finish error',
    ])
  })

  test('an error status whose body breaks off', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('half a mess'))
      },
      pull: (controller) => controller.error(new Error('gone')),
    })
    const response = new Response(body, { status: 500, statusText: 'Oh' })
    const events = await all(fromLlamaServerStream(response))
    expect(events[0]).toMatchObject({ rawCode: '500', message: 'HTTP 500 Oh: "half a mess"' })
  })

  test('a response of another class', async () => {
    const { body } = new Response(token('Hi') + stop())
    const response = { status: 200, ok: true, statusText: '', body } as Response
    expect(collect(await all(fromLlamaServerStream(response))).text).toBe('Hi')
  })
})

describe('ends', () => {
  test('a source that fails ends in an error, with what it threw', async () => {
    const cause = new Error('the cable was cut')
    async function* source(): AsyncGenerator<string> {
      yield token('<tool_call>{"name":"f","arguments":{"a":')
      throw cause
    }
    const events = await all(fromLlamaServerStream(source()))
    expect(events.at(-2)).toMatchObject({ type: 'error', code: 'connection-failed', cause })
    expect(events.at(-3)).toMatchObject({ type: 'tool-call-error', code: 'aborted' })
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'error' })
  })

  test('an iterable that throws at once', async () => {
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: (): Promise<IteratorResult<string>> => Promise.reject(new Error('no')),
      }),
    }
    expect(log(await all(fromLlamaServerStream(source)))).toEqual([
      'error connection-failed "no"',
      'finish error',
    ])
  })

  test('a source is let go of behind the answer’s own end', async () => {
    let isLetGo = false
    async function* source(): AsyncGenerator<string> {
      try {
        yield token('Hi') + stop()
        yield token('never read')
      } finally {
        isLetGo = true
      }
    }
    const events = await all(fromLlamaServerStream(source()))
    await Promise.resolve()
    expect(collect(events)).toMatchObject({ text: 'Hi', finish: { reason: 'stop' } })
    expect(isLetGo).toBe(true)
  })

  test('leaving the loop cancels a stream', async () => {
    let reason: unknown = 'not cancelled'
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(token('Hi'))),
      cancel: (given) => {
        reason = given
      },
    })
    for await (const event of fromLlamaServerStream(source)) {
      if (event.type === 'text-delta') break
    }
    expect(reason).toBe(undefined)
  })

  test('a signal ends a stream that hangs, and cancels it', async () => {
    const controller = new AbortController()
    let isCancelled = false
    const source = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new TextEncoder().encode(token('Hi'))),
      cancel: () => {
        isCancelled = true
      },
    })
    const { signal } = controller
    const events: StreamEvent[] = []
    for await (const event of fromLlamaServerStream(source, { signal })) {
      events.push(event)
      if (event.type === 'text-delta') setTimeout(() => controller.abort(), 5)
    }
    verifyGrammar(events)
    expect(log(events)).toEqual([
      'stream-start',
      'text-start 0',
      'text-delta 0 "Hi"',
      'text-end 0',
      'finish aborted',
    ])
    expect(isCancelled).toBe(true)
  })

  test('a signal ends an iterable that hangs', async () => {
    const source: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    }
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 5)
    const events = await all(fromLlamaServerStream(source, { signal: controller.signal }))
    expect(log(events)).toEqual(['finish aborted'])
  })

  test('a silent stream is left while a chunk is waited for', async () => {
    let onCancel = (): void => {}
    const cancelled = new Promise<void>((resolve) => (onCancel = resolve))
    const source = new ReadableStream<Uint8Array>({ cancel: () => onCancel() })
    const events = fromLlamaServerStream(source)
    const waiting = events.next()
    expect(await events.return()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
    await cancelled
  })

  test('a silent iterable is left while a chunk is waited for', async () => {
    let isReturned = false
    const source: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: () => {
          isReturned = true
          return Promise.resolve({ done: true, value: undefined })
        },
      }),
    }
    const events = fromLlamaServerStream(source)
    const waiting = events.next()
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(isReturned).toBe(true)
  })

  test('a signal that was aborted reads nothing', async () => {
    let isRead = false
    async function* source(): AsyncGenerator<string> {
      isRead = true
      yield token('Hi')
    }
    const events = await all(fromLlamaServerStream(source(), { signal: AbortSignal.abort() }))
    expect(log(events)).toEqual(['finish aborted'])
    expect(isRead).toBe(false)
  })

  test('a source is read only when the consumer wants more', async () => {
    let read = 0
    async function* source(): AsyncGenerator<string> {
      for (const text of ['one ', 'two ', 'three']) {
        read++
        yield token(text)
      }
      yield stop()
    }
    const events = fromLlamaServerStream(source())
    await events.next() // stream-start
    await events.next() // text-start
    await events.next() // text-delta
    expect(read).toBe(1)
    await events.next()
    expect(read).toBe(2)
    await events.return()
    expect(read).toBe(2)
  })
})

test('misuse throws at the call', () => {
  const code = (value: string): unknown => expect.objectContaining({ code: value })
  const source = new Response('')
  expect(() => fromLlamaServerStream(source, { dialect: 'hermse' })).toThrow(
    code('unknown-dialect'),
  )
  expect(() => fromLlamaServerStream(source, { choice: -1 })).toThrow(code('invalid-option'))
  expect(() => fromLlamaServerStream(source, { signal: 1 as never })).toThrow(
    code('invalid-option'),
  )
  expect(() => fromLlamaServerStream(source, null as never)).toThrow(code('invalid-option'))
  for (const none of [undefined, null, 'data: {}', 5, {}]) {
    expect(() => fromLlamaServerStream(none as never)).toThrow(code('invalid-option'))
  }
})

test('the parser’s options reach the parser', async () => {
  const text = '<tool_call>{"name":"f","arguments":{"a":[1]}}</tool_call>'
  const events = await all(
    fromLlamaServerStream(pieces(token(text), stop()), {
      dialect: 'hermes',
      tools: [{ name: 'g' }],
      patches: true,
      generateId: () => 'mine',
    }),
  )
  expect(events.find(({ type }) => type === 'warning')).toMatchObject({ code: 'unknown-tool' })
  expect(events.find(({ type }) => type === 'tool-call-start')).toMatchObject({ id: 'mine' })
  expect(events.find(({ type }) => type === 'tool-call-delta')).toHaveProperty('patches')
})

test('patches of calls that the server parsed fold to their input', async () => {
  const call = (args: string): string =>
    frame({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: args } }] } }],
    })
  const events = await all(
    fromLlamaServerStream(
      pieces(
        frame({
          choices: [
            { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] } },
          ],
        }),
        call('{"a":[1,"x'),
        call('y"],"b":{}'),
        call('}'),
        frame({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
      ),
      { patches: true },
    ),
  )
  // `verifyGrammar` folds them.
  expect(events.filter((event) => 'patches' in event)).toHaveLength(3)
  expect(collect(events).calls[0]).toMatchObject({ id: 'a', input: { a: [1, 'xy'], b: {} } })
})
