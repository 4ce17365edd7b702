/** `Lines` against the whole text: it answers the same, and saves the work that it promises to. */
import { describe, expect, test } from 'vitest'
import { Lines, NO_BREAK, SOME, UNSEEN } from '../src/lines.ts'
import { fc } from './random.ts'

/** Chunks of prose with blanks and line breaks; long ones as well, since those are kept unread. */
const chunk = fc
  .tuple(
    fc.array(fc.constantFrom('a', '>', ' ', '\t', '\n', '\r\n', 'word', '  so'), { maxLength: 6 }),
    fc.constantFrom(1, 1, 1, 9, 40, 600),
  )
  .map(([pieces, times]) => pieces.join('').repeat(times))
  .filter((text) => text !== '')

/** A place, as a share of what there is. */
const share = fc.nat({ max: 100 }).map((percent) => percent / 100)

interface Line {
  readonly start: number
  readonly first: number
  readonly code: number
}

/** What is known of the line that `offset` stands on. */
function lineAt(text: string, origin: number, offset: number): Line {
  const before = text.slice(origin, offset)
  const start = origin + before.lastIndexOf('\n') + 1
  const blanks = /^[^\S\n]*/.exec(text.slice(start, offset))![0].length
  const first = start + blanks < offset ? start + blanks : -1
  return { start, first, code: first < 0 ? -1 : text.charCodeAt(first) }
}

function found(lines: Lines): Line {
  const { lineStart, first, firstCode } = lines
  return { start: lineStart, first, code: first < 0 ? -1 : firstCode }
}

/** What the scan for stops would have seen of a chunk's line breaks. */
function breaksOf(text: string, scanned: boolean): 0 | 1 | 2 {
  if (!scanned) return UNSEEN
  return text.includes('\n') ? SOME : NO_BREAK
}

describe('Lines', () => {
  test('answers as the whole text does, wherever it is asked', () => {
    const steps = fc.array(
      fc.record({
        chunk,
        asked: fc.array(share, { maxLength: 3 }),
        scanned: fc.boolean(),
        reset: fc.constantFrom(false, false, false, true),
      }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        const lines = new Lines()
        let text = ''
        let origin = 0
        for (const step of all) {
          const base = text.length
          text += step.chunk
          lines.begin(step.chunk, base)
          if (step.reset) {
            origin = base
            lines.reset(base)
          }
          for (const place of step.asked.toSorted((a, b) => a - b)) {
            const offset = base + Math.round(place * step.chunk.length)
            lines.resolve(offset)
            expect(found(lines)).toEqual(lineAt(text, origin, offset))
          }
          lines.keep(breaksOf(step.chunk, step.scanned))
          expect(lines.visited).toBeLessThanOrEqual(text.length)
        }
        lines.resolve(text.length)
        expect(found(lines)).toEqual(lineAt(text, origin, text.length))
        expect(lines.visited).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  test('answers for places in chunks that were kept unread', () => {
    const long = fc.tuple(chunk, chunk).map(([a, b]) => (a + b + ' '.repeat(33)).slice(0, 200))
    const asked = fc.array(share, { maxLength: 2 })
    fc.assert(
      fc.property(fc.array(fc.tuple(long, asked), { maxLength: 12 }), (all) => {
        const lines = new Lines()
        let text = ''
        let known = 0
        for (const [piece, places] of all) {
          lines.begin(piece, text.length)
          text += piece
          lines.keep(UNSEEN)
          for (const place of places) {
            known += Math.round(place * (text.length - known))
            lines.resolve(known)
            expect(found(lines)).toEqual(lineAt(text, 0, known))
            expect(lines.visited).toBeLessThanOrEqual(text.length)
          }
          expect(lines.settled).toBe(known === text.length && lines.first !== -1)
        }
      }),
    )
  })

  test('an earlier place than the last one changes nothing', () => {
    const lines = new Lines()
    lines.begin('a\nb\n c', 0)
    lines.resolve(6)
    const known = found(lines)
    const { visited } = lines
    lines.resolve(3)
    lines.resolve(6)
    expect(found(lines)).toEqual(known)
    expect(lines.visited).toBe(visited)
  })

  test('a chunk without line breaks is passed over once a line has begun', () => {
    const lines = new Lines()
    lines.begin('so', 0)
    expect(lines.settled).toBe(false)
    lines.keep(NO_BREAK)
    expect(lines.settled).toBe(true)
    lines.pass(10)
    const { visited } = lines
    lines.resolve(10)
    expect(lines.visited).toBe(visited)
    expect(found(lines)).toEqual({ start: 0, first: 0, code: 's'.charCodeAt(0) })
    // A chunk that was kept unread may hold a line break.
    lines.begin('x'.repeat(100), 10)
    lines.keep(UNSEEN)
    expect(lines.settled).toBe(false)
    lines.resolve(110)
    expect(lines.settled).toBe(true)
    lines.begin('\n', 110)
    lines.keep(SOME)
    expect(lines.settled).toBe(false)
  })

  test('what was passed over does not count as kept', () => {
    const lines = new Lines()
    lines.begin('so', 0)
    lines.keep(NO_BREAK)
    lines.pass(10_000)
    const { visited } = lines
    lines.begin('x'.repeat(40), 10_000)
    lines.keep(UNSEEN)
    expect(lines.visited).toBe(visited)
  })

  test('a long chunk that was scanned is not kept', () => {
    const lines = new Lines()
    lines.begin('so', 0)
    lines.keep(NO_BREAK)
    lines.begin('x'.repeat(100), 2)
    lines.keep(NO_BREAK)
    expect(lines.settled).toBe(true)
  })

  test('chunks that are known to have no break are not looked at', () => {
    const lines = new Lines()
    for (let at = 0; at < 100; at++) {
      lines.begin('prose ', at * 6)
      lines.keep(NO_BREAK)
    }
    expect(lines.visited).toBeLessThanOrEqual(12)
  })

  test('what is kept unread is bounded', () => {
    const looks = (size: number, count: number): number => {
      const lines = new Lines()
      for (let at = 0; at < count; at++) {
        lines.begin('x'.repeat(size), at * size)
        lines.keep(UNSEEN)
      }
      return lines.visited
    }
    expect(looks(40, 100)).toBe(0)
    expect(looks(64, 64)).toBe(0)
    expect(looks(40, 103)).toBeGreaterThan(4_096)
    expect(looks(33, 127)).toBe(33 * 125)
    // However short the chunks behind a long one are.
    const lines = new Lines()
    lines.begin('x'.repeat(40), 0)
    lines.keep(UNSEEN)
    for (let at = 40; at < 40 + 127; at++) {
      expect(lines.visited).toBe(0)
      lines.begin('x', at)
      lines.keep(UNSEEN)
    }
    expect(lines.visited).toBe(40 + 127)
    // A short chunk is looked at when it is done.
    expect(looks(32, 1)).toBe(32)
    expect(looks(33, 1)).toBe(0)
  })
})
