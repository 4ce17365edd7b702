/** The async forms: any source, cut anywhere, left at any time. They add nothing to the events. */
import { describe, expect, test } from 'vitest'
import { collectAsync, log, parse, type ParserOptions, type StreamEvent } from '../src/index.ts'
import { ToolCallStream } from '../src/stream.ts'
import { anyStream, validStream } from './arbitraries.ts'
import { chunked, eventsOf } from './drive.ts'
import { verifyGrammar } from './grammar.ts'
import { fc, fewer } from './random.ts'

const source =
  'Fünf <b>Brücken</b> 👍🏽\n<tool_call>\n{"name":"wetter","arguments":{"ort":"Köln 😀"}}\n</tool_call>\nfertig'
const call = '<tool_call>{"name":"f","arguments":{"a":"'

type Source = Parameters<typeof parse>[0]

async function all(
  from: Source,
  options: ParserOptions & { signal?: AbortSignal } = {},
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of parse(from, options)) events.push(event)
  return events
}

/** Chunks one by one, each in a task of its own; `closed` tells whether the consumer said so. */
function slowly<T>(chunks: readonly T[], failure?: Error): AsyncIterable<T> & { closed: boolean } {
  return {
    closed: false,
    async *[Symbol.asyncIterator]() {
      try {
        for (const chunk of chunks) {
          await new Promise((resolve) => setImmediate(resolve))
          yield chunk
        }
        if (failure) throw failure
      } finally {
        this.closed = true
      }
    },
  }
}

function bytes(text: string, size: number): Uint8Array[] {
  const encoded = new TextEncoder().encode(text)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < encoded.length; at += size) chunks.push(encoded.subarray(at, at + size))
  return chunks
}

describe('parse', () => {
  const expected = log(eventsOf(source))

  test('reads every kind of source', async () => {
    const sources: Record<string, () => Source> = {
      'a string': () => source,
      'a list of strings': () => chunked(source, 3),
      'an iterable': () => new Set(['Fünf ', source.slice(5)]),
      'async strings': () => slowly(chunked(source, 1)),
      'async bytes': () => slowly(bytes(source, 1)),
      'a stream of strings': () => ReadableStream.from(chunked(source, 4)),
      'a stream of bytes': () => ReadableStream.from(bytes(source, 3)),
      'a response': () => new Response(source).body!,
    }
    for (const [what, make] of Object.entries(sources))
      expect(log(await all(make())), what).toEqual(expected)
  })

  test('reads an empty source', async () => {
    for (const empty of ['', [], slowly<string>([]), ReadableStream.from([])])
      expect(log(await all(empty as Source))).toEqual(['finish stop'])
  })

  test('reads UTF-8 cut anywhere', async () => {
    for (let size = 1; size <= 7; size++)
      expect(log(await all(slowly(bytes(source, size))))).toEqual(expected)
    await fc.assert(
      fc.asyncProperty(validStream, fc.integer({ max: 9, min: 1 }), async ({ text }, size) => {
        const whole = text.toWellFormed()
        expect(log(await all(slowly(bytes(whole, size))))).toEqual(log(eventsOf(whole)))
      }),
      fewer,
    )
  })

  test('keeps a byte order mark and replaces broken bytes', async () => {
    const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x62, 0xe2, 0x82])
    const message = await collectAsync(parse(slowly([marked])))
    expect(message.text).toBe('\ufeffa\ufffdb\ufffd')
  })

  test('takes options', async () => {
    const events = await all('so</think>it is', { startIn: 'reasoning' })
    expect(log(events)).toEqual(log(eventsOf('so</think>it is', { startIn: 'reasoning' })))
    const spans: number[] = []
    await all(source, { trace: (span) => spans.push(span.end) })
    expect(spans.at(-1)).toBe(source.length)
  })

  test('gives events as they come', async () => {
    const sent: string[] = []
    async function* slow(): AsyncGenerator<string> {
      for (const chunk of ['Well, ', 'so ', 'it is']) {
        sent.push(chunk)
        yield chunk
      }
    }
    const events = parse(slow())
    expect((await events.next()).value).toEqual({ type: 'text-start', index: 0 })
    expect((await events.next()).value).toEqual({ type: 'text-delta', index: 0, delta: 'Well, ' })
    expect(sent).toEqual(['Well, '])
  })

  test('says the same as a push parser, whatever the input', async () => {
    await fc.assert(
      fc.asyncProperty(anyStream, fc.integer({ max: 9, min: 1 }), async (text, size) => {
        const events = await all(chunked(text, size))
        verifyGrammar(events)
        expect(log(events)).toEqual(log(eventsOf(text)))
      }),
      fewer,
    )
  })
})

