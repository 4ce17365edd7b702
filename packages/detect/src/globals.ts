/**
 * What chat templates call beside their own macros, as Transformers offers it. The clock stands
 * still: what a template renders depends on nothing but the template.
 */
import { LimitError } from './budget.ts'

/** Items that `range` makes at most. */
const MAX_RANGE = 16_384

/** The template itself refused the conversation, with these words. */
export class RaisedError extends Error {}

/** Wednesday, 1 January 2025, 12:00. */
const DATE: Readonly<Record<string, string>> = {
  Y: '2025',
  y: '25',
  m: '01',
  B: 'January',
  b: 'Jan',
  d: '01',
  j: '001',
  A: 'Wednesday',
  a: 'Wed',
  H: '12',
  I: '12',
  M: '00',
  S: '00',
  p: 'PM',
  Z: 'UTC',
  z: '+0000',
  '%': '%',
}

export const GLOBALS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception(message: unknown): never {
    throw new RaisedError(typeof message === 'string' ? message : '')
  },
  strftime_now(format: unknown): string {
    return String(format).replace(/%-?([A-Za-z%])/g, (code, letter: string) => DATE[letter] ?? code)
  },
  range,
}

function range(first: unknown, last?: unknown, step: unknown = 1): number[] {
  const [start, stop] = last === undefined ? [0, first] : [first, last]
  if (![start, stop, step].every(Number.isInteger) || step === 0)
    throw new Error('range() takes whole numbers and a step that is not 0.')
  const [from, by] = [start as number, step as number]
  const count = Math.max(0, Math.ceil(((stop as number) - from) / by))
  if (count > MAX_RANGE) throw new LimitError('“range” makes too many items.')
  return Array.from({ length: count }, (_, nth) => from + nth * by)
}
