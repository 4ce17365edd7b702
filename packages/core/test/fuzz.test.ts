/** The fuzzer for a moment, so that it can't rot; `fuzz/fuzz.mjs` is how it is run for long. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseFixtures } from '@talaria/fixtures'
import { describe, expect, test, vi } from 'vitest'
import { BrokenPromise } from '../fuzz/broken.ts'
import { type Case, type CaseOptions, fixtureCases } from '../fuzz/cases.ts'
import { type Finding, fuzz } from '../fuzz/fuzz.ts'
import { minimise } from '../fuzz/minimise.ts'
import { verify } from '../fuzz/promises.ts'
import { asFixture } from '../fuzz/report.ts'

vi.setConfig({ testTimeout: 120_000 })

test('fixtures and what is made of them break no promise', () => {
  const findings: Finding[] = []
  const runs = fixtureCases().length + 200
  const { corpus } = fuzz({
    seed: 1,
    goOn: (progress) => progress.runs < runs,
    found: (finding) => findings.push(finding),
  })
  expect(findings).toEqual([])
  expect(corpus).toBeGreaterThan(100)
})

test('the command runs the sources, and sees where a run goes', async () => {
  const command = fileURLToPath(new URL('../fuzz/fuzz.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--runs', '20'])
  const [, runs, edges] = /^(\d+) runs, .* edges (\d+), seed 1$/m.exec(stdout) ?? []
  expect(Number(runs)).toBe(20)
  expect(Number(edges)).toBeGreaterThan(500)
})

test('a parser that reads a text otherwise each time is found out', () => {
  let turn = 0
  const options: CaseOptions = {
    get whitespace() {
      return turn++ % 2 === 0 ? 'layout' : 'exact'
    },
  }
  expect(() => verify({ source: ' ', options })).toThrow(BrokenPromise)
})

describe('a finding', () => {
  test('is made as small as it goes', () => {
    const found: Case = { source: 'so "it\nis" so', options: { strict: true, patches: true } }
    const breaks = ({ source, options }: Case): boolean =>
      source.includes('"') && source.includes('\n') && options.patches === true
    expect(minimise(found, breaks)).toEqual({ source: '\n"', options: { patches: true } })
  })

  test.each<Case>([
    { source: 'so <tool_call>\n{"name":"f"}', options: {} },
    { source: '```\nit `is`\n````', options: { dialect: 'hermes', tools: [{ name: 'f' }] } },
    { source: ' \ud83d\u0001\n', options: { dialect: ['hermes'], limits: { calls: 1 } } },
    { source: '', options: { strict: true } },
  ])('is written as a fixture: %j', ({ source, options }) => {
    const [found] = parseFixtures(asFixture({ source, options }, 'grammar'), 'found.md')
    if (found?.kind !== 'stream') throw new Error('expected a stream')
    const { dialect, tools, options: others } = found
    expect(found.input).toBe(source)
    expect({ ...(dialect && { dialect }), ...(tools && { tools }), ...others }).toEqual(options)
  })
})
