/** Path patches: what a UI folds into the input while it comes, at a cost that stays the same. */
import { describe, expect, test } from 'vitest'
import type { JsonValue, Path, StreamEvent } from '../src/index.ts'
import { jsonObject } from './arbitraries.ts'
import { chunked, cutAt, drive } from './drive.ts'
import { foldPatches, joinPatches, type Patches } from './fold.ts'
import { fc } from './random.ts'

function callWith(json: string): string {
  return `<tool_call>{"name":"f","arguments":${json}}</tool_call>`
}

function patchesOf(events: readonly StreamEvent[]): Patches {
  return events.flatMap((event) => (event.type === 'tool-call-delta' ? (event.patches ?? []) : []))
}

function patchesFor(json: string, size = 1_000): Patches {
  return patchesOf(drive(chunked(callWith(json), size), { patches: true }).events)
}

const set = (path: Path, value: JsonValue): Patches[number] => ({ op: 'set', path, value })
const append = (path: Path, text: string): Patches[number] => ({ op: 'append', path, text })
const close = (path: Path): Patches[number] => ({ op: 'close', path })

describe('what patches say', () => {
  test('containers come empty, atoms whole, strings in pieces', () => {
    expect(patchesFor('{"a": {"b": [1, "xy", true, null, []]}, "c": ""}')).toEqual([
      set([], {}),
      set(['a'], {}),
      set(['a', 'b'], []),
      set(['a', 'b', 0], 1),
      set(['a', 'b', 1], ''),
      append(['a', 'b', 1], 'xy'),
      close(['a', 'b', 1]),
      set(['a', 'b', 2], true),
      set(['a', 'b', 3], null),
      set(['a', 'b', 4], []),
      close(['a', 'b', 4]),
      close(['a', 'b']),
      close(['a']),
      set(['c'], ''),
      close(['c']),
      close([]),
    ])
  })

  test('a string grows with each chunk', () => {
    const chunks = ['<tool_call>{"name":"f","arguments":{"a":"x', 'y', 'z', '"}}']
    const { events } = drive(chunks, { patches: true })
    const appended = patchesOf(events).filter((patch) => patch.op === 'append')
    expect(appended.map((patch) => patch.text)).toEqual(['x', 'y', 'z'])
  })

  test('escapes are decoded, in keys too', () => {
    expect(
      joinPatches(patchesFor('{"\\u0061\\n":"\\"\\\\\\/\\b\\t\\u00e9\\ud83d\\ude00!"}', 1)),
    ).toEqual([
      set([], {}),
      set(['a\n'], ''),
      append(['a\n'], '"\\/\b\té😀!'),
      close(['a\n']),
      close([]),
    ])
  })

  test('a pair of escapes is one character, and no text holds half of one', () => {
    const half = /^[\udc00-\udfff]|[\ud800-\udbff]$/
    for (const json of [
      '{"a":"\\ud83d\\ude00"}',
      '{"a":"\ud83d\\ude00"}',
      '{"a":"\\ud83d\ude00"}',
      '{"a":"😀"}',
    ]) {
      for (const patch of patchesFor(json, 1)) {
        if (patch.op === 'append') expect(patch.text).not.toMatch(half)
      }
    }
  })

  test('a repeated key is set again', () => {
    const patches = patchesFor('{"a":{"b":1},"a":"x"}')
    expect(foldPatches(patches)).toEqual({ a: 'x' })
    expect(patches.filter((patch) => patch.op === 'set' && patch.path.length === 1)).toHaveLength(2)
  })

  test('keys of the prototype become own keys', () => {
    const folded = foldPatches(patchesFor('{"__proto__":{"x":1},"constructor":2}'))
    expect(Object.keys(folded as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(folded)).toBe(Object.prototype)
  })

  test('a call without arguments is an empty object', () => {
    for (const source of [
      '<tool_call>{"name":"f"}</tool_call>',
      '<tool_call name="f"></tool_call>',
    ]) {
      const { events } = drive([source], { patches: true })
      expect(foldPatches(patchesOf(events))).toEqual({})
    }
  })

  test('arguments before the name have them, too', () => {
    const source = '<tool_call>{"arguments":{"a":[1,"x"]},"name":"f"}</tool_call>'
    for (const size of [1, 5, 1_000]) {
      const { events } = drive(chunked(source, size), { patches: true })
      expect(foldPatches(patchesOf(events))).toEqual({ a: [1, 'x'] })
    }
  })

  test('there are none unless they are asked for', () => {
    const { events } = drive([callWith('{"a":"x"}')])
    for (const event of events) expect(event).not.toHaveProperty('patches')
  })
})

describe('how patches behave', () => {
  test('they fold to the input, whatever the cuts', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 30 })
    fc.assert(
      fc.property(jsonObject, cuts, (json, places) => {
        const { events } = drive(cutAt(callWith(json), places), { patches: true })
        expect(foldPatches(patchesOf(events))).toEqual(JSON.parse(json))
        expect(joinPatches(patchesOf(events))).toEqual(joinPatches(patchesFor(json)))
      }),
    )
  })

  test('each delta carries the patches of its own characters', () => {
    fc.assert(
      fc.property(jsonObject, (json) => {
        const { events } = drive(chunked(callWith(json), 1), { patches: true })
        let text = ''
        const patches: Patches[number][] = []
        for (const event of events) {
          if (event.type !== 'tool-call-delta') continue
          text += event.delta
          patches.push(...(event.patches ?? []))
          const opened = patches.filter((patch) => patch.op === 'set').length
          // No value is announced before its first character.
          expect(opened).toBeLessThanOrEqual(text.length)
        }
        expect(text).toBe(json)
      }),
    )
  })

  test('one path stands for one open leaf', () => {
    const { events } = drive(chunked(callWith('{"a":["xyz","uvw"]}'), 1), { patches: true })
    const paths = new Map<string, Path>()
    for (const patch of patchesOf(events)) {
      if (patch.op !== 'append') continue
      const name = JSON.stringify(patch.path)
      expect(patch.path).toBe(paths.get(name) ?? patch.path)
      paths.set(name, patch.path)
    }
    expect([...paths.keys()]).toEqual(['["a",0]', '["a",1]'])
  })

  test('a patch never changes once it was given', () => {
    const seen: [Patches[number], string][] = []
    drive(chunked(callWith('{"a":{"b":["x",{"c":[1,2]}]},"d":"y"}'), 1), {
      patches: true,
      afterChunk: ({ events }) => {
        for (const patch of patchesOf(events).slice(seen.length))
          seen.push([patch, JSON.stringify(patch)])
        for (const [patch, text] of seen) expect(JSON.stringify(patch)).toBe(text)
      },
    })
    expect(seen.length).toBeGreaterThan(10)
  })
})
