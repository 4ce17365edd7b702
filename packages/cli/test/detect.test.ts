/** What the input is taken for, at every cut, and how much is held until that is known. */
import { describe, expect, it } from 'vitest'
import { Detector, type Form, HELD_LIMIT } from '../src/detect.ts'

/** Gives chunks until the answer is known. */
function detect(chunks: readonly string[], detector = new Detector()): Form {
  for (const chunk of chunks) {
    const form = detector.take(chunk)
    if (form !== undefined) return form
  }
  return detector.end()
}

/** How many characters have to come before the answer is known, one at a time. */
function needed(input: string): number {
  const detector = new Detector()
  for (let index = 0; index < input.length; index++) {
    if (detector.take(input.charAt(index)) !== undefined) return index + 1
  }
  return Infinity
}

const NATIVE = '{"index":0,"content":"Hi","tokens":[1],"stop":false}'
const CHAT = '{"choices":[{"index":0,"delta":{"content":"Hi"}}],"id":"chatcmpl-1"}'
/** An answer that was not streamed. */
const WHOLE = {
  choices: [{ index: 0, message: { content: '{\n"}": \\"[1],' }, logprobs: null }],
  created: -1.5e3,
  timings: {},
  list: [[], [1, true], ['}']],
}

const CASES: readonly (readonly [Form, string, string])[] = [
  ['text', 'nothing at all', ''],
  ['text', 'white space', ' \n\n '],
  ['text', 'prose', 'Hello there.'],
  ['text', 'a call', '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'],
  ['text', 'a bare call', '{"name": "f", "arguments": {"a": 1}}\n</tool_call>'],
  ['text', 'a bare call, laid out', '{\n  "name": "f"\n}\n'],
  ['text', 'a JSON object that begins like a frame', '{"id": 3, "city": "Paris"}\nThat is it.'],
  ['text', 'a JSON object with odd blanks', '{ "index" : 1 }\n'],
  ['text', 'a JSON list', '[{"index": 0}]\n'],
  ['text', 'a brace', '{'],
  ['text', 'a set', '{1, 2}'],
  ['text', 'prose about data', 'data: see below.\n\nIt goes on.'],
  ['text', 'prose about JSON data', 'data: {"a": 1, …}\n\nIt goes on.'],
  ['text', 'the word data', 'data'],
  ['text', 'data without anything', 'data:\n\n'],
  ['text', 'a schedule', 'event: the fair\nid: none\nCome all!'],
  ['text', 'an event alone', 'event: the fair'],
  ['text', 'a smiley', ':) hello'],
  ['text', 'a list of definitions', ': first\n: second\nthird'],
  ['text', 'smileys', ':)\n:)\nHello'],
  ['text', 'an object, laid out', '{\n  "id": 7,\n  "choices": "none"\n}\nThat is it.'],
  ['text', 'an object that is a call, laid out', '{\n  "id": "x",\n  "name": "f"\n}\n'],
  ['text', 'an object that prose ends', '{\n  "id": 7,\n  and so on, you see.\n'],
  ['text', 'an object that was cut', '{\n  "id": 7,\n  "choices": [\n'],
  ['text', 'code', '{\n  const id = 7\n}\n'],
  ['text', 'a quoted event stream after prose', 'Look:\ndata: {"a":1}\n\n'],
  ['server', 'native frames', `data: ${NATIVE}\n\ndata: ${NATIVE}\n\n`],
  ['server', 'native frames, CRLF', `data: ${NATIVE}\r\n\r\n`],
  ['server', 'native frames, CR', `data: ${NATIVE}\r\r`],
  ['server', 'frames without a blank', `data:${CHAT}\n\n`],
  ['server', 'frames after pings', `:\n\n:\n\ndata: ${CHAT}\n\n`],
  ['server', 'pings alone', ':\n\n:\n\n'],
  ['server', 'frames after a comment without a blank', `:ping\n\ndata: ${CHAT}\n\n`],
  ['server', 'frames after a long comment', `:${'x'.repeat(2_048)}\n\ndata: ${CHAT}\n\n`],
  ['server', 'an answer, laid out', `${JSON.stringify(WHOLE, null, 2)}\n`],
  ['server', 'an answer, laid out with tabs', JSON.stringify(WHOLE, null, '\t')],
  ['server', 'an answer, laid out, CRLF', JSON.stringify(WHOLE, null, 2).replaceAll('\n', '\r\n')],
  ['server', 'an error, laid out', JSON.stringify({ error: { code: 400 } }, null, 2)],
  ['server', 'frames after a comment', `: keep-alive\n\ndata: ${CHAT}\n\n`],
  ['server', 'frames with an event name', `event: message\nid: 1\nretry: 5\ndata: ${CHAT}\n\n`],
  ['server', 'frames after empty data', `data:\n\ndata: ${CHAT}\n\n`],
  ['server', 'a start marker', `data: null\n\ndata: ${NATIVE}\n\n`],
  ['server', 'an end alone', 'data: [DONE]\n\n'],
  ['server', 'a frame that was cut', `data: ${NATIVE.slice(0, 20)}`],
  ['server', 'an error in the stream', 'data: {"error":{"code":500,"message":"no"}}\n\n'],
  ['server', 'native frames, one a line', `${NATIVE}\n${NATIVE}\n`],
  ['server', 'chat frames, one a line', `${CHAT}\r\n${CHAT}\r\n`],
  ['server', 'a whole answer', '{"content":"Hi","stop":true,"stop_type":"eos"}'],
  ['server', 'an error as the answer', '{"error":{"code":400,"message":"no"}}'],
  ['server', 'lines of Ollama', '{"model":"m","created_at":"","response":"Hi","done":false}\n'],
  ['events', 'a recording', '{"type":"text-start","index":0}\n{"type":"text-delta"}\n'],
  ['events', 'a recorded error', '{"type":"error","code":"x","message":"y"}\n'],
  ['server', 'an error of another API', '{"type":"error","error":{"message":"y"}}\n'],
]

