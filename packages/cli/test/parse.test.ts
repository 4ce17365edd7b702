/** `talaria parse` from input to output, in this process. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { eventsOf, talaria } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'talaria-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const CALL = '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>'
const ANSWER = `Grüße, 日本 🙂!\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>`
const CUT = 'Hi <tool_call>{"name":"f","arguments":{"a":'

/** What a llama-server sends for a text, a few characters a frame. */
function frames(text: string): string[] {
  const list = (text.match(/[^]{1,3}/gu) ?? []).map((content, position) => ({
    index: 0,
    content,
    tokens: [position],
    stop: false,
  }))
  const last = {
    index: 0,
    content: '',
    tokens: [],
    stop: true,
    model: 'tiny.gguf',
    tokens_predicted: list.length,
    tokens_evaluated: 15,
    stop_type: 'eos',
  }
  return [...list, last].map((frame) => JSON.stringify(frame))
}

const sse = (text: string, end = '\n'): string =>
  frames(text)
    .map((frame) => `data: ${frame}${end}${end}`)
    .join('')
const ndjson = (text: string): string =>
  frames(text)
    .map((frame) => `${frame}\n`)
    .join('')

describe('the form of the input', () => {
  const whole = async (input: string): Promise<string> =>
    (await talaria(['parse', '--to', 'log'], { stdin: input })).stdout

  it.each([
    ['raw text', ANSWER],
    ['server-sent events', sse(ANSWER)],
    ['server-sent events, CRLF', sse(ANSWER, '\r\n')],
    ['frames, one a line', ndjson(ANSWER)],
  ])('%s: cut at every byte of the beginning', async (_, input) => {
    const expected = await whole(input)
    expect(expected).toContain('tool-call-start 1 get_weather')
    const bytes = new TextEncoder().encode(input)
    for (let cut = 1; cut < 64; cut++) {
      const stdin = [bytes.subarray(0, cut), bytes.subarray(cut)]
      const { stdout } = await talaria(['parse', '--to', 'log'], { stdin })
      expect(stdout, `cut at byte ${cut}`).toBe(expected)
    }
  })

  it.each([
    ['raw text', ANSWER],
    ['server-sent events', sse(ANSWER)],
    ['frames, one a line', ndjson(ANSWER)],
  ])('%s: a byte at a time, characters cut too', async (_, input) => {
    const stdin = [...new TextEncoder().encode(input)].map((byte) => Uint8Array.of(byte))
    const { stdout } = await talaria(['parse', '--to', 'log'], { stdin })
    expect(stdout).toContain('Grüße, 日本 🙂!')
    expect(stdout).toBe(await whole(input))
  })

  it('is the same answer in each', async () => {
    const [text = '', ...others] = await Promise.all(
      [ANSWER, sse(ANSWER), ndjson(ANSWER)].map(async (input) => {
        const lines = (await whole(input)).split('\n')
        return lines.filter((line) => !/^(stream-start|finish)/.test(line)).join('\n')
      }),
    )
    expect(text).toContain('Grüße, 日本 🙂!')
    expect(others).toEqual([text, text])
  })

  it('may be what an event stream carries, one a line', async () => {
    const expected = await whole(sse(ANSWER))
    const stdin = `${sse(ANSWER).replaceAll('data: ', '')}[DONE]\n`
    expect(await whole(stdin)).toBe(expected)
    const chat = readFileSync(
      new URL('../../../fixtures/recordings/llama-server/chat-plain.body', import.meta.url),
      'utf8',
    )
    expect(chat).toContain('data: [DONE]')
    expect(await whole(chat.replaceAll('data: ', ''))).toBe(await whole(chat))
  })

  it('may be a whole answer, laid out', async () => {
    const message = { role: 'assistant', content: `Hi ${CALL}` }
    const answer = { choices: [{ index: 0, finish_reason: 'stop', message }], usage: {} }
    const stdin = JSON.stringify(answer, null, 2)
    const { stdout } = await talaria(['parse', '--to', 'message'], { stdin })
    expect(JSON.parse(stdout)).toMatchObject({ text: 'Hi ', calls: [{ name: 'f' }] })
  })

  it('can be forced', async () => {
    const input = sse('Hi')
    const { stdout } = await talaria(['parse', '--input', 'text', '--to', 'message'], {
      stdin: input,
    })
    expect(JSON.parse(stdout).text.trimEnd()).toBe(input.trimEnd())
  })

  it('may be a recording of events', async () => {
    const recorded = await talaria(['parse', '--patches'], { stdin: ANSWER })
    const again = await talaria(['parse'], { stdin: recorded.stdout })
    expect(again).toMatchObject({ code: 0, stdout: recorded.stdout })
    const message = await talaria(['parse', '--to', 'message'], { stdin: recorded.stdout })
    expect(JSON.parse(message.stdout).calls[0].input).toEqual({ city: 'Zürich' })
  })

  it('may be text that begins with a JSON object', async () => {
    const stdin = `{"id": 7}\n${CALL}`
    const { stdout } = await talaria(['parse', '--to', 'message'], { stdin })
    expect(JSON.parse(stdout)).toMatchObject({ text: '{"id": 7}\n', calls: [{ name: 'f' }] })
  })

  it('may be a file', async () => {
    const { stdout } = await talaria(['parse', file('answer.txt', ANSWER), '-t', 'log'])
    expect(stdout).toBe(await whole(ANSWER))
  })

  it('may name stdin as a file', async () => {
    const { stdout } = await talaria(['parse', '-', '-t', 'log'], { stdin: ANSWER })
    expect(stdout).toBe(await whole(ANSWER))
  })

  it('asks for input at a terminal', async () => {
    const stdin = Object.assign(Readable.from(['Hi']), { isTTY: true })
    const { code, stderr } = await talaria(['parse'], { stdin })
    expect(stderr).toBe('talaria: reading from the terminal; Ctrl-D ends the input\n')
    expect(code).toBe(0)
  })
})

