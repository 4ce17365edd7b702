/** The whole answer as one JSON document, once it is over. */
import { createCollector } from '@talaria/core'
import { toJson } from './json.ts'
import type { Output } from './output.ts'

export function createMessageOutput(): Output {
  const collector = createCollector()
  let ready = ''
  return {
    add(event) {
      collector.add(event)
      if (event.type !== 'finish') return
      const { start, parts, error, ...message } = collector.message()
      // What most readers want comes first; the parts repeat it in their order.
      const document = { ...(start && { start }), ...message, ...(error && { error }), parts }
      ready = `${toJson(document, 2)}\n`
    },
    take() {
      const text = ready
      ready = ''
      return text
    },
  }
}
