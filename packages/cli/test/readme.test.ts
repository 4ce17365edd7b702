/**
 * Every command in README.md prints what stands below it. Commands run in a shell, with the real
 * `talaria` on the path and a server on loopback in the place of the reader's own.
 * `UPDATE=1` rewrites the outputs.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { loadNodeLlamaCpp } from '@talaria/llamacpp/piano'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NODE_ARGUMENTS } from './binary.ts'

const README = new URL('../README.md', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'talaria-cli-'))
let server: Server
let address = ''

interface Example {
  readonly command: string
  readonly output: string
}

/** The commands of all `console` blocks: each after `$ `, its output up to the next one. */
const examples: readonly Example[] = [
  ...readFileSync(README, 'utf8').matchAll(/^```console\n(.*?)^```$/gms),
].flatMap(([, block = '']) =>
  block.split(/^\$ /m).flatMap((entry) => {
    const [, command = '', output = ''] = /^(.*)\n([^]*)$/.exec(entry) ?? []
    return command === '' ? [] : [{ command, output }]
  }),
)

const engine = await loadNodeLlamaCpp()
if (engine.available) await engine.dispose()

beforeAll(async () => {
  const shim = join(folder, 'talaria')
  const words = [process.execPath, ...NODE_ARGUMENTS].map((word) => `'${word}'`).join(' ')
  writeFileSync(shim, `#!/bin/sh\nexec ${words} "$@"\n`)
  chmodSync(shim, 0o755)
  writeFileSync(join(folder, 'request.json'), '{"prompt":"Weather?","stream":true}')
  writeFileSync(join(folder, 'tools.json'), '[{"description":"A tool without a name."}]')
  writeFileSync(
    join(folder, 'answer.txt'),
    '<think>\nThe user asks for one city.\n</think>\nLet me look.\n<tool_call>\n' +
      '{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>\n',
  )
  const recording = readFileSync(new URL('../recordings/prose-one.sse', import.meta.url))
  server = createServer((request, response) => {
    const isTemplate = request.url === '/apply-template'
    response.end(isTemplate ? '{"prompt":"Weather?"}' : recording)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await new Promise((done) => server.close(done))
})

/** What a command prints to either stream, with the names that it has in the README. */
async function outputOf(command: string): Promise<string> {
  const script = `exec 2>&1; ${command.replaceAll('localhost:8080', address)}`
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` }
  const output = await new Promise<string>((resolve) => {
    execFile('sh', ['-c', script], { cwd: folder, env }, (_, stdout) => resolve(stdout))
  })
  return output.replaceAll(address, 'localhost:8080')
}

/** Ids are made anew each time. */
function steady(output: string): string {
  return output.replace(/call_[0-9A-Za-z]{24}/g, 'call_0aM3q9ZxL2vTr6YpK1cWd8Bn')
}

describe.skipIf(process.platform === 'win32')('README.md', { timeout: 120_000 }, () => {
  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(8)
  })

  for (const { command, output } of examples) {
    const needsEngine = command.startsWith('talaria demo |')
    it.skipIf(needsEngine && !engine.available)(command, async () => {
      const found = steady(await outputOf(command))
      if (process.env['UPDATE'] === '1' && !process.env['CI']) {
        const text = readFileSync(README, 'utf8')
        writeFileSync(
          README,
          text.replace(`\n$ ${command}\n${output}`, () => `\n$ ${command}\n${found}`),
        )
      } else expect(found).toBe(steady(output))
    })
  }
})
