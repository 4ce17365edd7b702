/**
 * Turns value tokens into path patches, and folds patches back into a value.
 *
 * Every open leaf has one path array, shared by all its patches, so a delta costs the same however
 * large the arguments are.
 */
import type { JsonValue, Patch, Path } from './events.ts'

export class PatchWriter {
  private readonly steps: (string | number)[] = []
  private readonly open: Path[] = []
  private pending: Patch[] = []

  clear(): void {
    this.steps.length = 0
    this.open.length = 0
    this.pending = []
  }

  enter(step: string | number): void {
    this.steps.push(step)
  }

  leave(): void {
    this.steps.pop()
  }

  set(value: JsonValue): void {
    const path = [...this.steps]
    this.pending.push({ op: 'set', path, value })
    if (value === '' || (typeof value === 'object' && value !== null)) this.open.push(path)
  }

  append(text: string): void {
    const path = this.open.at(-1)!
    const last = this.pending.at(-1)
    if (last?.op === 'append' && last.path === path) {
      this.pending[this.pending.length - 1] = { op: 'append', path, text: last.text + text }
    } else this.pending.push({ op: 'append', path, text })
  }

  close(): void {
    this.pending.push({ op: 'close', path: this.open.pop()! })
  }

  /** The patches since the last take. */
  take(): readonly Patch[] {
    const taken = this.pending
    this.pending = []
    return taken
  }
}

/**
 * Folds patches into the value so far, in place, and returns it. Start with `undefined`.
 *
 * A key that comes again replaces the value, as in JSON. `__proto__` becomes an own key.
 */
export function applyPatches(value: unknown, patches: Iterable<Patch>): unknown {
  for (const patch of patches) {
    if (patch.op === 'close') continue
    const { path } = patch
    const fresh = patch.op === 'set' ? copyOf(patch.value) : undefined
    if (path.length === 0) {
      value = patch.op === 'set' ? fresh : `${value as string}${patch.text}`
      continue
    }
    let holder = value
    for (let at = 0; at < path.length - 1; at++) holder = own(holder, path[at]!)
    const step = path[path.length - 1]!
    const next = patch.op === 'set' ? fresh : `${own(holder, step) as string}${patch.text}`
    Object.defineProperty(holder, step, {
      value: next,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return value
}

function own(holder: unknown, step: string | number): unknown {
  return Object.getOwnPropertyDescriptor(holder, step)?.value
}

/** `set` brings empty containers; the fold must not write into the patch's own. */
function copyOf(value: JsonValue): unknown {
  return Array.isArray(value) ? [] : typeof value === 'object' && value !== null ? {} : value
}