describe('a consumer that leaves', () => {
  test('closes an async iterable', async () => {
    const from = slowly(chunked(source, 2))
    for await (const event of parse(from)) if (event.type === 'text-delta') break
    expect(from.closed).toBe(true)
  })

  test('closes an iterable', async () => {
    let closed = false
    function* chunks(): Generator<string> {
      try {
        yield* chunked(source, 2)
      } finally {
        closed = true
      }
    }
    for await (const event of parse(chunks())) if (event.type === 'text-delta') break
    expect(closed).toBe(true)
  })

  test('cancels a stream', async () => {
    let cancelled = false
    const stream = new ReadableStream<string>({
      pull: (controller) => controller.enqueue('so '),
      cancel: () => {
        cancelled = true
      },
    })
    for await (const event of parse(stream)) if (event.type === 'text-delta') break
    expect(cancelled).toBe(true)
    expect(stream.locked).toBe(false)
  })

  test('closes the source when it throws, too', async () => {
    const from = slowly(chunked(source, 2))
    const leave = async (): Promise<void> => {
      for await (const event of parse(from)) if (event.type === 'text-delta') throw new Error('no')
    }
    await expect(leave()).rejects.toThrow('no')
    expect(from.closed).toBe(true)
  })
})

describe('a source that fails', () => {
  const failure = new Error('the line is down')

  test('ends in error and finish, and no call is left open', async () => {
    const events = await all(slowly(['Well. ', call, 'x'], failure))
    verifyGrammar(events)
    expect(events.map((event) => event.type).slice(-3)).toEqual([
      'tool-call-error',
      'error',
      'finish',
    ])
    expect(events.at(-3)).toMatchObject({ code: 'aborted', name: 'f', arguments: '{"a":"x' })
    expect(events.at(-2)).toMatchObject({ message: 'the line is down', cause: failure })
    expect(events.at(-1)).toMatchObject({ reason: 'error' })
  })

  test('whatever its kind', async () => {
    function* chunks(): Generator<string> {
      yield 'so'
      throw failure
    }
    const stream = new ReadableStream<string>({
      start: (controller) => controller.enqueue('so'),
      pull: (controller) => controller.error(failure),
    })
    for (const from of [chunks(), stream]) {
      const message = await collectAsync(parse(from))
      expect(message).toMatchObject({ text: 'so', finish: { reason: 'error' } })
      expect(message.error?.cause).toBe(failure)
    }
  })

  test('even with something that is no error', async () => {
    async function* chunks(): AsyncGenerator<string> {
      yield 'so'
      throw 'no reason'
    }
    const message = await collectAsync(parse(chunks()))
    expect(message.error).toMatchObject({ cause: 'no reason' })
    expect(message.finish?.reason).toBe('error')
  })

  test('a chunk that is neither string nor bytes is a failure of the source', async () => {
    const message = await collectAsync(parse(slowly(['so', 7 as unknown as string])))
    expect(message.text).toBe('so')
    expect(message.finish?.reason).toBe('error')
  })
})

