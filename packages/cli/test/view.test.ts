/** What a person sees: the view's output, written to a terminal in memory. */
import type { StreamEvent } from '@talaria/core'
import { describe, expect, it } from 'vitest'
import { createStyle } from '../src/output/style.ts'
import { createView } from '../src/output/view.ts'
import { type Screen, createScreen } from './terminal.ts'

const FILE = JSON.stringify({
  path: 'src/App.tsx',
  content: Array.from({ length: 20 }, (_, line) => `line ${line} 日本語`).join('\n'),
})

const text = (index: number, ...deltas: string[]): StreamEvent[] => [
  { type: 'text-start', index },
  ...deltas.map((delta): StreamEvent => ({ type: 'text-delta', index, delta })),
  { type: 'text-end', index },
]

const reasoning = (index: number, ...deltas: string[]): StreamEvent[] => [
  { type: 'reasoning-start', index },
  ...deltas.map((delta): StreamEvent => ({ type: 'reasoning-delta', index, delta })),
  { type: 'reasoning-end', index },
]

const start = (index: number, name: string): StreamEvent => ({
  type: 'tool-call-start',
  index,
  id: `call_${index}`,
  name,
})

const delta = (index: number, piece: string): StreamEvent => ({
  type: 'tool-call-delta',
  index,
  delta: piece,
})

const end = (index: number, name: string, json: string): StreamEvent => ({
  type: 'tool-call-end',
  index,
  id: `call_${index}`,
  name,
  arguments: json,
  input: JSON.parse(json),
})

const call = (index: number, name: string, json: string, size = 4): StreamEvent[] => [
  start(index, name),
  ...pieces(json, size).map((piece) => delta(index, piece)),
  end(index, name, json),
]

const finish: StreamEvent = { type: 'finish', reason: 'tool-calls' }

function pieces(json: string, size: number): string[] {
  return json.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []
}

interface Shown {
  readonly screen: Screen
  /** What was written for each event. */
  readonly writes: readonly string[]
}

/** Shows events, each as a chunk of its own, on a terminal. */
async function show(
  events: readonly StreamEvent[],
  { columns = 50, rows = 24, colored = false } = {},
): Promise<Shown> {
  const screen = createScreen(columns, rows)
  const view = createView({
    style: createStyle(colored),
    terminal: { columns: () => columns, rows: () => rows },
  })
  const writes: string[] = []
  for (const event of events) {
    view.add(event)
    writes.push(view.take())
    await screen.write(writes.at(-1) ?? '')
  }
  return { screen, writes }
}

/** Shows events where there is no terminal. */
function printed(events: readonly StreamEvent[], colored = false): string {
  const view = createView({ style: createStyle(colored) })
  for (const event of events) view.add(event)
  return view.take()
}

describe('a whole answer', () => {
  const calls = [...call(2, 'get_weather', '{"city": "Paris"}'), ...call(3, 'write_file', FILE)]
  const events: StreamEvent[] = [
    ...reasoning(0, '\nThe user wants', '\ntwo things.\n'),
    ...text(1, '\n\nLet me ', 'look.\n', '\n'),
    ...calls,
    { type: 'warning', code: 'unclosed-tag', message: 'The call at 12 had no close marker.' },
    {
      type: 'tool-call-error',
      index: 4,
      code: 'malformed-call',
      message: 'Expected a key or a closing brace, found `b` at 812.',
      raw: '<tool_call>\n{bad}\n</tool_call>',
    },
    {
      type: 'finish',
      reason: 'tool-calls',
      rawReason: 'eos',
      usage: { inputTokens: 1_200, outputTokens: 57 },
    },
  ]

  it('fits a terminal of 50 columns', async () => {
    const { screen } = await show(events)
    expect(screen.lines()).toEqual([
      '│ The user wants',
      '│ two things.',
      '',
      'Let me look.',
      '',
      '✓ get_weather',
      '  {"city": "Paris"}',
      '✓ write_file  283 characters',
      '  {"path":"src/App.tsx","content":"line 0 日本語',
      '  \\n',
      '  line 1 日本語\\n',
      '  line 2 日本語\\n',
      '  line 3 日本語\\n',
      '  line 4 日本語\\n',
      '  line 5 日本語\\n',
      '  line 6 日本語\\n',
      '  … 10 rows more',
      '  line 17 日本語\\n',
      '  line 18 日本語\\n',
      '  line 19 日本語"}',
      '',
      '! unclosed-tag  The call at 12 had no close marker',
      '.',
      '',
      '✗ call malformed-call',
      '  Expected a key or a closing brace, found `b` at',
      '  812.',
      '  <tool_call>',
      '  {bad}',
      '  </tool_call>',
      '',
      '2 calls · 1 failed · tokens: 1,200 in, 57 out · fi',
      'nish: tool-calls (eos)',
    ])
  })

  it('fits a terminal of 24 columns and 6 rows', async () => {
    const { screen } = await show(calls, { columns: 24, rows: 6 })
    expect(screen.lines()).toEqual([
      '✓ get_weather',
      '  {"city": "Paris"}',
      '✓ write_file  283 char…',
      '  {"path":"src/App.tsx"',
      '  ,"content":"line 0 日',
      '  本語\\n',
      '  line 1 日本語\\n',
      '  line 2 日本語\\n',
      '  line 3 日本語\\n',
      '  line 4 日本語\\n',
      '  line 5 日本語\\n',
      '  … 11 rows more',
      '  line 17 日本語\\n',
      '  line 18 日本語\\n',
      '  line 19 日本語"}',
    ])
  })

  it('is the same text where there is no terminal, whole and without codes', () => {
    const lines = printed(events).split('\n')
    expect(lines.filter((line) => line.includes('\x1b'))).toEqual([])
    expect(lines).toContain('  {"path":"src/App.tsx","content":"line 0 日本語\\n')
    expect(lines.filter((line) => line.includes('日本語'))).toHaveLength(20)
    expect(lines.at(-2)).toBe(
      '2 calls · 1 failed · tokens: 1,200 in, 57 out · finish: tool-calls (eos)',
    )
  })
})