describe.each(CASES)('%s: %s', (form, _, input) => {
  it('is seen whole, by single characters and at every cut', () => {
    expect(detect([input])).toBe(form)
    expect(detect(input.split(''))).toBe(form)
    for (let cut = 1; cut < Math.min(input.length, 64); cut++) {
      expect(detect([input.slice(0, cut), input.slice(cut)]), `cut at ${cut}`).toBe(form)
    }
  })
})

describe('what is held', () => {
  it.each([
    ['prose', 'Hello', 1],
    ['prose that begins like a field', 'dates', 4],
    ['data that is no frame', 'data: see', 7],
    ['a call', '<tool_call>', 1],
    ['a bare call', '{"name": "f"}', 7],
    ['a bare call, laid out', '{\n  "name": "f"\n}', 10],
    ['an object, laid out, that prose ends', '{\n  "id": 7,\n  and', 16],
    ['blank lines', '\n\n\nHi', 4],
    ['a frame', `data: ${NATIVE}\n\n`, 7 + NATIVE.length],
  ])('%s: until it is known', (_, input, characters) => {
    expect(needed(input)).toBe(characters)
  })

  it.each([
    ['an object without end', `{"id": "${'x'.repeat(2 * HELD_LIMIT)}`, 'text', HELD_LIMIT + 1],
    ['a frame without end', `data: {"a": "${'x'.repeat(2 * HELD_LIMIT)}`, 'server', HELD_LIMIT + 1],
    ['a key without end', `{"${'x'.repeat(1_000)}`, 'text', 256],
    ['a field without end', `event: ${'x'.repeat(1_000)}`, 'text', 256],
    ['an object over lines', `{\n${'"id": 1,\n'.repeat(HELD_LIMIT / 8)}`, 'text', HELD_LIMIT + 1],
    ['a comment without end', `:${'x'.repeat(20_000)}`, 'text', 16_385],
    ['white space without end', ' '.repeat(10_000), 'text', 4_097],
  ] as const)('%s: up to a limit', (_, input, form, limit) => {
    expect(detect([input])).toBe(form)
    expect(needed(input)).toBe(limit)
  })

  it('is given on as it came', () => {
    const detector = new Detector()
    for (const chunk of ['da', 'ta: ', 'x']) detector.take(chunk)
    expect(detector.held).toEqual(['da', 'ta: ', 'x'])
  })
})

describe('JSON that the user named', () => {
  it.each([
    ['events', '{"type":"finish","reason":"stop"}\n'],
    ['server', `${NATIVE}\n`],
    ['server', '{"name":"f"}\n'],
    ['server', 'no JSON'],
    ['server', ''],
  ] as const)('is %s: %s', (form, input) => {
    expect(detect([input], new Detector({ json: true }))).toBe(form)
    expect(detect(input.split(''), new Detector({ json: true }))).toBe(form)
  })
})
