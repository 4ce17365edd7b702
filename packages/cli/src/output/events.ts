/** One event a line, as JSON. */
import type { StreamEvent } from '@talaria/core'
import type { Output } from './output.ts'
import { safeJson } from './visible.ts'

export function createEventsOutput(): Output {
  let lines = ''
  return {
    add(event) {
      lines += `${toJson(event)}\n`
    },
    take() {
      const ready = lines
      lines = ''
      return ready
    },
  }
}

/** An event, or what holds some, as JSON. Errors inside are reduced to name and message. */
export function toJson(value: StreamEvent | object, indent?: number): string {
  const json = JSON.stringify(
    value,
    (_key, inner: unknown) =>
      inner instanceof Error ? { name: inner.name, message: inner.message } : inner,
    indent,
  )
  return safeJson(json)
}
