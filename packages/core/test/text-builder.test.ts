/** `TextBuilder` against joining. */
import { expect, test } from 'vitest'
import { TextBuilder } from '../src/text-builder.ts'
import { fc } from './random.ts'

test('holds all pieces in order, and knows their length', () => {
  const pieces = fc.array(fc.tuple(fc.string(), fc.constantFrom(1, 50, 2_048)))
  fc.assert(
    fc.property(pieces, fc.nat(), (all, cleared) => {
      const texts = all.map(([piece, times]) => piece.repeat(times))
      const builder = new TextBuilder()
      expect(builder.toString()).toBe('')
      for (const text of texts.slice(0, cleared % (texts.length + 1))) builder.add(text)
      builder.clear()
      expect(builder.toString()).toBe('')
      for (const text of texts) builder.add(text)
      expect(builder.toString()).toBe(texts.join(''))
      expect(builder.length).toBe(texts.join('').length)
    }),
  )
})
