/**
 * Values as JSON, without recursion.
 *
 * Arguments may be nested as deep as the parser allows, which is deeper than `JSON.stringify` can
 * follow on the stack. Deep values are not laid out either: each level would indent all rows below
 * it further, so the text would grow with the square of the depth.
 */
import { safeJson } from './visible.ts'

/** The depth from which on a value is written in one line. */
const LAID_OUT_LEVELS = 32

/** One list or object that is being written. */
interface Level {
  readonly value: object
  /** Keys of an object; undefined for a list. */
  readonly keys: readonly string[] | undefined
  readonly size: number
  next: number
  empty: boolean
}

/**
 * An event, or what holds some, as JSON. Errors inside are reduced to name and message; a value
 * that stands inside itself is null there.
 *
 * @param indent Blanks for each level; 0 writes one line.
 */
export function toJson(value: object, indent = 0): string {
  let json = ''
  const levels: Level[] = []
  const open = new Set<object>()

  /** Where a new row begins, or nothing where values are not laid out. */
  const row = (depth: number): string =>
    indent > 0 && levels.length <= LAID_OUT_LEVELS ? `\n${' '.repeat(indent * depth)}` : ''
  const begin = (container: object): void => {
    open.add(container)
    const keys = Array.isArray(container) ? undefined : Object.keys(container)
    const size = Array.isArray(container) ? container.length : (keys?.length ?? 0)
    json += keys ? '{' : '['
    levels.push({ value: container, keys, size, next: 0, empty: true })
  }

  begin(plain(value) as object)
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { keys } = level
    if (level.next === level.size) {
      const end = keys ? '}' : ']'
      json += level.empty ? end : row(levels.length - 1) + end
      open.delete(level.value)
      levels.pop()
      continue
    }
    const key = keys ? (keys[level.next] ?? '') : level.next
    level.next++
    const inner = plain((level.value as Readonly<Record<string | number, unknown>>)[key])
    const isContainer = typeof inner === 'object' && inner !== null && !open.has(inner)
    const text = isContainer ? '' : scalar(inner)
    if (text === undefined && keys) continue
    json += (level.empty ? '' : ',') + row(levels.length)
    level.empty = false
    if (keys) json += JSON.stringify(key) + (row(0) === '' ? ':' : ': ')
    if (isContainer) begin(inner)
    else json += text ?? 'null'
  }
  return safeJson(json)
}

function plain(value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message } : value
}

/** The JSON of what is no list and no object; undefined if JSON can't hold it. */
function scalar(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'object') return 'null'
  return JSON.stringify(value)
}
