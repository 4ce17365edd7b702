/** One line per event: every field that a line shows, and what joins. */
import { describe, expect, test } from 'vitest'
import { joinDeltas, log, logLine, type StreamEvent } from '../src/index.ts'

const lines: readonly (readonly [string, StreamEvent])[] = [
  ['stream-start', { type: 'stream-start' }],
  ['stream-start m1 qwen', { type: 'stream-start', id: 'm1', model: 'qwen', created: 1 }],
  ['text-start 0', { type: 'text-start', index: 0 }],
  ['text-delta 0 "a\\n"', { type: 'text-delta', index: 0, delta: 'a\n' }],
  ['text-end 0', { type: 'text-end', index: 0 }],
  ['text-end 0 {"a":1}', { type: 'text-end', index: 0, metadata: { a: 1 } }],
  ['reasoning-start 1', { type: 'reasoning-start', index: 1 }],
  ['reasoning-delta 1 "“"', { type: 'reasoning-delta', index: 1, delta: '“' }],
  ['reasoning-end 1 {}', { type: 'reasoning-end', index: 1, metadata: {} }],
  ['tool-call-start 2 f', { type: 'tool-call-start', index: 2, id: 'x', name: 'f' }],
  [
    'tool-call-start 2 f server text',
    { type: 'tool-call-start', index: 2, id: 'x', name: 'f', server: true, encoding: 'text' },
  ],
  ['tool-call-start 2 f', { type: 'tool-call-start', index: 2, id: 'x', name: 'f', server: false }],
  ['tool-call-delta 2 "{}"', { type: 'tool-call-delta', index: 2, delta: '{}', patches: [] }],
  [
    'tool-call-end 2',
    { type: 'tool-call-end', index: 2, id: 'x', name: 'f', arguments: '{}', input: {} },
  ],
  [
    'tool-call-end 2 server repairs=comment,trailing-comma {"modelId":"7"}',
    {
      type: 'tool-call-end',
      index: 2,
      id: 'x',
      name: 'f',
      arguments: '{}',
      input: {},
      server: true,
      repairs: ['comment', 'trailing-comma'],
      metadata: { modelId: '7' },
    },
  ],
  [
    'tool-call-end 2',
    {
      type: 'tool-call-end',
      index: 2,
      id: 'x',
      name: 'f',
      arguments: '{}',
      input: {},
      repairs: [],
    },
  ],
  [
    'tool-call-error 3 aborted',
    { type: 'tool-call-error', index: 3, code: 'aborted', message: 'm' },
  ],
  [
    'tool-call-error 3 limit f @0 raw=""',
    {
      type: 'tool-call-error',
      index: 3,
      code: 'limit',
      name: 'f',
      message: 'm',
      offset: 0,
      raw: '',
    },
  ],
  ['part 4 file [1]', { type: 'part', index: 4, kind: 'file', value: [1] }],
  ['part 4 source s "a"', { type: 'part', index: 4, kind: 'source', id: 's', value: 'a' }],
  ['warning quoted-call', { type: 'warning', code: 'quoted-call', message: 'm' }],
  [
    'warning unknown-tool f @0-7',
    { type: 'warning', code: 'unknown-tool', message: 'm', name: 'f', start: 0, end: 7 },
  ],
  ['warning quoted-call @5-5', { type: 'warning', code: 'quoted-call', message: 'm', start: 5 }],
  ['error timeout "late"', { type: 'error', code: 'timeout', message: 'late' }],
  [
    'error overloaded 529 "no"',
    { type: 'error', code: 'overloaded', rawCode: '529', message: 'no' },
  ],
  ['finish stop', { type: 'finish', reason: 'stop' }],
  [
    'finish length max_tokens {"inputTokens":1}',
    { type: 'finish', reason: 'length', rawReason: 'max_tokens', usage: { inputTokens: 1 } },
  ],
]

describe('a line', () => {
  test.each(lines)('%s', (line, event) => {
    expect(logLine(event)).toBe(line)
  })
})

describe('joining', () => {
  const text = (index: number, delta: string): StreamEvent => ({
    type: 'text-delta',
    index,
    delta,
  })
  const thought = (index: number, delta: string): StreamEvent => ({
    type: 'reasoning-delta',
    index,
    delta,
  })

  test('only neighbours of one part and one type join', () => {
    const events = [text(0, 'a'), text(0, 'b'), text(1, 'c'), thought(1, 'd'), text(1, 'e')]
    expect(joinDeltas(events)).toEqual([text(0, 'ab'), text(1, 'c'), thought(1, 'd'), text(1, 'e')])
    const ends: StreamEvent[] = [
      { type: 'text-end', index: 0 },
      { type: 'text-end', index: 0 },
    ]
    expect(joinDeltas([text(0, 'a'), ...ends, text(0, 'b')])).toHaveLength(4)
    expect(log(events)[0]).toBe('text-delta 0 "ab"')
  })

  test('patches join with their deltas, and nothing is changed in place', () => {
    const first: StreamEvent = {
      type: 'tool-call-delta',
      index: 0,
      delta: '{',
      patches: [{ op: 'set', path: [], value: {} }],
    }
    const second: StreamEvent = {
      type: 'tool-call-delta',
      index: 0,
      delta: '}',
      patches: [{ op: 'close', path: [] }],
    }
    expect(joinDeltas([first, second])).toEqual([
      { ...first, delta: '{}', patches: [...first.patches!, ...second.patches!] },
    ])
    expect(first.patches).toHaveLength(1)
    const { patches: _, ...bare } = first
    expect(joinDeltas([bare, bare])).toEqual([{ ...bare, delta: '{{' }])
  })

  test('no event gives no line', () => {
    expect(log([])).toEqual([])
  })
})
