/** Whatever becomes of a template, an answer comes, whole and of its type. */
import { createParser } from '@talaria/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Detection, detectDialect } from '../src/index.ts'
import * as templates from './templates.ts'

const asked = process.env['FAST_CHECK_SEED'] ?? '20261130'
const seed = asked === 'random' ? Date.now() % 0x7fffffff : Number(asked)
const numRuns = Number(process.env['FAST_CHECK_RUNS'] ?? 100)
fc.configureGlobal({ seed })
const SLOW = 120_000

const all = Object.values(templates)

/** A template with a piece of another, or of itself, in the place of a piece of its own. */
const spliced = fc
  .record({
    into: fc.constantFrom(...all),
    from: fc.constantFrom(...all),
    cuts: fc.tuple(...Array.from({ length: 4 }, () => fc.double({ min: 0, max: 1, noNaN: true }))),
  })
  .map(({ into, from, cuts }) => {
    const [a = 0, b = 0, c = 0, d = 0] = cuts
    const ends = [a, b].sort((x, y) => x - y).map((cut) => Math.round(cut * into.length))
    const start = Math.round(c * from.length)
    return into.slice(0, ends[0]) + from.slice(start, start + d * 60) + into.slice(ends[1])
  })

/** Words of the template language in any order. */
const jumbled = fc
  .array(
    fc.constantFrom(
      ...['{%', '%}', '{{', '}}', '{#', '#}', '-%}', '{%-', 'for', 'in', 'if', 'endif', 'else'],
      ...['elif', 'endfor', 'set', 'endset', 'macro', 'endmacro', 'call', 'endcall', 'filter'],
      ...['messages', 'tools', 'm', '=', '|', 'tojson', 'join', '(', ')', '[', ']', '.', ',', ':'],
      ...['"', "'", '\\', '\n', ' ', 'a', '0', '-', '+', '~', 'not', 'range', 'break', '{', '}'],
      ...['<tool_call>', '</tool_call>', '<think>', '[', '<|x|>', 'is', 'defined', 'namespace'],
    ),
    { maxLength: 60 },
  )
  .map((words) => words.join(' '))

function check(detection: Detection): void {
  const { found, options, reasoning, endTokens } = detection
  expect(reasoning || options.startIn !== 'reasoning').toBe(true)
  expect(endTokens.every((token) => typeof token === 'string' && token !== '')).toBe(true)
  createParser({ ...options, onEvent: () => {} })
  if (found) expect(detection.evidence).toContain('zq harbour')
  else {
    expect(detection.message).toMatch(/\S/)
    expect(detection.rendered === undefined).toBe(detection.reason !== 'unread-notation')
    expect(detection.line ?? 1).toBeGreaterThan(0)
  }
}

test('templates that are cut and patched', { timeout: SLOW }, () => {
  fc.assert(
    fc.property(spliced, (template) => check(detectDialect(template))),
    { numRuns },
  )
})

test('words in any order, and any characters', { timeout: SLOW }, () => {
  const any = fc.string({ unit: 'binary', maxLength: 200 })
  fc.assert(
    fc.property(fc.oneof(jumbled, any), (template) => check(detectDialect(template))),
    { numRuns: numRuns * 4 },
  )
})