describe('an abort', () => {
  test('before the start reads nothing', async () => {
    let read = 0
    async function* chunks(): AsyncGenerator<string> {
      read++
      yield 'so'
    }
    const events = await all(chunks(), { signal: AbortSignal.abort() })
    expect(log(events)).toEqual(['finish aborted'])
    expect(read).toBe(0)
  })

  test('delivers the closing events and closes the source', async () => {
    const controller = new AbortController()
    const from = slowly(['so ', call, 'x', 'never', 'read'])
    const events: StreamEvent[] = []
    for await (const event of parse(from, { signal: controller.signal })) {
      events.push(event)
      if (event.type === 'tool-call-start') controller.abort()
    }
    verifyGrammar(events)
    expect(events.at(-2)).toMatchObject({ type: 'tool-call-error', code: 'aborted' })
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'aborted' })
    expect(events.some((event) => 'delta' in event && event.delta.includes('never'))).toBe(false)
    expect(from.closed).toBe(true)
  })

  test('ends the wait for a source that is silent', async () => {
    const controller = new AbortController()
    let cancelled = false
    const silent = new ReadableStream<string>({
      start: (stream) => stream.enqueue(`${call}x`),
      cancel: () => {
        cancelled = true
      },
    })
    const events: StreamEvent[] = []
    for await (const event of parse(silent, { signal: controller.signal })) {
      events.push(event)
      if (event.type === 'tool-call-delta') setImmediate(() => controller.abort())
    }
    verifyGrammar(events)
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'aborted' })
    expect(cancelled).toBe(true)
  })

  test('ends the wait for an iterator that is silent', async () => {
    const controller = new AbortController()
    async function* silent(): AsyncGenerator<string> {
      yield 'so'
      await new Promise(() => {})
    }
    setImmediate(() => controller.abort())
    const events = await all(silent(), { signal: controller.signal })
    expect(log(events).at(-1)).toBe('finish aborted')
  })

  test('after the end changes nothing', async () => {
    const controller = new AbortController()
    const events = await all(source, { signal: controller.signal })
    controller.abort()
    expect(log(events)).toEqual(log(eventsOf(source)))
  })
})

describe('ToolCallStream', () => {
  async function through(
    stream: ReadableStream,
    options?: ParserOptions,
  ): Promise<(readonly StreamEvent[])[]> {
    const batches: (readonly StreamEvent[])[] = []
    for await (const batch of stream.pipeThrough(new ToolCallStream(options))) batches.push(batch)
    return batches
  }

  test('takes strings and bytes, cut anywhere', async () => {
    const expected = log(eventsOf(source))
    for (const size of [1, 2, 5, 1_000]) {
      const strings = await through(ReadableStream.from(chunked(source, size)))
      expect(log(strings.flat())).toEqual(expected)
      const encoded = await through(ReadableStream.from(bytes(source, size)))
      expect(log(encoded.flat())).toEqual(expected)
    }
  })

  test('gives one batch for a chunk, and none that is empty', async () => {
    const chunks = ['so ', 'it ', '<tool_', 'call>', '{"name":"f"}', '</tool_call>']
    const batches = await through(ReadableStream.from(chunks))
    expect(batches.every((batch) => batch.length > 0)).toBe(true)
    expect(batches.length).toBeLessThanOrEqual(chunks.length + 1)
    verifyGrammar(batches.flat())
  })

  test('takes options', async () => {
    const batches = await through(ReadableStream.from(['so</think>']), { startIn: 'reasoning' })
    expect(batches.flat()[0]?.type).toBe('reasoning-start')
  })

  test('ends an empty stream', async () => {
    expect(log((await through(ReadableStream.from([]))).flat())).toEqual(['finish stop'])
  })

  test('passes a failure of its source on', async () => {
    const failure = new Error('the line is down')
    const broken = new ReadableStream<string>({
      start: (controller) => controller.enqueue('so'),
      pull: (controller) => controller.error(failure),
    })
    await expect(through(broken)).rejects.toBe(failure)
  })
})
