/** What a slip is answered with. */
import { describe, expect, test } from 'vitest'
import { didYouMean } from '../src/names.ts'

describe('a slip', () => {
  const known = ['dialect', 'toolChoice', 'startIn']

  test.each([
    ['Dialect', 'dialect'],
    ['tool_choice', 'toolChoice'],
    ['tool', 'toolChoice'],
    ['dialects', 'dialect'],
    ['dialectName', 'dialect'],
    ['dialcet', 'dialect'],
    ['dilect', 'dialect'],
    ['xialecx', 'dialect'],
    ['start', 'startIn'],
    ['stertin', 'startIn'],
  ])('%s means %s', (name, meant) => {
    expect(didYouMean(name, known)).toBe(`: did you mean “${meant}”?`)
  })

  test.each(['', '_', 'xialxcx', 'xxxlect', 'other', 'ialecti_x'])('%j means nothing', (name) => {
    expect(didYouMean(name, known)).toBe('')
  })

  test('the first that is near enough is meant', () => {
    expect(didYouMean('ab', ['abd', 'abc'])).toBe(': did you mean “abd”?')
    expect(didYouMean('a', [])).toBe('')
  })
})
