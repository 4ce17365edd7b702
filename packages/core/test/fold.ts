/**
 * Folds path patches into the value that they describe, as a UI would, and checks their order:
 * a value is set before it grows, and what can grow is closed once, children first.
 */
import type { JsonValue, Path, ToolCallDelta } from '../src/index.ts'

export type Patches = NonNullable<ToolCallDelta['patches']>

type Container = Record<string, unknown> | unknown[]

/** The value that the patches build; throws an `Error` at a patch that has no place. */
export function foldPatches(patches: Patches): JsonValue | undefined {
  let root: unknown
  const open: string[] = []
  for (const patch of patches) {
    const name = JSON.stringify(patch.path)
    const must = (holds: boolean, rule: string): void => {
      if (!holds) throw new Error(`patch ${JSON.stringify(patch)}: ${rule}`)
    }
    if (patch.op === 'set') {
      const parent = patch.path.slice(0, -1)
      if (patch.path.length > 0) must(open.at(-1) === JSON.stringify(parent), 'its parent is open')
      else must(open.length === 0, 'the root is set first')
      must(!isFilled(patch.value), 'strings and containers are set empty')
      root = put(root, patch.path, structuredClone(patch.value))
      if (typeof patch.value === 'string' || isContainer(patch.value)) open.push(name)
    } else {
      must(open.at(-1) === name, 'its value is the innermost open one')
      if (patch.op === 'close') open.pop()
      else {
        must(patch.text !== '', 'no text is empty')
        root = put(root, patch.path, String(get(root, patch.path)) + patch.text)
      }
    }
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(' ')}`)
  return root as JsonValue | undefined
}

/** Joins what a cut separates: neighbouring appends to one string. */
export function joinPatches(patches: Patches): Patches {
  const joined: Patches[number][] = []
  for (const patch of patches) {
    const last = joined.at(-1)
    if (last?.op === 'append' && patch.op === 'append')
      joined[joined.length - 1] = { ...last, text: last.text + patch.text }
    else joined.push(patch)
  }
  return joined
}

function put(root: unknown, path: Path, value: unknown): unknown {
  const key = path.at(-1)
  if (key === undefined) return value
  const parent = get(root, path.slice(0, -1)) as Container
  // `__proto__` has to become an own key.
  Object.defineProperty(parent, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
  return root
}

function get(root: unknown, path: Path): unknown {
  let value = root
  for (const key of path) {
    const own = Object.getOwnPropertyDescriptor(value, key)
    if (!own) throw new Error(`nothing stands at ${JSON.stringify(path)}`)
    value = own.value
  }
  return value
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return isContainer(value) && Object.keys(value).length > 0
}