describe('a call that grows', () => {
  it('shows its name at once and its arguments as they come', async () => {
    const { screen, writes } = await show([start(0, 'f'), delta(0, '{"a":'), delta(0, ' 1')])
    expect(screen.lines()).toEqual(['● f', '  {"a": 1'])
    // The last token alone was written, and no cursor moved.
    expect(writes.at(-1)).toBe(' 1')
  })

  it('shows the last rows of long arguments and how many are above', async () => {
    const events = call(0, 'write_file', FILE).slice(0, -1)
    const { screen } = await show(events, { columns: 40, rows: 8 })
    expect(screen.lines()).toEqual([
      '● write_file',
      '  … 16 rows above, 283 characters',
      '  line 15 日本語\\n',
      '  line 16 日本語\\n',
      '  line 17 日本語\\n',
      '  line 18 日本語\\n',
      '  line 19 日本語"}',
    ])
  })

  it('leaves nothing of its growth behind', async () => {
    const { screen } = await show([...call(0, 'write_file', FILE, 1), ...call(1, 'f', '{}')], {
      columns: 40,
      rows: 6,
    })
    const lines = screen.lines()
    expect(lines.filter((line) => line.includes('●') || line.includes('above'))).toEqual([])
    expect(lines.filter((line) => line.includes('line 2 '))).toHaveLength(1)
    expect(lines.slice(-2)).toEqual(['✓ f', '  {}'])
  })

  it('costs the same per delta, however long the arguments are', async () => {
    const cost = (size: number): number => {
      const view = createView({
        style: createStyle(true),
        terminal: { columns: () => 80, rows: () => 24 },
      })
      view.add(start(0, 'write_file'))
      let most = 0
      for (let count = 0; count < size; count++) {
        view.add(delta(0, count % 9 === 0 ? '\\n' : 'abc '))
        most = Math.max(most, view.take().length)
      }
      return most
    }
    expect(cost(20_000)).toBeLessThan(1.1 * cost(200))
  })

  it('survives a terminal that becomes narrower', async () => {
    const size = { columns: 60, rows: 12 }
    const screen = createScreen(size.columns, size.rows)
    const view = createView({
      style: createStyle(false),
      terminal: { columns: () => size.columns, rows: () => size.rows },
    })
    const step = async (...events: StreamEvent[]): Promise<void> => {
      for (const event of events) view.add(event)
      await screen.write(view.take())
    }
    await step(...text(0, 'Before.'), start(1, 'f'), delta(1, `"${'0123456789'.repeat(7)}`))
    size.columns = 40
    screen.resize(size.columns, size.rows)
    await step(delta(1, '"'), end(1, 'f', '{}'))
    expect(screen.lines()).toEqual([
      'Before.',
      '',
      '✓ f',
      '  "0123456789012345678901234567890123456',
      '7890123456789012345',
      '  67890123456789"',
    ])
  })

  it('shares the screen with others that are open', async () => {
    const events = [
      start(0, 'first'),
      start(1, 'second'),
      delta(1, '{"b":'),
      delta(0, '{"a":'),
      delta(1, '2}'),
      end(1, 'second', '{"b":2}'),
      ...text(2, 'Both asked.'),
    ]
    const { screen } = await show(events)
    expect(screen.lines()).toEqual(['● first', '  {"a":', '✓ second', '  {"b":2}'])
    const { screen: later } = await show([...events, delta(0, '1}'), end(0, 'first', '{"a":1}')])
    expect(later.lines()).toEqual([
      '✓ first',
      '  {"a":1}',
      '✓ second',
      '  {"b":2}',
      '',
      'Both asked.',
    ])
  })

  it('finds room for many calls on a low screen', async () => {
    const events = Array.from({ length: 8 }, (_, index) => [
      start(index, `call${index}`),
      delta(index, '{'),
    ])
    const { screen } = await show(events.flat(), { columns: 40, rows: 5 })
    expect(screen.visible()).toEqual(['● call4', '● call5', '● call6', '● call7'])
  })
})

