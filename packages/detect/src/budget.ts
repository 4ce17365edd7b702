/**
 * What a template may cost. A template is a program of whoever made the model, and can loop, nest
 * and double without end. So all work is paid for in one currency, the unit: a step has its price,
 * and so has a value, by its size, each time it is looked at. A unit stands for some tens of
 * nanoseconds. Loops, recursion and growth all run out of units.
 */
import type { Value } from './engine.ts'

/** Characters that a template's source may have. */
export const MAX_TEMPLATE = 262_144
/** White space in one place; the engine's search of a longer run takes the square of its length. */
export const MAX_BLANKS = 1_024
/** Units of one value: characters and items, each as often as it occurs in it. */
export const MAX_VALUE = 262_144
/** How deep lists and objects may nest. */
const MAX_DEPTH = 64
/** Units of one detection, all renderings together. */
const MAX_UNITS = 16_777_216

/** A template went past a limit. */
export class LimitError extends Error {}

export class Budget {
  private left = MAX_UNITS

  spend(units: number): void {
    this.left -= units
    if (this.left < 0) throw new LimitError('The template takes too many steps.')
  }
}

/** Units of a value. Throws `LimitError` past `MAX_VALUE`, so that a value in itself ends, too. */
export function sizeOf(value: unknown): number {
  let size = 0
  const visit = (content: unknown, depth: number): void => {
    size += typeof content === 'string' ? content.length + 1 : 1
    if (size > MAX_VALUE) throw new LimitError('The template makes a value that is too large.')
    if (typeof content !== 'object' || content === null) return
    if (depth > MAX_DEPTH) throw new LimitError('The template nests values too deep.')
    if (Array.isArray(content)) for (const item of content) visit(valueOf(item), depth + 1)
    if (!(content instanceof Map)) return
    for (const [key, item] of content) {
      size += String(key).length
      visit(valueOf(item), depth + 1)
    }
  }
  visit(value, 0)
  return size
}

function valueOf(item: unknown): unknown {
  return (item as Value | undefined)?.value
}
