/** `talaria parse --explain`: each marker once, in order, with its rule and what came of it. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type ParserOptions, type Span, type StreamEvent, RULES } from '@talaria/core'
import { folderOf, readFixtures } from '@talaria/fixtures'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createReader } from '../src/input.ts'
import { ModelText } from '../src/model-text.ts'
import { widthOf } from '../src/output/visible.ts'
import { start } from './binary.ts'
import { type Explained, checkExplanation, explain } from './explanations.ts'
import { talaria } from './harness.ts'

const CALL = '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>'

const folder = mkdtempSync(join(tmpdir(), 'talaria-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const TOOLS = join(folder, 'tools.json')
writeFileSync(TOOLS, '[{"name":"f"}]')

/** `marker rule` of each entry. */
function rules(list: readonly Explained[]): string[] {
  return list.map(({ marker, rule }) => `${marker ?? '-'} ${rule}`)
}

async function rulesOf(stdin: string, ...flags: string[]): Promise<string[]> {
  return rules(await explain(['--input', 'text', ...flags], { stdin }))
}

describe('each fixture', () => {
  const fixtures = folderOf('hermes')
  for (const file of readdirSync(fixtures).filter((name) => name.endsWith('.md'))) {
    it(file, { timeout: 60_000 }, async () => {
      for (const fixture of readFixtures(join(fixtures, file))) {
        if (fixture.kind !== 'stream') continue
        const { dialect, options, input } = fixture
        const named = dialect === undefined ? options : { ...options, dialect }
        try {
          await checkExplanation(input, named)
        } catch (error) {
          throw new Error(`${file}#${fixture.id}`, { cause: error })
        }
      }
    })
  }
})

it('holds for any text', { timeout: 120_000 }, async () => {
  const pieces = fc.constantFrom(
    ...['<tool_call>', '</tool_call>', '</tool_call >', '<function=f>', '</function>', '<think>'],
    ...['</think>', '<tool_response>', '</tool_response>', '<|im_end|>', '<|im_start|>', '[THINK]'],
    ...[
      '[{"name":"f","arguments":{}},',
      ']',
      '{"name":5}',
      '{"name":"f","arguments":{}}',
      '```json\n',
    ],
    ...[
      '{"name":"f","arguments":{',
      '{"name":"f"',
      '"a":"',
      '"',
      '}',
      '}}',
      ',',
      '`',
      '```\n',
      '\n',
    ],
    ...['<tool_call', ' ', '\t', '<', '>', 'text', '🙂', '\r\n', '<tool-call>', '> ', CALL],
    ...['<tool_call name="f">', '\ud800', '\u001b[2J'],
  )
  const text = fc.array(pieces, { maxLength: 25 }).map((list) => list.join(''))
  const options = fc.constantFrom<ParserOptions[]>(
    {},
    { bareJson: 'last-line' },
    { fencedCall: 'whole-message' },
    { startIn: 'call' },
    { startIn: 'reasoning' },
    { callsInReasoning: 'at-end' },
    { callsInReasoning: 'on' },
    { stripOrphanTags: true },
    { dropAfterFabricated: true },
    { unclosedReasoning: 'text' },
    { failedAsText: true },
    { strict: true },
    { preset: 'deepseek-r1' },
    { tagAliases: [{ open: '<tool-call>', close: '</tool-call>' }] },
  )
  await fc.assert(
    fc.asyncProperty(text, options, (whole, asked) => checkExplanation(whole, asked)),
    {
      seed: Number(process.env['FAST_CHECK_SEED'] ?? 5),
      numRuns: Number(process.env['FAST_CHECK_RUNS'] ?? 500),
    },
  )
})

