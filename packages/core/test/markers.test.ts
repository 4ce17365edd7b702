/** The automaton against its definition: a node is the longest beginning of a marker. */
import { describe, expect, test } from 'vitest'
import { MarkerAutomaton } from '../src/markers.ts'
import { fc } from './random.ts'

describe('MarkerAutomaton', () => {
  /** The longest end of what was read that begins a marker. */
  function begun(markers: readonly string[], read: string): string {
    for (let from = 0; from < read.length; from++) {
      const end = read.slice(from)
      if (markers.some((marker) => marker.startsWith(end))) return end
    }
    return ''
  }

  test('a node is the longest beginning of a marker that the text ends in', () => {
    const marker = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.uniqueArray(marker, { minLength: 1, maxLength: 5 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 30 }),
        (markers, text) => {
          const automaton = new MarkerAutomaton(markers)
          let node = 0
          for (let at = 0; at < text.length; at++) {
            node = automaton.step(node, text.charCodeAt(at))
            const held = begun(markers, text.slice(0, at + 1))
            expect(automaton.textOf(node)).toBe(held)
            expect(automaton.depth[node]).toBe(held.length)
            const ends = markers.filter((each) => held.endsWith(each))
            const longest = ends.toSorted((a, b) => b.length - a.length)[0]
            expect(markers[automaton.match[node]!]).toBe(longest)
            const longer = markers.some((each) => each !== held && each.startsWith(held))
            expect(automaton.leaf[node]).toBe(longer ? 0 : 1)
          }
          for (const letter of 'abcd') {
            const begins = markers.some((each) => each.startsWith(letter))
            expect(automaton.begins(letter.charCodeAt(0))).toBe(begins)
          }
        },
      ),
    )
  })
})
