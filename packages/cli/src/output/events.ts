/** One event a line, as JSON. */
import { toJson } from './json.ts'
import type { Output } from './output.ts'
import { safeJson } from './visible.ts'

export function createEventsOutput(): Output {
  let lines = ''
  return {
    add(event) {
      // Deltas are most of the events, and flat.
      const isFlat = 'delta' in event && !('patches' in event)
      lines += `${isFlat ? safeJson(JSON.stringify(event)) : toJson(event)}\n`
    },
    take() {
      const ready = lines
      lines = ''
      return ready
    },
  }
}
