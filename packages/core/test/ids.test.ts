/** What a made id looks like, and that it comes once. */
import { describe, expect, test } from 'vitest'
import { createIdGenerator } from '../src/index.ts'

describe('a made id', () => {
  test('is a word of 24 characters of 62, and comes once', () => {
    const generate = createIdGenerator()
    const ids = Array.from({ length: 10_000 }, () => generate())
    for (const id of ids) expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('counts at its end, and shares its beginning with the parser’s others', () => {
    const generate = createIdGenerator()
    const ids = Array.from({ length: 62 * 62 + 1 }, () => generate())
    const tails = ids.map((id) => id.slice(-6))
    expect([tails[0], tails[1], tails[61], tails[62]]).toEqual([
      '000000',
      '000001',
      '00000z',
      '000010',
    ])
    expect(tails[62 * 62]).toBe('000100')
    expect(new Set(ids.map((id) => id.slice(0, 'call_'.length + 14))).size).toBe(1)
    // What a call draws is its own.
    expect(new Set(ids.map((id) => id.slice(-10, -6))).size).toBeGreaterThan(3_000)
  })

  test('of two parsers is never the same', () => {
    const ids = Array.from({ length: 1_000 }, () => createIdGenerator()())
    expect(new Set(ids.map((id) => id.slice(0, 'call_'.length + 14))).size).toBe(1_000)
    // Every digit is drawn.
    expect(new Set(ids.join('').replaceAll('call_', '')).size).toBe(62)
  })
})
