/** `talaria demo`: the real engine, the recording, and a server. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { loadNodeLlamaCpp } from '@talaria/llamacpp/piano'
import { type Mock, afterEach, describe, expect, it, vi } from 'vitest'
import { createDemo } from '../src/commands/demo.ts'
import { NODE_ARGUMENTS } from './binary.ts'
import { type Outcome, type World, perform, talaria } from './harness.ts'
import { createScreen } from './terminal.ts'

/** Loading llama.cpp takes seconds on a busy machine. */
const SLOW = { timeout: 120_000 }

const engine = await loadNodeLlamaCpp()
if (engine.available) await engine.dispose()

describe.skipIf(!engine.available)('llama.cpp in this process', SLOW, () => {
  it('plays every script, the same each time', async () => {
    const { stdout, stderr, code } = await talaria(['demo'])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^llama\.cpp v[\d.]+ is running in this process/)
    expect(stdout).toContain('\n  ": ␣" get _weather ",     tool-call-start  get_weather\n')
    expect(stdout.match(/^✓ .*$/gm)).toEqual([
      '✓ get_weather',
      '✓ get_weather',
      '✓ write_file',
      '✓ send_message',
      '✓ find_trains',
    ])
    expect(stdout.match(/^✗ .*$/gm)).toEqual(['✗ find_trains malformed-arguments'])
    expect(stdout).not.toContain('\u001b')
    expect((await talaria(['demo'])).stdout).toBe(stdout)
  })

  it('says on a terminal what it waits for, and takes it back', async () => {
    const screen = createScreen(90, 30)
    const { writes } = await talaria(['demo', '--fast'], {
      terminal: { columns: 90, rows: 30 },
      env: { NO_COLOR: '1' },
      onWrite: (text) => screen.write(text),
    })
    expect(writes[0]).toBe('Starting llama.cpp…\r')
    expect(screen.lines().join('\n')).not.toContain('Starting')
    expect(screen.lines().join('\n')).not.toContain('●')
  })

  it('is stopped by Ctrl-C', async () => {
    const controller = new AbortController()
    const { stdout, code } = await talaria(['demo'], {
      signal: controller.signal,
      onWrite: (text) => {
        if (text.includes('tool-call-delta')) controller.abort('SIGINT')
      },
    })
    expect(stdout).toMatch(/tool-call-error {2}aborted\n {28}finish {11}aborted\n$/)
    expect(code).toBe(130)
  })
})

describe('Ctrl-C while llama.cpp is starting', () => {
  const stopped = async (
    loaded: (dispose: () => Promise<void>) => Awaited<ReturnType<typeof loadNodeLlamaCpp>>,
  ): Promise<{ outcome: Outcome; disposed: number }> => {
    const controller = new AbortController()
    let disposed = 0
    const demo = createDemo(async () => {
      controller.abort('SIGINT')
      console.error('Error: the build died\n    at test.js:1:1')
      console.warn('trying the next one')
      return loaded(async () => void disposed++)
    })
    const args = { values: new Map<string, string>(), lists: new Map(), positionals: [] }
    const outcome = await perform((io) => demo.run(args, io), {
      signal: controller.signal,
      terminal: { columns: 80, rows: 24 },
    })
    return { outcome, disposed }
  }
  const spies = (): Mock[] =>
    (['error', 'warn'] as const).map((name) => vi.spyOn(console, name).mockImplementation(() => {}))
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each([
    ['that can not run then', false],
    ['that runs', true],
  ] as const)('ends it, with an engine %s', async (_, available) => {
    const printed = spies()
    const { outcome, disposed } = await stopped((dispose) =>
      available ? { available, llama: {}, dispose } : { available, reason: 'The build died.' },
    )
    expect(outcome).toMatchObject({
      code: 130,
      stdout: 'Starting llama.cpp…\r\u001b[K',
      stderr: '',
    })
    expect(disposed).toBe(available ? 1 : 0)
    for (const spy of printed) expect(spy).not.toHaveBeenCalled()
    console.warn('afterwards')
    expect(printed[1]).toHaveBeenCalledExactlyOnceWith('afterwards')
  })
})