describe('--to', () => {
  it('events: one JSON object a line, by default where there is no terminal', async () => {
    const { stdout, code } = await talaria(['parse'], { stdin: `Hi ${CALL}` })
    expect(eventsOf(stdout)).toEqual([
      { type: 'text-start', index: 0 },
      { type: 'text-delta', index: 0, delta: 'Hi ' },
      { type: 'text-end', index: 0 },
      { type: 'tool-call-start', index: 1, name: 'f' },
      { type: 'tool-call-delta', index: 1, delta: '{"a":1}' },
      { type: 'tool-call-end', index: 1, name: 'f', arguments: '{"a":1}', input: { a: 1 } },
      { type: 'finish', reason: 'tool-calls' },
    ])
    expect(code).toBe(0)
  })

  it('events: written once per chunk of input', async () => {
    const { writes } = await talaria(['parse'], { stdin: ['One. Two. ', 'Three.', CALL] })
    expect(writes.map((text) => eventsOf(text).length)).toEqual([2, 1, 4, 1])
  })

  it('events: no control character, however the model writes', async () => {
    const stdin = '\u009b31m\u007f\u001b[2J'
    const { stdout } = await talaria(['parse'], { stdin })
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(eventsOf(stdout)).toContainEqual({ type: 'text-delta', index: 0, delta: stdin })
  })

  it('message: the whole answer', async () => {
    const { stdout } = await talaria(['parse', '--to', 'message'], {
      stdin: `<think>Hm.</think>Hi ${CALL}`,
    })
    const message = JSON.parse(stdout)
    expect(Object.keys(message)).toEqual([
      'text',
      'reasoning',
      'calls',
      'serverCalls',
      'failed',
      'warnings',
      'finish',
      'parts',
    ])
    expect(message).toMatchObject({
      text: 'Hi ',
      reasoning: 'Hm.',
      calls: [
        { id: expect.stringMatching(/^call_/), name: 'f', arguments: '{"a":1}', input: { a: 1 } },
      ],
      failed: [],
      warnings: [],
      finish: { reason: 'tool-calls' },
      parts: [{ type: 'reasoning' }, { type: 'text' }, { type: 'tool-call' }],
    })
  })

  it('log: a line per event, deltas joined however the input is cut', async () => {
    const lines = [
      'text-start 0',
      'text-delta 0 "Hi "',
      'text-end 0',
      'tool-call-start 1 f',
      'tool-call-delta 1 "{\\"a\\":1}"',
      'tool-call-end 1',
      'finish tool-calls',
      '',
    ]
    for (const stdin of [`Hi ${CALL}`, `Hi ${CALL}`.split('')]) {
      const { stdout } = await talaria(['parse', '--to', 'log'], { stdin })
      expect(stdout.split('\n')).toEqual(lines)
    }
  })

  it('log: no control character, not even in a name', async () => {
    const stdin = '<tool_call>{"name":"f\\u001b[2J","arguments":{}}</tool_call>'
    const { stdout } = await talaria(['parse', '--to', 'log'], { stdin })
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })

  it('view: plain lines where there is no terminal', async () => {
    const { stdout } = await talaria(['parse', '--to', 'view'], { stdin: `Hi ${CALL}` })
    expect(stdout).toBe('Hi \n\n✓ f\n  {"a":1}\n\n1 call · finish: tool-calls\n')
  })

  it('view: by default on a terminal, in colour', async () => {
    const { stdout } = await talaria(['parse'], {
      stdin: `Hi ${CALL}`,
      terminal: { columns: 80, rows: 24 },
    })
    expect(stdout).toContain('\u001b[32m✓\u001b[39m \u001b[1mf\u001b[22m')
  })

  it('view: no cursor moves on a dumb terminal', async () => {
    const { stdout } = await talaria(['parse'], {
      stdin: [`Hi ${CALL.slice(0, 40)}`, CALL.slice(40)],
      terminal: { columns: 80, rows: 24 },
      env: { TERM: 'dumb' },
    })
    expect(stdout).not.toContain('\u001b')
  })
})

