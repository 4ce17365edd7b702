/** `applyPatches` folds what the parser gives into the input, a delta at a time, and in place. */
import { describe, expect, test } from 'vitest'
import { applyPatches, type Patch } from '../src/index.ts'
import { anyCuts, validStream } from './arbitraries.ts'
import { cutAt, drive } from './drive.ts'
import { fc } from './random.ts'

describe('applyPatches', () => {
  test('gives the input of every call, whatever the cuts', () => {
    fc.assert(
      fc.property(validStream, anyCuts, ({ text }, cuts) => {
        const values = new Map<number, unknown>()
        let calls = 0
        for (const event of drive(cutAt(text, cuts), { patches: true }).events) {
          if (event.type === 'tool-call-delta') {
            values.set(event.index, applyPatches(values.get(event.index), event.patches ?? []))
          } else if (event.type === 'tool-call-end') {
            expect(values.get(event.index)).toEqual(event.input)
            calls++
          }
        }
        expect(calls).toBeGreaterThan(0)
      }),
    )
  })

  test('writes into the value so far, and never into a patch', () => {
    const patches: readonly Patch[] = [
      { op: 'set', path: [], value: {} },
      { op: 'set', path: ['a'], value: [] },
      { op: 'set', path: ['a', 0], value: '' },
    ]
    const value = applyPatches(undefined, patches)
    const more: readonly Patch[] = [
      { op: 'append', path: ['a', 0], text: 'so' },
      { op: 'append', path: ['a', 0], text: ' it' },
      { op: 'close', path: ['a', 0] },
      { op: 'set', path: ['a', 1], value: null },
      { op: 'set', path: ['a', 2], value: {} },
      { op: 'set', path: ['a', 2, 'b'], value: 1.5 },
    ]
    expect(applyPatches(value, more)).toBe(value)
    expect(value).toEqual({ a: ['so it', null, { b: 1.5 }] })
    expect(patches.map((patch) => 'value' in patch && patch.value)).toEqual([{}, [], ''])
    expect(more[4]).toHaveProperty('value', {})
    expect(applyPatches(value, [])).toBe(value)
  })

  test('sets a repeated key again', () => {
    const value = applyPatches(undefined, [
      { op: 'set', path: [], value: {} },
      { op: 'set', path: ['a'], value: {} },
      { op: 'set', path: ['a', 'b'], value: 1 },
      { op: 'set', path: ['a'], value: '' },
      { op: 'append', path: ['a'], text: 'x' },
      { op: 'set', path: ['a'], value: false },
    ])
    expect(value).toEqual({ a: false })
  })

  test('makes keys of the prototype own keys, which can be changed and removed', () => {
    const value = applyPatches(undefined, [
      { op: 'set', path: [], value: {} },
      { op: 'set', path: ['__proto__'], value: {} },
      { op: 'set', path: ['__proto__', 'polluted'], value: true },
      { op: 'set', path: ['constructor'], value: '' },
      { op: 'append', path: ['constructor'], text: 'c' },
    ]) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"constructor":"c"}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    value['constructor'] = 1
    expect(value['constructor']).toBe(1)
    expect(Reflect.deleteProperty(value, '__proto__')).toBe(true)
  })

  test('a root may be any value', () => {
    const fold = (...patches: readonly Patch[]): unknown => applyPatches(undefined, patches)
    expect(fold({ op: 'set', path: [], value: 7 })).toBe(7)
    expect(fold({ op: 'set', path: [], value: [] })).toEqual([])
    expect(
      fold(
        { op: 'set', path: [], value: '' },
        { op: 'append', path: [], text: 'a' },
        { op: 'append', path: [], text: 'b' },
      ),
    ).toBe('ab')
  })
})
