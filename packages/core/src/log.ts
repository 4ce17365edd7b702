/**
 * One line per event: what fixtures hold, the CLI prints and a bug report quotes.
 *
 * Neighbouring deltas of one part are joined, so the lines of an input are the same for every way
 * to cut it. Ids are left out, since a parser makes them up.
 */
import type { StreamEvent } from './events.ts'

/** Lines of whole events, deltas of one part joined. */
export function log(events: Iterable<StreamEvent>): string[] {
  return joinDeltas(events).map(logLine)
}

/** One event as a line. */
export function logLine(event: StreamEvent): string {
  switch (event.type) {
    case 'stream-start':
      return words('stream-start', event.id, event.model)
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
      return `${event.type} ${event.index}${tail(event)}`
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      return `${event.type} ${event.index} ${JSON.stringify(event.delta)}`
    case 'tool-call-start':
      return words(event.type, event.index, event.name, event.server && 'server', event.encoding)
    case 'tool-call-end':
      return (
        words(event.type, event.index, event.server && 'server') +
        (event.repairs?.length ? ` repairs=${event.repairs.join(',')}` : '') +
        tail(event)
      )
    case 'tool-call-error':
      return (
        words(event.type, event.index, event.code, event.name) +
        (event.offset === undefined ? '' : ` @${event.offset}`) +
        (event.raw === undefined ? '' : ` raw=${JSON.stringify(event.raw)}`)
      )
    case 'part':
      return words('part', event.index, event.kind, event.id, JSON.stringify(event.value))
    case 'warning':
      return (
        words('warning', event.code, event.name) +
        (event.start === undefined ? '' : ` @${event.start}-${event.end ?? event.start}`)
      )
    case 'error':
      return words('error', event.code, event.rawCode, JSON.stringify(event.message))
    case 'finish':
      return words('finish', event.reason, event.rawReason) + usage(event.usage)
  }
}

/** Joins neighbouring deltas of one part (and their patches), however the input was cut. */
export function joinDeltas(events: Iterable<StreamEvent>): StreamEvent[] {
  const joined: StreamEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (
      last &&
      'delta' in last &&
      'delta' in event &&
      last.type === event.type &&
      last.index === event.index
    ) {
      joined[joined.length - 1] = {
        ...last,
        delta: last.delta + event.delta,
        ...('patches' in last &&
          'patches' in event && { patches: [...(last.patches ?? []), ...(event.patches ?? [])] }),
      } as StreamEvent
    } else joined.push(event)
  }
  return joined
}

function words(...parts: readonly unknown[]): string {
  return parts.filter((part) => part !== undefined && part !== false).join(' ')
}

function tail(event: object): string {
  return 'metadata' in event ? ` ${JSON.stringify(event.metadata)}` : ''
}

function usage(counts: object | undefined): string {
  return counts ? ` ${JSON.stringify(counts)}` : ''
}
