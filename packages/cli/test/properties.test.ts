/** What must hold for every input and every way to cut it. */
import type { StreamEvent } from '@talaria/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Detector, type Form } from '../src/detect.ts'
import { Rows } from '../src/output/rows.ts'
import { createStyle } from '../src/output/style.ts'
import { createView } from '../src/output/view.ts'
import { VisibleText, columnsOf, fit, widthOf, wrapWords } from '../src/output/visible.ts'
import { createScreen } from './terminal.ts'

const SEED = { seed: 20 }

/** Text with what a terminal and a parser care for. */
const text = fc
  .array(
    fc.constantFrom(
      ...['a', 'word', ' ', '\n', '\r', '\r\n', '\t', '日本', '🙂', 'é', '\u0301', '\\', '\\n'],
      ...[
        '{',
        '}',
        '"',
        ':',
        '{"',
        '"id"',
        '"name"',
        'data:',
        'data: ',
        'event:',
        '[DONE]',
        'null',
      ],
      ...['{"content":"x","stop":false}', '{"type":"text-start","index":0}', '\x1b[2J', '\x9b'],
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))

/** A text and the pieces that it was cut into. */
const pieces = fc.tuple(text, fc.array(fc.nat(40), { maxLength: 8 })).map(([whole, places]) => {
  const cuts = [0, ...places.map((place) => Math.min(place, whole.length)), whole.length]
  const sorted = cuts.sort((a, b) => a - b)
  return { whole, parts: sorted.slice(1).map((end, index) => whole.slice(sorted[index], end)) }
})

describe('the form of the input', () => {
  const detect = (parts: readonly string[]): Form => {
    const detector = new Detector()
    for (const part of parts) {
      const form = detector.take(part)
      if (form !== undefined) return form
    }
    return detector.end()
  }

  it('does not depend on the cuts', () => {
    fc.assert(
      fc.property(pieces, ({ whole, parts }) => {
        expect(detect(parts)).toBe(detect([whole]))
      }),
      { ...SEED, numRuns: 2_000 },
    )
  })
})

describe('visible text', () => {
  const shown = (parts: readonly string[]): string => {
    const visible = new VisibleText()
    return parts.map((part) => visible.take(part)).join('') + visible.end()
  }

  it('is the same for every way to cut it, and drives no terminal', () => {
    fc.assert(
      fc.property(pieces, ({ whole, parts }) => {
        expect(shown(parts)).toBe(shown([whole]))
        expect(shown([whole])).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      }),
      { ...SEED, numRuns: 1_000 },
    )
  })

  it('is never wider on a terminal than it was counted', async () => {
    const screen = createScreen(10_000, 2)
    const blocks = [0xa0, 0x300, 0xe00, 0x1100, 0x2000, 0x20d0, 0x2300, 0x2600, 0x3000, 0xac00]
    const codes = [...blocks, 0xfe00, 0xff00, 0x1f300, 0x20000].flatMap((first) =>
      Array.from({ length: 100 }, (_, offset) => first + offset),
    )
    for (const code of codes) {
      await screen.write(`\rx${String.fromCodePoint(code)}`)
      expect(screen.column(), `U+${code.toString(16)}`).toBeLessThanOrEqual(1 + columnsOf(code))
    }
  })

  it('fits where it must', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (whole, columns) => {
        expect(widthOf(fit(whole, columns))).toBeLessThanOrEqual(columns)
        const words = whole.split(/\s+/).filter((word) => word !== '')
        for (const line of wrapWords(whole, columns)) {
          expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, ...words.map(widthOf)))
        }
        expect(wrapWords(whole, columns).join(' ')).toBe(words.join(' '))
      }),
      SEED,
    )
  })
})

describe('rows', () => {
  it('are the same for every way to cut them, and their ends are kept', () => {
    const limits = { width: 12, first: 3, last: 4 }
    fc.assert(
      fc.property(pieces, ({ whole, parts }) => {
        const all = new Rows({ ...limits, first: Infinity })
        all.push(whole)
        const rows = new Rows(limits)
        for (const part of parts) rows.push(part)
        const every = all.tail(all.count)
        expect(every).toHaveLength(all.count)
        expect(rows.count).toBe(all.count)
        expect(rows.tail(4)).toEqual(every.slice(-4))
        const { first, skipped, last } = rows.ends(3, 2)
        expect(first.length + skipped + last.length).toBe(all.count)
        expect([...first, ...last]).toEqual(
          skipped === 0 ? every : [...every.slice(0, 3), ...every.slice(-2)],
        )
      }),
      { ...SEED, numRuns: 1_000 },
    )
  })
})

describe('the view', () => {
  /** Parts one after another, calls now and then overlapping, deltas as a model makes them. */
  const stream = fc
    .array(
      fc.record({
        kind: fc.constantFrom('text', 'reasoning', 'call', 'failed', 'pair'),
        deltas: fc.array(text, { maxLength: 5 }),
      }),
      { maxLength: 5 },
    )
    .map((parts) => {
      const events: StreamEvent[] = []
      let index = 0
      for (const { kind, deltas } of parts) {
        if (kind === 'text' || kind === 'reasoning') {
          events.push({ type: `${kind}-start`, index })
          for (const delta of deltas) events.push({ type: `${kind}-delta`, index, delta })
          events.push({ type: `${kind}-end`, index })
          index++
          continue
        }
        const calls = kind === 'pair' ? [index, index + 1] : [index]
        for (const call of calls) {
          events.push({ type: 'tool-call-start', index: call, id: `${call}`, name: `call${call}` })
        }
        for (const delta of deltas) {
          for (const call of calls) events.push({ type: 'tool-call-delta', index: call, delta })
        }
        for (const call of calls.reverse()) {
          const name = `call${call}`
          if (kind === 'failed') {
            const message = 'It broke.'
            events.push({ type: 'tool-call-error', index: call, code: 'limit', message })
          } else {
            const json = deltas.join('')
            const rest = { id: `${call}`, name, arguments: json, input: null }
            events.push({ type: 'tool-call-end', index: call, ...rest })
          }
        }
        index += calls.length
      }
      return [...events, { type: 'finish', reason: 'stop' } as const]
    })

  const shown = async (
    events: readonly StreamEvent[],
    columns: number,
    rows: number,
    live: boolean,
  ): Promise<string[]> => {
    const screen = createScreen(columns, rows)
    const size = { columns: () => columns, rows: () => rows }
    const view = createView({ style: createStyle(true), terminal: size })
    for (const event of events) {
      view.add(event)
      if (live) await screen.write(view.take())
    }
    await screen.write(view.take())
    return screen.lines()
  }

  it('leaves the same, painted after each event or once at the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        stream,
        fc.integer({ min: 20, max: 60 }),
        fc.integer({ min: 4, max: 20 }),
        async (events, columns, rows) => {
          const live = await shown(events, columns, rows, true)
          expect(live).toEqual(await shown(events, columns, rows, false))
        },
      ),
      { ...SEED, numRuns: 150 },
    )
  }, 60_000)
})