describe('arguments as deep as the parser allows', () => {
  const DEPTH = 9_900
  const list = '['.repeat(DEPTH) + ']'.repeat(DEPTH)
  const stdin = `Text <tool_call>{"name":"f","arguments":{"__proto__":${list}}}</tool_call>`
  const json = `{"__proto__":${list}}`

  it('are events', async () => {
    const { stdout, stderr, code } = await talaria(['parse', '--to', 'events'], { stdin })
    expect(stdout).toContain('"delta":"Text "')
    expect(stdout).toContain(`,"input":${json}}\n`)
    expect(stdout).toMatch(/\n\{"type":"finish","reason":"tool-calls"\}\n$/)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  })

  it('are a message, hardly longer than they are', async () => {
    const { stdout, stderr, code } = await talaria(['parse', '--to', 'message'], { stdin })
    expect(JSON.parse(stdout)).toMatchObject({ text: 'Text ', calls: [{ arguments: json }] })
    expect(stdout.replace(/\s+/g, '')).toContain(`"input":${json}`)
    expect(stdout.length).toBeLessThan(5 * json.length)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  })

  it.each(['log', 'view'])('are a %s', async (to) => {
    const { stderr, code } = await talaria(['parse', '--to', to], { stdin })
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  })
})

describe('empty input', () => {
  it.each([
    ['nothing', []],
    ['empty chunks', [new Uint8Array()]],
  ])('%s: is said, and no success with --strict', async (_, chunks) => {
    const stdin = (): Readable => Readable.from(chunks)
    const lax = await talaria(['parse', '--to', 'log'], { stdin: stdin() })
    const stderr = 'talaria: the input was empty\n'
    expect(lax).toMatchObject({ code: 0, stdout: 'finish stop\n', stderr })
    expect(await talaria(['parse', '--strict'], { stdin: stdin() })).toMatchObject({
      code: 3,
      stderr,
    })
  })

  it('is not meant by input that is stopped or breaks', async () => {
    const stopped = await talaria(['parse', '--strict'], { signal: AbortSignal.abort('SIGINT') })
    expect(stopped).toMatchObject({ code: 130, stderr: '' })
    const stdin = new Readable({ read() {} })
    setImmediate(() => stdin.destroy(new Error('gone')))
    const broken = await talaria(['parse', '--strict'], { stdin })
    expect(broken).toMatchObject({ code: 1, stderr: "talaria: can't read stdin: gone\n" })
  })
})

describe('an answer that ends before its connection', () => {
  it('lets go of the connection', async () => {
    const stdin = new Readable({ read() {} })
    stdin.push(sse('Hi'))
    const { stdout, code } = await talaria(['parse', '--to', 'log'], { stdin })
    expect(stdout).toMatch(/\nfinish stop/)
    expect(code).toBe(0)
    expect(stdin.destroyed).toBe(true)
  })
})

describe('a slow reader of the output', () => {
  it('slows the input down', async () => {
    let taken = 0
    function* endless(): Generator<string> {
      for (;;) {
        taken++
        yield 'All work and no play. '.repeat(4_096)
      }
    }
    const controller = new AbortController()
    let release = (): void => {}
    const blocked = new Promise<void>((resolve) => (release = resolve))
    const outcome = talaria(['parse'], {
      stdin: Readable.from(endless()),
      signal: controller.signal,
      onWrite: () => blocked,
    })
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    const before = taken
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    expect(taken).toBe(before)
    controller.abort('SIGINT')
    release()
    expect((await outcome).code).toBe(130)
  })
})

