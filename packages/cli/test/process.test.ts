/** The real process: pipes, signals, exit codes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { NODE_ARGUMENTS, start } from './binary.ts'

const folder = mkdtempSync(join(tmpdir(), 'talaria-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CUT = 'Hi <tool_call>{"name":"f","arguments":{"a":'

const shell = promisify(execFile)
/** The command, for a shell. */
const talaria = [process.execPath, ...NODE_ARGUMENTS].map((word) => `'${word}'`).join(' ')

/** A process needs its time to start on a busy machine. */
const SLOW = { timeout: 60_000 }

describe.skipIf(process.platform === 'win32')('in a shell', SLOW, () => {
  it('prints the message of raw text as JSON', async () => {
    const answer = `printf 'Hi <tool_call>{"name":"f","arguments":{"a":1}}</tool_call>'`
    const { stdout } = await shell('sh', ['-c', `${answer} | ${talaria} parse --to message`])
    expect(JSON.parse(stdout)).toEqual({
      text: 'Hi ',
      reasoning: '',
      calls: [
        {
          index: 1,
          id: expect.stringMatching(/^call_[0-9A-Za-z]{24}$/),
          name: 'f',
          arguments: '{"a":1}',
          input: { a: 1 },
        },
      ],
      serverCalls: [],
      failed: [],
      warnings: [],
      finish: { reason: 'tool-calls' },
      parts: [
        { type: 'text', index: 0, text: 'Hi ' },
        expect.objectContaining({ type: 'tool-call', name: 'f' }),
      ],
    })
  })

  it('survives a pipe that is closed early', async () => {
    const file = join(folder, 'long.txt')
    writeFileSync(file, 'All work and no play. '.repeat(200_000))
    const command = `{ ${talaria} parse --to events '${file}'; echo "code $?" >&2; } | head -1`
    const { stdout, stderr } = await shell('sh', ['-c', command])
    expect(stdout).toBe('{"type":"text-start","index":0}\n')
    expect(stderr).toBe('code 0\n')
  })
})

describe.skipIf(process.platform !== 'linux')('a full disk', SLOW, () => {
  it('is one line, and 1', async () => {
    const command = `printf Hi | { ${talaria} parse >/dev/full; echo "code $?" >&2; }`
    const { stderr } = await shell('sh', ['-c', command])
    expect(stderr).toBe("talaria: can't write: no space left\ncode 1\n")
  })

  it('does not change the code if it is stderr that can not be written', async () => {
    const { stdout } = await shell('sh', ['-c', `${talaria} foo 2>/dev/full; echo "code $?"`])
    expect(stdout).toBe('code 2\n')
  })
})

describe('a stream that is still open', SLOW, () => {
  it('is shown as it comes', async () => {
    const { child, shows, ended } = start(['parse'])
    child.stdin.write('One ')
    await shows('"delta":"One')
    child.stdin.write('two.')
    await shows('two."')
    child.stdin.end()
    const { code, stdout } = await ended
    expect(stdout).toMatch(/\{"type":"finish","reason":"stop"\}\n$/)
    expect(code).toBe(0)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('is closed by %s', async (signal, expected) => {
    const { child, shows, ended } = start(['parse', '--to', 'events'])
    child.stdin.write(CUT)
    await shows('tool-call-delta')
    child.kill(signal)
    const { code, stdout, stderr } = await ended
    expect(stdout).toMatch(
      /"type":"tool-call-error".*"code":"aborted".*\n.*"reason":"aborted"\}\n$/,
    )
    expect(stderr).toBe('')
    expect(code).toBe(expected)
  })
})

describe.skipIf(process.platform === 'win32')(
  'a reader of the output that has stalled',
  SLOW,
  () => {
    /** Takes the beginning of a document that no pipe holds. Gives the process and how it ends. */
    async function stalled(
      ...nodeArguments: readonly string[]
    ): Promise<{ child: ChildProcess; ended: Promise<number | null> }> {
      const file = join(folder, 'longer.txt')
      writeFileSync(file, 'All work and no play. '.repeat(400_000))
      const argv = [...nodeArguments, ...NODE_ARGUMENTS, 'parse', '--to', 'message', file]
      const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = new Promise<number | null>((done) => child.on('exit', done))
      await new Promise((done) => child.stdout.once('readable', done))
      return { child, ended }
    }

    it('does not keep a signal from ending it', async () => {
      const { child, ended } = await stalled()
      child.kill('SIGTERM')
      expect(await ended).toBe(143)
    })

    it('is not waited for after a second signal', async () => {
      // Without timers the wait for the reader has no end of its own.
      const { child, ended } = await stalled('--import=data:text/javascript,setTimeout=()=>{}')
      child.kill('SIGINT')
      child.kill('SIGTERM')
      // Which of two signals at once comes second is up to the system.
      expect([130, 143]).toContain(await ended)
    })
  },
)

describe.skipIf(process.platform === 'win32')('a named pipe', SLOW, () => {
  it('is read to its end', async () => {
    const pipe = join(folder, 'read')
    const command = `mkfifo '${pipe}'; { printf 'Hi '; printf there; } > '${pipe}' & ${talaria} parse -t log '${pipe}'`
    const { stdout, stderr } = await shell('sh', ['-c', command])
    expect(stdout).toContain('text-delta 0 "Hi there"')
    expect(stderr).toBe('')
  })

  it('that says nothing more is ended by a signal', async () => {
    const pipe = join(folder, 'silent')
    await shell('mkfifo', [pipe])
    const { child, shows, ended } = start(['parse', pipe])
    const writer = openSync(pipe, 'r+')
    writeSync(writer, 'Hi ')
    await shows('text-delta')
    child.kill('SIGTERM')
    const { code, stdout } = await ended
    closeSync(writer)
    expect(stdout).toMatch(/\n\{"type":"finish","reason":"aborted"\}\n$/)
    expect(code).toBe(143)
  })
})

describe('exit codes', SLOW, () => {
  it.each([
    [0, ['parse'], 'Hi'],
    [1, ['parse', join(folder, 'gone')], ''],
    [2, ['prase'], ''],
    [3, ['parse', '--strict'], CUT],
  ] as const)('%d', async (expected, argv, input) => {
    const { child, ended } = start(argv)
    child.stdin.end(input)
    expect((await ended).code).toBe(expected)
  })
})