/** Runs a command in a terminal of its own, and presses Ctrl-C once it shows a text. */
const PRESS_CTRL_C = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
shown, pressed = b'', False
while True:
    try: piece = os.read(terminal, 65536)
    except OSError: break
    if not piece: break
    shown += piece
    if sys.argv[1].encode() in shown and not pressed:
        pressed = True
        os.write(terminal, b'\\x03')
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), ascii(shown.decode()))
`
const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

it.skipIf(!hasPython)('leaves a clean terminal by Ctrl-C at its start', SLOW, async () => {
  const command = [process.execPath, ...NODE_ARGUMENTS, 'demo']
  const argv = ['-c', PRESS_CTRL_C, 'Starting llama.cpp', ...command]
  const { stdout } = await promisify(execFile)('python3', argv)
  expect(stdout).toBe(String.raw`130 'Starting llama.cpp\u2026\r^C\x1b[K'` + '\n')
})

it('has its engine where the project is tested', () => {
  const { platform, arch, env } = process
  if (env['CI'] && platform === 'linux' && arch === 'x64') expect(engine.available).toBe(true)
})

describe('the recording', () => {
  it('shows tokens beside the events that come of them', async () => {
    const { stdout, code } = await talaria(['demo', '--recorded'])
    expect(stdout).toContain(`
  llama.cpp’s tokens        Talaria’s events
  L                         text-delta       L
