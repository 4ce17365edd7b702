/** The layer that turns bytes into decoded frames. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Failure } from '../src/failure.ts'
import { createFrameReader } from '../src/frame-reader.ts'

interface Read {
  readonly frames: readonly unknown[]
  readonly isDone: boolean
  readonly failure: Failure | undefined
  readonly stray: string | undefined
}

function read(chunks: Iterable<string | Uint8Array>, maxFrameSize = 1_000): Read {
  const frames: unknown[] = []
  let isDone = false
  let failure: Failure | undefined
  const reader = createFrameReader(
    {
      frame: (value, event) => frames.push(event === undefined ? value : [event, value]),
      done: () => {
        isDone = true
      },
      fail: (found) => {
        expect(failure).toBe(undefined)
        failure = found
      },
    },
    maxFrameSize,
  )
  for (const chunk of chunks) reader.feed(chunk)
  reader.end()
  return { frames, isDone, failure, stray: reader.stray }
}

describe('event streams', () => {
  test.each([
    ['LF', 'data: 1\n\ndata: 2\n\n'],
    ['CR LF', 'data: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['CR', 'data: 1\r\rdata: 2\r\r'],
    ['mixed', 'data: 1\r\n\rdata: 2\n\r\n'],
    ['no blank after the colon', 'data:1\n\ndata:2\n\n'],
    ['a byte order mark', '\ufeffdata: 1\n\ndata: 2\n\n'],
    ['blank lines first', '\n\n\ndata: 1\n\ndata: 2\n\n'],
    ['no end of the last line', 'data: 1\n\ndata: 2'],
    ['no blank line at the end', 'data: 1\n\ndata: 2\n'],
    ['comments', ':\n\n: x\ndata: 1\n\n:\n\ndata: 2\n\n'],
    ['other fields', 'id: 1\nretry: 5\ndata: 1\n\nfoo: bar\ndata: 2\n\n'],
    ['data over lines', 'data:\ndata: 1\ndata:\n\ndata: 2\n\n'],
    ['empty data', 'data: 1\n\ndata:\n\ndata\n\ndata: 2\n\n'],
  ])('%s', (_, text) => {
    expect(read([text]).frames).toEqual([1, 2])
    const bytes = new TextEncoder().encode(text)
    expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte))).frames).toEqual([1, 2])
  })

  test('an event’s name comes with its frame', () => {
    expect(read(['event: x\ndata: 1\n\ndata: 2\n\n']).frames).toEqual([['x', 1], 2])
  })

  test('nothing counts behind [DONE]', () => {
    expect(read(['data: 1\n\ndata: [DONE]\n\ndata: {\n\n'])).toMatchObject({
      frames: [1],
      isDone: true,
      failure: undefined,
    })
  })

  test('a line that the end cuts is no frame and no failure', () => {
    for (const cut of [
      'data: {"a":',
      'data: {"a"',
      'dat',
      'data',
      'event: x',
      ': pi',
      'data: tr',
    ]) {
      expect(read([`data: 1\n\n${cut}`])).toEqual({
        frames: [1],
        isDone: false,
        failure: undefined,
        stray: undefined,
      })
    }
  })

  test('a line that breaks ends the reading', () => {
    const { frames, failure } = read(['data: 1\n\ndata: {"a"\n\ndata: 2\n\n'])
    expect(frames).toEqual([1])
    expect(failure).toMatchObject({ code: 'malformed-frame', cause: expect.any(SyntaxError) })
    expect(failure?.message).toContain('"{\\"a\\""')
  })

  test('a message quotes the beginning of what was found', () => {
    const { failure } = read([`data: ${'x'.repeat(500)}\n\n`])
    expect(failure?.message).toContain(`${'x'.repeat(80)}" and 420 characters more`)
  })

  test('the first line that belongs nowhere is kept', () => {
    expect(read(['<html>\n<p>\n']).stray).toBe('<html>')
    expect(read(['Bad: gateway']).stray).toBe('Bad: gateway')
  })

  test('text between bytes ends a character that was begun', () => {
    const start = new TextEncoder().encode('data: "日').subarray(0, 8)
    expect(read([start, '"\n\n']).frames).toEqual(['\ufffd'])
  })
})

describe('JSON', () => {
  test.each([
    ['one value', '{"a":1}', [{ a: 1 }]],
    ['one value over lines', '{\n "a":\n1}\n', [{ a: 1 }]],
    ['white space around it', ' \r\n{"a":1} \n ', [{ a: 1 }]],
    ['a list', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['lines', '{"a":1}\n\n{"a":2}\r\n{"a":3}', [{ a: 1 }, { a: 2 }, { a: 3 }]],
  ])('%s', (_, text, frames) => {
    expect(read([text])).toMatchObject({ frames, failure: undefined })
    expect(read(text)).toMatchObject({ frames, failure: undefined })
  })

  test('a line is a frame as soon as it ends', () => {
    const frames: unknown[] = []
    const reader = createFrameReader(
      { frame: (value) => frames.push(value), done: () => {}, fail: () => {} },
      100,
    )
    reader.feed('{"a":1}\n{"a"')
    expect(frames).toEqual([{ a: 1 }])
  })

  test.each([
    ['lines', '{"a":1}\n[DONE]\n'],
    ['lines that go on', '{"a":1}\r\n\r\n [DONE]\r\n\r\n{"a":2}\nno JSON\n'],
    ['a last line without an end', '{"a":1}\n[DONE]'],
  ])('a line [DONE] is the end: %s', (_, text) => {
    const expected = { frames: [{ a: 1 }], isDone: true, failure: undefined }
    expect(read([text])).toMatchObject(expected)
    expect(read(text)).toMatchObject(expected)
  })

  test.each(['{"a":', '{"a":1}\n{"a"', '{\n"a":\n', '[1'])('%j is an error', (text) => {
    expect(read([text]).failure).toMatchObject({ code: 'malformed-frame' })
  })
})

describe('the limit on a frame', () => {
  const data = JSON.stringify('x'.repeat(98))

  test.each([
    ['an event', `data: ${data}\n\n`],
    ['an event over lines', `data: ${data.slice(0, 1)}${data.slice(1)}\ndata:\n\n`],
    ['a JSON value', `[${data}]`],
    ['a comment', `:${'x'.repeat(100)}\n\n`],
    ['an event’s name', `event: ${'x'.repeat(100)}\ndata: 1\n\n`],
    ['a line of nobody', `${'x'.repeat(100)}\n\n`],
  ])('%s', (_, text) => {
    for (const chunks of [[text], text]) {
      expect(read(chunks, 120).failure).toBe(undefined)
      expect(read(chunks, 99).failure).toMatchObject({ code: 'frame-too-large' })
      expect(read(chunks, 10).failure).toMatchObject({ code: 'frame-too-large' })
    }
  })

  test('frames do not add up', () => {
    const lines = `data: ${data}\n\n`.repeat(5)
    expect(read([lines], 100).frames).toHaveLength(5)
    expect(read(lines, 100).frames).toHaveLength(5)
    const json = `[${data}]\n`.repeat(5)
    expect(read([json], 110).frames).toHaveLength(5)
  })
})

test('no input throws, and none depends on the cuts', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'data: ',
      'data',
      ':',
      '\n',
      '\r',
      '\r\n',
      '{"a":1}',
      '[1]',
      '{',
      '"',
      '\ufeff',
      ' ',
    ),
    fc.constantFrom('event: error\n', 'error: x\n', '[DONE]', 'retry: x\n', '日', '🙂', '\0'),
    fc.string({ maxLength: 6 }),
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }),
      fc.array(fc.nat(120), { maxLength: 6 }),
      (parts, cuts) => {
        const bytes = new TextEncoder().encode(parts.join(''))
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b)]
        const pieces = places.map((place, n) => bytes.subarray(place, places[n + 1]))
        expect(read(pieces)).toEqual(read([bytes]))
        expect(read(pieces, 12)).toEqual(read([bytes], 12))
      },
    ),
    { seed: 3, numRuns: 2_000 },
  )
})