describe('what is decided', () => {
  it.each<[string, string, readonly string[], readonly string[]]>([
    ['a call', CALL, [], ['<tool_call> call', '</tool_call> closes']],
    ['code', `\`${CALL}\``, [], ['<tool_call> quoted', '</tool_call> quoted']],
    [
      'strings of arguments',
      '<tool_call>{"name":"f","arguments":{"a":"<tool_call> </tool_call > <function=g>"}}</tool_call>',
      [],
      [
        '<tool_call> call',
        '<tool_call> in-string',
        '</tool_call > in-string',
        '<function=g> in-string',
        '</tool_call> closes',
      ],
    ],
    ['talk', 'a <tool_call> tag', [], ['<tool_call> no-grammar']],
    [
      'tags within tags',
      '<tool_call><function=f>{"a":1}</function></tool_call>',
      [],
      ['<tool_call> call', '<function=f> call', '</function> closes', '</tool_call> closes'],
    ],
    [
      'another turn',
      'Hi<|im_end|><|im_start|>user\n<tool_call>',
      [],
      ['<|im_end|> end-of-turn', '<|im_start|> fabricated', '<tool_call> behind-end'],
    ],
    [
      'an alias',
      CALL.replaceAll('tool_call', 'tc'),
      ['--tag-alias', '<tc>,</tc>'],
      ['<tc> call', '</tc> closes'],
    ],
    [
      'a call object without a marker',
      '{"name":"f","arguments":{}}',
      ['--bare-json', 'whole-message'],
      ['- no-marker'],
    ],
    ['nothing', 'Just text.', [], []],
  ])('%s', async (_, stdin, flags, expected) => {
    expect(await rulesOf(stdin, ...flags)).toEqual(expected)
  })

  it('is in words', async () => {
    const [entry] = await explain([], { stdin: 'a <tool_call> tag' })
    expect(entry).toEqual({
      line: 1,
      column: 3,
      start: 2,
      end: 13,
      marker: '<tool_call>',
      rule: 'no-grammar',
      decision: RULES['no-grammar'],
      calls: [],
      warnings: [],
    })
  })
})

describe('what came of a call', () => {
  it('stands at its opener: several in one tag, repairs, failures', async () => {
    const stdin =
      '<tool_call>{"name":"a","arguments":{"x":1,}},{"name":"b","arguments":{}}</tool_call>' +
      '<tool_call>{"name":"c","arguments":{"x":nope}}</tool_call>'
    const list = await explain([], { stdin })
    expect(list.map(({ calls }) => calls)).toEqual([
      [
        { index: 0, name: 'a', complete: true, repairs: ['trailing-comma'] },
        { index: 1, name: 'b', complete: true },
      ],
      [],
      [
        {
          index: 2,
          name: 'c',
          complete: false,
          code: 'malformed-arguments',
          message: expect.stringMatching(/./),
          offset: expect.any(Number),
        },
      ],
      [],
    ])
  })

  it('stands where the call does, if no marker opened it', async () => {
    const stdin = 'Hi\n{"name":"f","arguments":{}}'
    const [entry, ...more] = await explain(['--bare-json', 'last-line'], { stdin })
    expect(entry).toMatchObject({ line: 2, column: 1, marker: null, calls: [{ name: 'f' }] })
    expect(more).toEqual([])
  })
})

describe('warnings', () => {
  it.each<[string, string, readonly string[]]>([
    ['unclosed-tag', '<tool_call>{"name":"f","arguments":{"a":"</tool_call>"}}', ['<tool_call>']],
    ['quoted-call', `${CALL}\n\`${CALL}\``, ['<tool_call>', '</tool_call>', '<tool_call>']],
    ['orphan-close-tag', 'a </tool_call>', ['</tool_call>']],
    ['duplicate-call', CALL + CALL, ['<tool_call>', '</tool_call>', '<tool_call>']],
    ['unclosed-reasoning', '<think>a <tool_call> b', ['<think>']],
    ['fabricated-turn', 'Hi<|im_end|><|im_start|>user', ['<|im_end|>', '<|im_start|>']],
  ])('%s', async (code, stdin, upTo) => {
    const list = await explain(['--input', 'text'], { stdin })
    const at = list.findIndex(({ warnings }) =>
      warnings.some((one) => 'code' in one && one.code === code),
    )
    expect(list.slice(0, at + 1).map(({ marker }) => marker)).toEqual(upTo)
  })

  it('of no marker stand at the object', async () => {
    const stdin = '{"name":"f","arguments":{}}'
    const list = await explain([], { stdin })
    expect(list).toMatchObject([
      { marker: stdin, start: 0, rule: 'bare', warnings: [{ code: 'possible-call' }] },
    ])
  })

  it('of tools that were not declared stand at the call', async () => {
    const stdin = '<tool_call>{"name":"a","arguments":{}},{"name":"b","arguments":{}}</tool_call>'
    const list = await explain(['--tools', TOOLS], { stdin })
    expect(list.map(({ warnings }) => warnings)).toMatchObject([
      [
        { code: 'unknown-tool', name: 'a' },
        { code: 'unknown-tool', name: 'b' },
      ],
      [],
    ])
  })
})

