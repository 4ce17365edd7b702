/** What the forms for sources owe to who lends them: no listener or lock is left, no byte is lost. */
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type ParseOptions, parse, type Source, type StreamEvent } from '../src/index.ts'
import { ToolCallStream } from '../src/stream.ts'

async function all(source: Source, options?: ParseOptions): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of parse(source, options)) events.push(event)
  return events
}

/** Reads one event and leaves. */
async function leave(events: AsyncGenerator<StreamEvent, void, undefined>): Promise<void> {
  expect((await events.next()).done).toBe(false)
  await events.return()
}

describe('parse', () => {
  test.each([
    [null, 'null'],
    [undefined, 'nothing'],
    [7, '7'],
    [{}, 'an object'],
  ])('says what %j is not', (source, found) => {
    const misuse = {
      code: 'invalid-source',
      message: `Expected text, an iterable or a stream, found ${found}.`,
    }
    expect(() => parse(source as Source)).toThrow(expect.objectContaining(misuse))
  })

  test('says what a piece is not', async () => {
    const message = 'Expected strings or Uint8Arrays from the source, found 7.'
    const events = await all(['so', 7 as unknown as string])
    expect(events.find((event) => event.type === 'error')).toMatchObject({ message })
  })

  test('leaves no listener at a signal, read to the end or not', async () => {
    const { signal } = new AbortController()
    await all('so', { signal })
    await leave(parse(['so', 'it'], { signal }))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('leaves no lock at a stream, read to the end or not', async () => {
    const read = ReadableStream.from(['so'])
    await all(read)
    expect(read.locked).toBe(false)
    const left = ReadableStream.from(['so', 'it'])
    await leave(parse(left))
    expect(left.locked).toBe(false)
  })
})

test('ToolCallStream keeps a byte order mark', async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61])
  const deltas: string[] = []
  for await (const batch of ReadableStream.from([bytes]).pipeThrough(new ToolCallStream())) {
    for (const event of batch) if (event.type === 'text-delta') deltas.push(event.delta)
  }
  expect(deltas.join('')).toBe('\ufeffa')
})