describe('colours', () => {
  const colored = async (
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    onTerminal: boolean,
  ): Promise<boolean> => {
    const terminal = { columns: 80, rows: 24 }
    const world = { stdin: `Hi ${CALL}`, env, ...(onTerminal && { terminal }) }
    const { stdout } = await talaria(['parse', '--to', 'view', ...argv], world)
    return stdout.includes('\u001b[32m')
  }

  it.each([
    [true, 'a terminal', [], {}, true],
    [false, 'a pipe', [], {}, false],
    [false, 'NO_COLOR on a terminal', [], { NO_COLOR: '1' }, true],
    [true, 'an empty NO_COLOR on a terminal', [], { NO_COLOR: '' }, true],
    [true, 'FORCE_COLOR in a pipe', [], { FORCE_COLOR: '1' }, false],
    [false, 'FORCE_COLOR=0 on a terminal', [], { FORCE_COLOR: '0' }, true],
    [true, 'FORCE_COLOR and NO_COLOR', [], { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    [true, '--color in a pipe', ['--color'], {}, false],
    [true, '--color before NO_COLOR', ['--color=always'], { NO_COLOR: '1' }, false],
    [false, '--color=never before FORCE_COLOR', ['--color=never'], { FORCE_COLOR: '1' }, true],
    [false, '--no-color on a terminal', ['--no-color'], {}, true],
    [true, '--color=auto on a terminal', ['--color=auto'], {}, true],
  ] as const)('%s: %s', async (expected, _, argv, env, onTerminal) => {
    expect(await colored(argv, env, onTerminal)).toBe(expected)
  })
})

describe('a stream that breaks off', () => {
  it('closes everything', async () => {
    const { stdout, code } = await talaria(['parse', '--to', 'message'], { stdin: CUT })
    expect(JSON.parse(stdout)).toMatchObject({
      text: 'Hi ',
      calls: [],
      failed: [{ name: 'f', code: 'incomplete-call', arguments: '{"a":' }],
    })
    expect(code).toBe(0)
  })

  it.each([
    [3, 'a failed call', CUT],
    [3, 'an event stream without its end', sse(ANSWER).slice(0, -500)],
    [3, 'an error in the stream', 'data: {"error":{"code":500,"message":"no"}}\n\n'],
    [3, 'a recording without its end', '{"type":"text-start","index":0}\n'],
    [0, 'a whole answer', ANSWER],
    [0, 'a whole event stream', sse(ANSWER)],
  ])('--strict gives %d for %s', async (code, _, stdin) => {
    expect((await talaria(['parse', '--strict'], { stdin })).code).toBe(code)
    expect((await talaria(['parse'], { stdin })).code).toBe(0)
  })

  it('says why its source failed', async () => {
    const stdin = new Readable({ read() {} })
    stdin.push(CUT)
    setImmediate(() => stdin.destroy(new Error('the disk is gone')))
    const { stdout, stderr, code } = await talaria(['parse', '--to', 'log'], { stdin })
    expect(stdout).toContain('error ')
    expect(stdout).toMatch(/\nfinish error\n$/)
    expect(stderr).toBe("talaria: can't read stdin: the disk is gone\n")
    expect(code).toBe(1)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('is closed by %s', async (signal) => {
    const controller = new AbortController()
    const stdin = new Readable({ read() {} })
    stdin.push(CUT)
    const { stdout, stderr, code } = await talaria(['parse', '--to', 'log'], {
      stdin,
      signal: controller.signal,
      onWrite: () => controller.abort(signal),
    })
    expect(stdout).toMatch(/\ntool-call-error 1 aborted f.*\nfinish aborted\n$/)
    expect(stderr).toBe('')
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143)
  })
})

describe('--tools', () => {
  const BARE = [{ name: 'f', description: 'Does.', parameters: { type: 'object' } }]
  const OPENAI = BARE.map((definition) => ({ type: 'function', function: definition }))

  it.each([
    ['bare', BARE],
    ["OpenAI's", OPENAI],
    ['those of a request', { model: 'm', tools: OPENAI }],
  ])('takes %s', async (_, tools) => {
    const path = file('tools.json', `\ufeff${JSON.stringify(tools)}`)
    const argv = ['parse', '--to', 'message', '--tools', path]
    expect(JSON.parse((await talaria(argv, { stdin: CALL })).stdout).calls).toHaveLength(1)
  })

  it('turns calls off if there are none', async () => {
    const argv = ['parse', '--to', 'message', '--tools', file('none.json', '[]')]
    const { stdout } = await talaria(argv, { stdin: CALL })
    expect(JSON.parse(stdout)).toMatchObject({ text: CALL, calls: [] })
  })

  it.each([
    ['an object', { name: 'f' }, '$: expected a list of tools, found an object'],
    ['a list in a list', [[]], '$[0]: expected a tool, found a list'],
    ['no name', [...BARE, {}], '$[1].name: expected a name, found nothing'],
    ['an empty name', [{ name: ' ' }], '$[0].name: expected a name, found " "'],
    ['a number', [{ function: { name: 3 } }], '$[0].function.name: expected a name, found 3'],
    [
      'no function',
      [{ function: null }],
      '$[0].function: expected an object with a name, found null',
    ],
    ['another type', [{ type: 'x' }], '$[0].type: expected \'function\', found "x"'],
    [
      'a schema',
      [{ name: 'f', parameters: 1 }],
      '$[0].parameters: expected a JSON Schema, found 1',
    ],
    ['a text', [{ name: 'f', description: 1 }], '$[0].description: expected a text, found 1'],
    ['one twice', [...BARE, ...OPENAI], "$[1].function.name: 'f' stands at $[0], too"],
    ['a request', { tools: {} }, 'tools: expected a list of tools, found an object'],
  ])('says what is wrong: %s', async (_, tools, message) => {
    const path = file('wrong.json', JSON.stringify(tools))
    const { stderr, stdout, code } = await talaria(['parse', '--tools', path], { stdin: CALL })
    expect(stderr).toBe(`talaria: ${path}: ${message}\n`)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it('says that it is no JSON', async () => {
    const path = file('no.json', '[{')
    const { stderr, code } = await talaria(['parse', '--tools', path], { stdin: CALL })
    expect(stderr).toMatch(/^talaria: .*no\.json: expected JSON: .+\n$/)
    expect(code).toBe(2)
  })

  it('says that it is not there', async () => {
    const { stderr, code } = await talaria(['parse', '--tools', join(folder, 'gone.json')])
    expect(stderr).toBe(`talaria: can't read the tools in ${folder}/gone.json: no such file\n`)
    expect(code).toBe(1)
  })
})

describe('what a parser is told', () => {
  it('--start-in', async () => {
    const stdin = 'Hm.</think>Hi'
    const { stdout } = await talaria(['parse', '--start-in', 'reasoning', '-t', 'message'], {
      stdin,
    })
    expect(JSON.parse(stdout)).toMatchObject({ reasoning: 'Hm.', text: 'Hi' })
  })

  it('--patches', async () => {
    const { stdout } = await talaria(['parse', '--patches'], { stdin: CALL })
    const patches = eventsOf(stdout).flatMap(
      (event) => (event as { patches?: object[] }).patches ?? [],
    )
    expect(patches).toContainEqual({ op: 'set', path: ['a'], value: 1 })
  })

  it('--dialect', async () => {
    for (const dialect of ['auto', 'hermes', 'hermes, hermes']) {
      const { stdout } = await talaria(['parse', '-d', dialect, '-t', 'message'], { stdin: CALL })
      expect(JSON.parse(stdout).calls).toHaveLength(1)
    }
  })

  it('--choice', async () => {
    const frame = (index: number, content: string): string =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`
    const stdin = `${frame(0, 'zero')}${frame(1, 'one')}data: [DONE]\n\n`
    for (const [choice, text] of [
      [[], 'zero'],
      [['--choice', '1'], 'one'],
    ] as const) {
      const { stdout } = await talaria(['parse', '-t', 'message', ...choice], { stdin })
      expect(JSON.parse(stdout).text).toBe(text)
    }
  })
})

describe('a file that can not be read', () => {
  it.each([
    ['gone.txt', 'no such file'],
    ['', 'it is a folder'],
  ])('%s: one line, nothing else, and 1', async (name, reason) => {
    const path = join(folder, name)
    expect(await talaria(['parse', path])).toEqual({
      code: 1,
      stdout: '',
      stderr: `talaria: can't read ${path}: ${reason}\n`,
      writes: [],
    })
  })
})

describe.skipIf(process.platform === 'win32')('a named pipe that nobody writes to', () => {
  it.each([
    ['before it is opened', 0],
    ['while it is being opened', 50],
  ])('is let go of by a signal, %s', async (_, delay) => {
    const pipe = join(folder, `pipe-${delay}`)
    execFileSync('mkfifo', [pipe])
    const controller = new AbortController()
    if (delay === 0) controller.abort('SIGTERM')
    else setTimeout(() => controller.abort('SIGTERM'), delay)
    const { signal } = controller
    expect(await talaria(['parse', '--to', 'log', pipe], { signal })).toMatchObject({
      code: 143,
      stdout: 'finish aborted\n',
      stderr: '',
    })
  })
})
