/** JSON without recursion: the same as `JSON.stringify` writes, and deeper. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toJson } from '../src/output/json.ts'

it('writes what JSON.stringify writes', () => {
  const value = fc.jsonValue({ maxDepth: 6, noUnicodeString: false })
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.constantFrom(0, 2), (object, indent) => {
      expect(toJson(object, indent)).toBe(JSON.stringify(object, null, indent))
    }),
    { seed: 7 },
  )
})

it.each([
  [{ a: undefined, b: [undefined, () => 1], c: Number.NaN }, '{"b":[null,null],"c":null}'],
  [JSON.parse('{"__proto__":{"constructor":1}}'), '{"__proto__":{"constructor":1}}'],
  [{ 2: 'b', 1: 'a' }, '{"1":"a","2":"b"}'],
  [{ lone: '\ud800', c1: '\u009b' }, '{"lone":"\\ud800","c1":"\\u009b"}'],
  [{ cause: new RangeError('far') }, '{"cause":{"name":"RangeError","message":"far"}}'],
  [{ big: 12n }, '{"big":12}'],
  [[], '[]'],
])('%o', (value, json) => {
  expect(toJson(value)).toBe(json)
})

it('writes a value that stands inside itself as null, and one that stands twice twice', () => {
  const value: Record<string, unknown> = { a: 1 }
  value['self'] = [value]
  const twice = [1]
  expect(toJson(value)).toBe('{"a":1,"self":[null]}')
  expect(toJson([twice, twice])).toBe('[[1],[1]]')
})

it('follows any depth', () => {
  let value: object = []
  for (let depth = 0; depth < 100_000; depth++) value = depth % 2 ? [value] : { a: value }
  const json = toJson(value)
  expect(json).toBe(`${'[{"a":'.repeat(50_000)}[]${'}]'.repeat(50_000)}`)
  // Laid out it is hardly longer.
  const laidOut = toJson(value, 2)
  expect(laidOut.length).toBeLessThan(json.length + 10_000)
  expect(laidOut.replace(/\s+/g, '')).toBe(json)
})
