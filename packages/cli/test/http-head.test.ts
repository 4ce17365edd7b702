/** What `curl -i` puts before an answer, at every cut. */
import { describe, expect, it } from 'vitest'
import { HttpHead } from '../src/http-head.ts'
import { talaria } from './harness.ts'

/** What is left of the chunks. */
function body(chunks: readonly string[]): string {
  const head = new HttpHead()
  for (const [index, chunk] of chunks.entries()) {
    const rest = head.take(chunk)
    if (rest !== undefined) return rest + chunks.slice(index + 1).join('')
  }
  return head.end()
}

const HEAD = 'HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nX-Empty:\r\n\r\n'

it.each([
  ['one head', `${HEAD}Hi`, 'Hi'],
  ['line feeds alone', `${HEAD.replaceAll('\r', '')}Hi\n`, 'Hi\n'],
  ['HTTP/2', 'HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n', 'data: 1\n\n'],
  ['several heads', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Hi`, 'Hi'],
  ['no body', HEAD, ''],
  ['no head', 'Hi\n\nHTTP/1.1 200 OK', 'Hi\n\nHTTP/1.1 200 OK'],
  ['nothing', '', ''],
  ['blank lines first', `\n${HEAD}`, `\n${HEAD}`],
  ['prose about HTTP', 'HTTP/1.1 is old.\n\nHi', 'HTTP/1.1 is old.\n\nHi'],
  ['the word', 'HTTP', 'HTTP'],
  [
    'a status line in prose',
    'HTTP/1.1 200 OK\nis what it says.',
    'HTTP/1.1 200 OK\nis what it says.',
  ],
  ['a head that was cut', 'HTTP/1.1 200 OK\r\nA: b\r\n', 'HTTP/1.1 200 OK\r\nA: b\r\n'],
])('%s', (_, input, expected) => {
  expect(body([input])).toBe(expected)
  expect(body(input.split(''))).toBe(expected)
  for (let cut = 1; cut < input.length; cut++) {
    expect(body([input.slice(0, cut), input.slice(cut)]), `cut at ${cut}`).toBe(expected)
  }
})

it('holds a head up to a limit', () => {
  const endless = `${HEAD.slice(0, -2)}A: ${'x'.repeat(100_000)}`
  const head = new HttpHead()
  let given: string | undefined
  for (const character of endless) given ??= head.take(character)
  expect(given).toHaveLength(64 * 1024 + 1)
})

describe('before an answer', () => {
  it.each([
    [
      'an event stream',
      'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    ],
    ['raw text', 'Hi'],
  ])('of %s', async (_, answer) => {
    const { stdout } = await talaria(['parse', '--to', 'message'], { stdin: [HEAD, answer] })
    expect(JSON.parse(stdout)).toMatchObject({ text: 'Hi', finish: { reason: 'stop' } })
  })
})