describe('for people', () => {
  it('a table with excerpts', async () => {
    const stdin = `Look:\n\t日本 <tool_call>{"name":"f","arguments":{"a":1,}} </tool_call>\n\`<think>\``
    const { stdout, code } = await talaria(['parse', '--explain'], { stdin })
    expect(stdout.split('\n')).toEqual([
      '2:5   @10  <tool_call>   call: The grammar of a call follows, so it opens one.',
      '    │   日本 <tool_call>{"name":"f","arguments":{"a":1,}} </tool_call>',
      '    │        ^^^^^^^^^^^',
      '    ✓ f  repaired: trailing-comma',
      '',
      '2:50  @55  </tool_call>  closes: It closes what is open.',
      '    │   日本 <tool_call>{"name":"f","arguments":{"a":1,}} </tool_call>',
      '    │                                                     ^^^^^^^^^^^^',
      '',
      '3:2   @69  <think>       quoted: It stands in code or in a block quote, so it is text.',
      '    │ `<think>`',
      '    │  ^^^^^^^',
      '',
      '3 markers · 1 call · finish: tool-calls',
      '',
    ])
    expect(code).toBe(0)
  })

  it('in colour on a terminal, and no wider than it', async () => {
    const stdin = `${'日本語 '.repeat(200)}<tool_call>{"name":"f","arguments":{"a":"${'x'.repeat(500)}"`
    const terminal = { columns: 60, rows: 24 }
    const { stdout } = await talaria(['parse', '--explain'], { stdin, terminal })
    expect(stdout).toContain('\u001b[1m<tool_call>\u001b[22m')
    expect(stdout).toContain('\u001b[31m✗ f incomplete-call')
    const plain = await talaria(['parse', '--explain', '--no-color'], { stdin, terminal })
    expect(stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain.stdout)
    for (const line of plain.stdout.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(60)
  })

  it('says that there is nothing', async () => {
    const { stdout, code } = await talaria(['parse', '--explain'], { stdin: 'Hi' })
    expect(stdout).toBe('no markers · no calls · finish: stop\n')
    expect(code).toBe(0)
  })
})

describe('the input', () => {
  it('makes no difference by its cuts', async () => {
    const stdin = `Hi <think>\`${CALL}\`</think>\n${CALL}{"name": <tool_call>{"name":"g","arguments":{"🙂"`
    const whole = await talaria(['parse', '--explain', '-i', 'text'], { stdin })
    const cut = await talaria(['parse', '--explain', '-i', 'text'], {
      stdin: [...new TextEncoder().encode(stdin)].map((byte) => Uint8Array.of(byte)),
    })
    expect(cut.stdout).toBe(whole.stdout)
  })

  it('may be a server’s answer: places count in its text', async () => {
    const text = `\u{e000}"\\u003c" ünd\n${CALL} \`</tool_call>\` \\u003cthink>`
    const frames = [...text].map((content) => ({ index: 0, content, stop: false }))
    const last = { index: 0, content: '', stop: true, stop_type: 'eos' }
    const sse = [...frames, last].map(
      (frame) => `data: ${JSON.stringify(frame).replaceAll('<', '\\u003c')}\n\n`,
    )
    const raw = await talaria(['parse', '--explain', '--json', '-i', 'text'], { stdin: text })
    const served = await talaria(['parse', '--explain', '--json'], { stdin: sse })
    expect(raw.stdout).toContain('"marker":"<tool_call>"')
    expect(served.stdout).toBe(raw.stdout)
    // Cut off, the frames that came are explained.
    const broken = await talaria(['parse', '--explain', '--json'], { stdin: sse.slice(0, 40) })
    expect(broken.stdout).toContain('"code":"incomplete-call"')
  })

  it('may hold calls that the server told apart', async () => {
    const call = { index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: `a <tool_call> tag`, tool_calls: [call] }
    const stdin = JSON.stringify({
      choices: [{ index: 0, finish_reason: 'tool_calls', message }],
    })
    expect(rules(await explain([], { stdin }))).toEqual(['<tool_call> no-grammar', '- told-apart'])
    const { stdout } = await talaria(['parse', '--explain'], { stdin })
    expect(stdout).toContain('told-apart: The server told the call apart')
  })

  it('can be no recording of events, which holds no markers', async () => {
    const { stdout } = await talaria(['parse'], { stdin: CALL })
    expect(await talaria(['parse', '--explain'], { stdin: stdout })).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'talaria: --explain needs what the model wrote; a recording of events holds no markers\n',
    })
  })

  it('may break off', async () => {
    const stdin = new Readable({ read() {} })
    stdin.push(CALL.slice(0, -20))
    setImmediate(() => stdin.destroy(new Error('the disk is gone')))
    const { stdout, stderr, code } = await talaria(['parse', '--explain'], { stdin })
    expect(stdout).toContain('✗ f aborted')
    expect(stdout).toMatch(/✗ source-failed: the disk is gone\n1 marker · .* · finish: error\n$/)
    expect(stderr).toBe("talaria: can't read stdin: the disk is gone\n")
    expect(code).toBe(1)
  })

  it('may hold as many markers as it likes', async () => {
    const size = 20_000
    const { stdout, writes } = await talaria(['parse', '--explain', '--json'], {
      stdin: `<tool_call>{"name":"f","arguments":{"a":"${'<tool_call>'.repeat(size)}"}}</tool_call>`,
    })
    expect(stdout.split('\n').length - 1).toBe(size + 2)
    expect(Math.max(...writes.map((text) => text.length))).toBeLessThan(100_000)
  })
})