describe('text of a model', () => {
  const wild = 'a\x1b[2Jb\x1b]0;title\x07c\x9b31md\u202ee\rf\x00\x7f'
  const tame = 'a␛[2Jb␛]0;title␇c<U+009B>31md<U+202E>e␍f␀␡'

  it('never drives the terminal', async () => {
    const { screen, writes } = await show(
      [
        ...text(0, wild),
        ...reasoning(1, wild),
        start(2, wild),
        delta(2, wild),
        { type: 'tool-call-error', index: 2, code: 'limit', message: wild },
        { type: 'tool-call-error', index: 3, code: 'malformed-call', message: 'x', raw: wild },
        { type: 'warning', code: 'trailing-text', message: wild },
        { type: 'error', code: wild, message: wild },
        { type: 'part', index: 4, kind: 'other', value: wild },
        { type: 'finish', reason: 'error', rawReason: wild },
      ],
      { columns: 200 },
    )
    const lines = screen.lines()
    expect(lines[0]).toBe(tame)
    expect(lines[2]).toBe(`│ ${tame}`)
    expect(lines).toContain(`  ${tame}`)
    expect(lines.at(-1)).toBe(`no calls · 2 failed · finish: error (${tame})`)
    // What is left of codes are the view's own: up, and erase below.
    const codes = writes.join('').match(/\x1b[^a-zA-Z]*[a-zA-Z]|[\x80-\x9f]/g) ?? []
    expect(new Set(codes.map((code) => code.replace(/\d+/, 'N')))).toEqual(
      new Set(['\x1b[NA', '\x1b[J']),
    )
  })

  it('may have its line breaks cut in two', async () => {
    const { screen } = await show(text(0, 'one\r', '\ntwo\r', 'three\r'))
    expect(screen.lines()).toEqual(['one', 'two␍three␍'])
  })

  it('is not torn apart by a warning about it', async () => {
    const { screen } = await show([
      { type: 'text-start', index: 0 },
      { type: 'text-delta', index: 0, delta: 'Use `<tool' },
      { type: 'warning', code: 'quoted-call', message: 'A call in code.' },
      { type: 'text-delta', index: 0, delta: '_call>`.' },
      { type: 'text-end', index: 0 },
      { type: 'finish', reason: 'stop' },
    ])
    expect(screen.lines()).toEqual([
      'Use `<tool_call>`.',
      '',
      '! quoted-call  A call in code.',
      '',
      'no calls · finish: stop',
    ])
  })

  it('is shown as it comes', async () => {
    const { writes } = await show(text(0, 'Hel', 'lo\n', '\n', 'you'))
    expect(writes).toEqual(['', 'Hel', 'lo', '', '\n\nyou', ''])
  })
})

describe('colours', () => {
  const events = [
    ...reasoning(0, 'Hm.'),
    ...call(1, 'f', '{}'),
    { type: 'tool-call-error', index: 2, code: 'limit', message: 'Too long.' } as const,
    finish,
  ]

  it('dim reasoning and mark outcomes', () => {
    const shown = printed(events, true)
    expect(shown).toContain('\x1b[2m│ Hm.\x1b[22m')
    expect(shown).toContain('\x1b[32m✓\x1b[39m \x1b[1mf\x1b[22m')
    expect(shown).toContain('\x1b[31m✗\x1b[39m')
  })

  it('change nothing but colours', () => {
    expect(printed(events, true).replace(/\x1b\[\d+m/g, '')).toBe(printed(events))
  })

  it('are not needed on a terminal', async () => {
    const { writes } = await show(events)
    expect(writes.join('')).not.toMatch(/\x1b\[\d+m/)
  })
})

describe('where there is no terminal', () => {
  // More rows than a function takes arguments.
  const LINES = 300_000

  it('shows all rows of a long call', () => {
    const json = JSON.stringify({ a: 'x\n'.repeat(LINES) })
    const shown = printed([start(0, 'f'), delta(0, json), end(0, 'f', json), finish])
    expect(shown.match(/^ {2}x\\n$/gm)).toHaveLength(LINES - 1)
    expect(shown).toMatch(/\n\n1 call · finish: tool-calls\n$/)
  })

  it('shows all that the model wrote of a failed call', () => {
    const raw = `<tool_call>${'x\n'.repeat(LINES)}</tool_call>`
    const code = 'malformed-call'
    const failed: StreamEvent = { type: 'tool-call-error', index: 0, code, message: 'No.', raw }
    const shown = printed([failed, finish])
    expect(shown.match(/^ {2}x$/gm)).toHaveLength(LINES - 1)
    expect(shown).toMatch(/^✗ call malformed-call\n {2}No\.\n {2}<tool_call>x\n/)
  })
})