`)
    expect(stdout).toContain(`
  <tool_call> ⏎ {" name ":
  ␣" get _ weather ",       tool-call-start  get_weather
  ␣" arguments ": ␣{"       tool-call-delta  {"
  city                      tool-call-delta  city
`)
    expect(stdout).toContain('\n                            tool-call-end    {"city":"Oslo"}\n')
    expect(stdout).toContain(`
✗ get_weather malformed-arguments
`)
    expect(code).toBe(0)
  })

  it('cuts long rows on a terminal, not elsewhere', async () => {
    const { stdout } = await talaria(['demo', '--recorded', '--fast', '--no-color'], {
      terminal: { columns: 60, rows: 30 },
    })
    const table = stdout.slice(0, stdout.indexOf('\n2. '))
    expect(
      table
        .split('\n')
        .slice(3)
        .filter((line) => line.length > 59),
    ).toEqual([])
  })

  it('is stopped by Ctrl-C', async () => {
    const controller = new AbortController()
    const { stdout, code } = await talaria(['demo', '--recorded'], {
      signal: controller.signal,
      onWrite: () => controller.abort('SIGTERM'),
    })
    expect(stdout).not.toContain('2. ')
    expect(code).toBe(143)
  })
})

describe('--url', () => {
  let server: Server | undefined
  afterEach(() => new Promise((done) => (server ? server.close(done) : done(undefined))))

  interface Asked {
    readonly url: string
    readonly key: string | undefined
    readonly body: {
      readonly prompt?: string
      readonly messages?: unknown
      readonly tools?: unknown[]
    }
  }

  /** A server that answers each path with a status and a body. */
  async function serve(
    answers: Readonly<Record<string, readonly [number, string]>>,
  ): Promise<{ readonly url: string; readonly asked: Asked[] }> {
    const asked: Asked[] = []
    const listening = createServer((request, response) => void reply(request, response))
    const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { url = '', headers } = request
      asked.push({ url, key: headers.authorization, body: JSON.parse(await textOf(request)) })
      const [status, body] = answers[url] ?? [
        404,
        '{"error":{"code":404,"message":"File Not Found"}}',
      ]
      response.writeHead(status, { 'content-type': 'text/event-stream' }).end(body)
    }
    server = listening
    await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done))
    return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`, asked }
  }

  const recording = readFileSync(new URL('../recordings/prose-one.sse', import.meta.url), 'utf8')
  const SHOWN = `Let me look.

✓ get_weather
  {"city":"Oslo"}

1 call · tokens: 470 in, 34 out · finish: tool-calls (eos)
`

  it('asks a server with its own chat template', async () => {
    const { url, asked } = await serve({
      '/apply-template': [200, '{"prompt":"<|im_start|>user …"}'],
      '/completion': [200, recording],
    })
    const { stdout, stderr, code } = await talaria(['demo', '--url', url, '--prompt', 'Oslo?'])
    expect(stdout).toBe(`From ${url}\n   Oslo?\n\n${SHOWN}`)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(asked.map((one) => one.url)).toEqual(['/apply-template', '/completion'])
    expect(asked[0]?.body.messages).toEqual([{ role: 'user', content: 'Oslo?' }])
    expect(asked[0]?.body.tools).toHaveLength(4)
    expect(asked[1]?.body.prompt).toBe('<|im_start|>user …')
  })

  it.each([
    ['without one that works', [500, '{"error":{"code":500,"message":"Jinja"}}'] as const],
    ['that has none', [404, '{"error":{"code":404,"message":"File Not Found"}}'] as const],
  ])('gives a server %s a Hermes prompt', async (_, template) => {
    const { url, asked } = await serve({
      '/apply-template': template,
      '/completion': [200, recording],
    })
    const { stdout, code } = await talaria(['demo', '--url', url])
    expect(stdout).toContain(SHOWN)
    expect(code).toBe(0)
    expect(asked[1]?.body.prompt).toContain('"name":"get_weather"')
    expect(asked[1]?.body.prompt).toContain('Which is warmer now')
  })

  it('sends the key that llama-server has in the environment', async () => {
    const { url, asked } = await serve({})
    await talaria(['demo', '--url', url], { env: { LLAMA_API_KEY: 'secret' } })
    expect(asked[0]?.key).toBe('Bearer secret')
  })

  const fails = async (argv: readonly string[], world?: World): Promise<string> => {
    const { stdout, stderr, code } = await talaria(['demo', ...argv], world)
    expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
    expect(stderr.split('\n')).toHaveLength(2)
    return stderr
  }

  it('says in one line that a server is not there', async () => {
    const { url } = await serve({})
    await new Promise((done) => server?.close(done))
    server = undefined
    expect(await fails(['--url', url])).toMatch(
      new RegExp(`^talaria: Could not reach ${url}: .*ECONNREFUSED`),
    )
  })

  it('says in one line that a server refuses', async () => {
    const { url } = await serve({
      '/apply-template': [401, '{"error":{"code":401,"message":"Invalid API Key"}}'],
    })
    expect(await fails(['--url', url])).toBe(
      `talaria: ${url}: HTTP 401 Unauthorized: Invalid API Key\n`,
    )
  })

  it('ends with 1 if the answer breaks', async () => {
    const begun = recording.split('\n\n').slice(0, 4).join('\n\n')
    const { url } = await serve({
      '/apply-template': [200, '{"prompt":"…"}'],
      '/completion': [200, `${begun}\n\ndata: {"error":{"code":500,"message":"no slot"}}\n\n`],
    })
    const { stdout, code } = await talaria(['demo', '--url', url])
    expect(stdout).toContain('✗ server-error: no slot\n')
    expect(code).toBe(1)
  })

  it.each([
    [['--url', 'ftp://x'], "--url must be an address such as http://localhost:8080, not 'ftp://x'"],
    [['--url', 'http://'], "--url must be an address such as http://localhost:8080, not 'http://'"],
    [['--prompt', 'Hi'], '--prompt needs --url'],
    [['--url', 'http://x', '--recorded'], '--url and --recorded exclude each other'],
  ])('checks %j', async (argv, message) => {
    expect(await talaria(['demo', ...argv])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `talaria: ${message}\n`,
    })
  })

  it('needs no scheme', async () => {
    const { url, asked } = await serve({})
    await talaria(['demo', '--url', url.slice('http://'.length)])
    expect(asked).toHaveLength(2)
  })
})

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}
