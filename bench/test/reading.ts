/** Folds what any of the measured machines emits into what was read, the same for all of them. */
import type { Workload } from '@talaria/fixtures'
import { createMachine, type Listener, type MachineName } from '../machines.ts'

/** What a workload says of itself, and what a machine found. */
export type Reading = Pick<Workload, 'text' | 'reasoning' | 'calls' | 'failed'>

export interface Read {
  readonly reading: Reading
  /** Number of all events. */
  readonly events: number
  /** Number of pieces of text, reasoning and arguments. */
  readonly deltas: number
  /** Number of texts, reasonings and calls, failed ones included. */
  readonly parts: number
  readonly warnings: number
  /** Units looked at, where the machine counts them. */
  readonly visited: number | undefined
}

/**
 * Reads chunks with a machine. A call's arguments are its deltas, joined.
 * @throws {Error} When their value is not the one that the machine gives.
 */
export function readWith(machine: MachineName, chunks: readonly string[]): Read {
  const found = { text: '', reasoning: '', failed: 0 }
  const calls: { name: string; arguments: string }[] = []
  const counts = { events: 0, deltas: 0, parts: 0, warnings: 0 }
  let open: { name: string; arguments: string } | undefined

  const listener: Listener = (event) => {
    // A span of the trace.
    if (!('type' in event)) return
    counts.events++
    switch (event.type) {
      case 'text':
      case 'text-delta':
        counts.deltas++
        found.text += event.type === 'text' ? event.text : event.delta
        return
      case 'reasoning-delta':
        counts.deltas++
        found.reasoning += event.delta
        return
      case 'text-start':
      case 'reasoning-start':
        counts.parts++
        return
      case 'start':
      case 'tool-call-start':
        counts.parts++
        open = { name: event.name, arguments: '' }
        return
      case 'delta':
      case 'tool-call-delta':
        counts.deltas++
        open!.arguments += event.type === 'delta' ? event.text : event.delta
        return
      case 'end':
      case 'tool-call-end': {
        const value = event.type === 'end' ? event.arguments : event.input
        if (JSON.stringify(value) !== JSON.stringify(JSON.parse(open!.arguments))) {
          throw new Error(`The value of ${event.name} is not that of its deltas.`)
        }
        calls.push(open!)
        open = undefined
        return
      }
      case 'tool-call-error':
        if (!open) counts.parts++
        open = undefined
        found.failed++
        return
      case 'warning':
        counts.warnings++
        return
      default:
    }
  }

  const made = createMachine(machine, listener)
  for (const chunk of chunks) made.feed(chunk)
  made.end()
  return { reading: compared({ ...found, calls }), ...counts, visited: made.visited }
}

/** What of a reading counts: white space around text and reasoning may be layout. */
export function compared({ text, reasoning, calls, failed }: Reading): Reading {
  return { text: text.trim(), reasoning: reasoning.trim(), calls, failed }
}
