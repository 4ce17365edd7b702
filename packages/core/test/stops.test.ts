/** `Stops` against a look at each character, for few and for many characters to stop at. */
import { expect, test } from 'vitest'
import { jsonCall } from '../src/bodies/json-call.ts'
import { compile } from '../src/compile.ts'
import { defineDialect } from '../src/dialect.ts'
import { hermes } from '../src/dialects/hermes.ts'
import { NO_BREAK, SOME, UNSEEN } from '../src/lines.ts'
import { Stops } from '../src/stops.ts'
import { fc } from './random.ts'

const sections = ['<a>', '[a]', '{a}', '@a@', '#a#', '|a|'].map((open) => ({
  holds: 'calls' as const,
  open,
  close: `${open.charAt(0)}/${open.slice(1)}`,
  bodies: [jsonCall],
}))
const many = defineDialect({ name: 'many', models: [], sections })

const text = fc
  .tuple(
    fc.array(fc.constantFrom('a', ' ', '\n', '<', '[', '{', '@', '`', '~', '#', '|', 'word '), {
      maxLength: 8,
    }),
    fc.constantFrom('', 'x'.repeat(20)),
    fc.array(fc.constantFrom('a', '\n', '<', '`', '{', '~'), { maxLength: 8 }),
  )
  .map(([before, run, after]) => before.join('') + run + after.join(''))

test.each([
  ['few', hermes, '<`~'],
  ['many', many, '<[{@#|`~'],
])('%s: every stop is found, in order, and line breaks are seen', (_, dialect, characters) => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (chunks) => {
      const stops = new Stops(compile([dialect]))
      let passed = 0
      for (const chunk of chunks) {
        stops.begin()
        expect(stops.breaks).toBe(NO_BREAK)
        for (let index = 0; index <= chunk.length;) {
          let next = index
          while (next < chunk.length && !characters.includes(chunk.charAt(next))) next++
          expect(stops.find(chunk, index)).toBe(next)
          passed += next - index
          expect(stops.visited).toBe(passed)
          const broken = chunk.slice(0, next).includes('\n')
          if (stops.breaks !== UNSEEN) expect(stops.breaks !== NO_BREAK).toBe(broken)
          index = next + 1
        }
      }
    }),
  )
})

test('a short chunk is looked at, a long one is searched', () => {
  const stops = new Stops(compile([hermes]))
  const after = (chunk: string, ...from: readonly number[]): unknown => {
    stops.begin()
    for (const index of from) stops.find(chunk, index)
    return stops.breaks
  }
  expect(after('x'.repeat(15), 0)).toBe(NO_BREAK)
  expect(after(`${'x'.repeat(14)}\n`, 0)).toBe(SOME)
  expect(after('x'.repeat(16), 0)).toBe(UNSEEN)
  // What was searched once stays unseen, though its end is looked at.
  expect(after(`${'x'.repeat(16)}<a\nb`, 0, 17)).toBe(UNSEEN)
  expect(after(`${'x'.repeat(20)}\n`, 10)).toBe(SOME)
})