describe('a recorded server’s text', () => {
  const recordings = folderOf('recordings/llama-server')
  it.each(readdirSync(recordings).filter((name) => name.endsWith('.body')))('%s', (name) => {
    const spans: Span[] = []
    const events: StreamEvent[] = []
    const modelText = new ModelText()
    const reader = createReader('sse', {
      modelText,
      trace: (span) => spans.push(span),
      onEvent: (event) => events.push(event),
    })
    reader.feed(readFileSync(join(recordings, name), 'utf8'))
    reader.end()
    // The spans tile what the parser read.
    expect(modelText.toString().length).toBe(spans.at(-1)?.end ?? 0)
    const held = spans.filter(({ kind }) => kind === 'text')
    const text = held.map(({ start: from, end }) => modelText.toString().slice(from, end)).join('')
    const told = events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : []))
    expect(told.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
  })
})

it.each([
  [['--explain', '--to', 'log'], '--explain and --to exclude each other'],
  [['--json'], '--json needs --explain (--to events is JSON, one event a line)'],
])('parse %j is refused', async (flags, message) => {
  expect(await talaria(['parse', ...flags], { stdin: CALL })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `talaria: ${message}\n`,
  })
})

describe('the real process', { timeout: 60_000 }, () => {
  it.each([
    [0, [], CALL, /1 call · finish: tool-calls\n$/],
    [3, ['--strict'], CALL.slice(0, 40), /no calls · 1 failed · finish: stop\n$/],
    [0, ['--json'], CALL, /^\{"line":1.*\}\n\{"line":1.*\}\n$/],
    [0, ['--preset', 'deepseek-r1'], 'a</think>b', /closes: It closes what is open\./],
  ] as const)('%d %j', async (expected, flags, input, output) => {
    const { child, ended } = start(['parse', '--explain', ...flags])
    child.stdin.end(input)
    const { code, stdout, stderr } = await ended
    expect(stdout).toMatch(output)
    expect({ code, stderr }).toEqual({ code: expected, stderr: '' })
  })
})
