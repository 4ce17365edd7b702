/**
 * The README's commands print what stands below them: the demo as in a pipe, the rest in a shell
 * with the real `talaria` and a server on loopback. `UPDATE=1` rewrites the outputs.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NODE_ARGUMENTS } from '../../packages/cli/test/binary.ts'
import { loadNodeLlamaCpp, renderPrompt } from '../../packages/llamacpp/src/piano.ts'
import { fencesOf, rewritten } from './pages.ts'
import { type Playing, playServer } from './server.ts'

const PAGE = 'README.md'
const SLOW = { timeout: 120_000 }
/** What stands for lines that are left out. */
const CUT = '…'

const engine = await loadNodeLlamaCpp()
if (engine.available) await engine.dispose()

const fences = fencesOf(PAGE)
const request = fences.find(({ language }) => language === 'json')

interface Example {
  readonly command: string
  readonly output: string
}

/** The commands of all `console` blocks: each after `$ `, its output up to the next one. */
const examples: readonly Example[] = fences
  .filter(({ language }) => language === 'console')
  .flatMap((fence) =>
    fence.text.split(/^\$ /m).flatMap((entry) => {
      const [, command = '', output = ''] = /^(.*)\n([^]*)$/.exec(entry) ?? []
      return command === '' ? [] : [{ command, output }]
    }),
  )

describe.skipIf(process.platform === 'win32')('commands in the README', SLOW, () => {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-docs-'))
  let server: Playing

  beforeAll(async () => {
    const words = [process.execPath, ...NODE_ARGUMENTS].map((word) => `'${word}'`).join(' ')
    // `npx talaria` runs the built command, `npm start` its demo.
    shim('npx', `[ "$1" = talaria ] || exit 127; shift; exec ${words} "$@"`)
    shim('npm', `[ "$1" = start ] || exit 127; exec ${words} demo`)
    writeFileSync(join(folder, 'req.json'), request?.text ?? '')
    server = await playServer()
  })

  function shim(name: string, script: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await server.close()
  })

  /** What a command prints to either stream, with the names that it has in the README. */
  async function outputOf(command: string): Promise<string> {
    const script = `exec 2>&1; ${command.replaceAll('localhost:8080', server.url)}`
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` }
    const output = await new Promise<string>((resolve) => {
      execFile('sh', ['-c', script], { cwd: folder, env }, (_, stdout) => resolve(stdout))
    })
    return output
      .replaceAll(server.url, 'localhost:8080')
      .replace(/call_[0-9A-Za-z]{24}/g, 'call_0aM3q9ZxL2vTr6YpK1cWd8Bn')
  }

  it('are there', () => {
    expect(examples.length).toBeGreaterThan(1)
  })

  for (const { command, output } of examples) {
    const needsEngine = command === 'npm start'
    it.skipIf(needsEngine && !engine.available)(command, async () => {
      const all = await outputOf(command)
      const found = output.split('\n').includes(CUT) ? excerpt(all, output) : all
      if (!rewritten(PAGE, `\n$ ${command}\n`, output, found)) expect(output).toBe(found)
    })
  }

  it('ask a server for a stream, with a Hermes prompt', () => {
    const body = JSON.parse(request?.text ?? '{}') as Record<string, unknown>
    const { prompt, stream } = body
    expect(stream).toBe(true)
    const tools = /<tools>\n(.*)\n<\/tools>/.exec(String(prompt))?.[1] ?? ''
    const question = /<\|im_start\|>user\n(.*)<\|im_end\|>/.exec(String(prompt))?.[1] ?? ''
    expect(prompt).toBe(renderPrompt({ tools: [JSON.parse(tools)], question }))
    expect(server.asked.at(-1)).toEqual({ path: '/completion', body })
  })
})

/**
 * What a page that shows pieces of an output has to show: each piece begins where its first line
 * comes next, the first one at the start, and is as long as the page has it. `…` stands for the rest.
 */
function excerpt(found: string, shown: string): string {
  const lines = found.split('\n')
  let at = 0
  return shown
    .trimEnd()
    .split(`\n${CUT}`)
    .map((piece, nth) => {
      const [first, ...more] = nth === 0 ? piece.split('\n') : piece.split('\n').slice(1)
      if (first === undefined) return ''
      const start = nth === 0 ? 0 : lines.indexOf(first, at)
      if (start < 0) throw new Error(`the output has no line “${first}” there`)
      at = start + 1 + more.length
      return `${lines.slice(start, at).join('\n')}\n`
    })
    .join(`${CUT}\n`)
}
