/**
 * Plays a recording of Talaria's own events back, one JSON object a line.
 *
 * A recording may be edited, cut or glued, and every output relies on the grammar of events. So
 * each line is checked: its fields, and whether its part is open. The first line that does not fit
 * ends the stream with an error, as a broken source does; open parts are closed all the same.
 */
import type { ErrorCode, FinishReason, StreamEvent } from '@talaria/core'

/** Takes events that came as JSON values. */
export interface Replay {
  /** `where` names the line in an error. */
  take(value: unknown, where: string): void
  end(): void
  fail(error: unknown): void
  abort(): void
}

/** Whether a value looks like an event, judged by `type` alone. */
export function isEventLike(value: unknown): value is { readonly type: string } {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  return typeof value.type === 'string' && Object.hasOwn(FIELDS, value.type)
}

export function createReplay(onEvent: (event: StreamEvent) => void): Replay {
  const open = new Map<number, StreamEvent>()
  let finished = false

  const close = (code: ErrorCode, message: string, reason: FinishReason): void => {
    for (const start of open.values()) onEvent(endOf(start, code, message))
    open.clear()
    finished = true
    onEvent({ type: 'finish', reason })
  }
  const fail = (code: string, message: string, cause?: unknown): void => {
    if (finished) return
    // The error goes before the finish, so the parts are closed first.
    for (const start of open.values()) onEvent(endOf(start, 'aborted', message))
    open.clear()
    onEvent({ type: 'error', code, message, ...(cause !== undefined && { cause }) })
    close('aborted', message, 'error')
  }

  return {
    take(value, where) {
      if (finished) return
      const problem = problemOf(value, open)
      if (problem !== undefined) return fail('malformed-recording', `${where}: ${problem}`)
      const event = value as StreamEvent
      if (isStart(event)) open.set(event.index, event)
      else if (isEnd(event)) open.delete(event.index)
      if (event.type !== 'finish') return onEvent(event)
      if (open.size > 0) {
        const parts = [...open.keys()].join(', ')
        return fail('malformed-recording', `${where}: finish, but part ${parts} has not ended`)
      }
      finished = true
      onEvent(event)
    },
    end() {
      if (!finished) close('incomplete-call', 'The recording ends inside the call.', 'interrupted')
    },
    fail(error) {
      fail('source-failed', error instanceof Error ? error.message : String(error), error)
    },
    abort() {
      if (!finished) close('aborted', 'The recording was stopped inside the call.', 'aborted')
    },
  }
}

type Field = 'string' | 'number' | 'present'

/** The fields that each event must have. */
const FIELDS: Readonly<Record<StreamEvent['type'], Readonly<Record<string, Field>>>> = {
  'stream-start': {},
  'text-start': { index: 'number' },
  'text-delta': { index: 'number', delta: 'string' },
  'text-end': { index: 'number' },
  'reasoning-start': { index: 'number' },
  'reasoning-delta': { index: 'number', delta: 'string' },
  'reasoning-end': { index: 'number' },
  'tool-call-start': { index: 'number', id: 'string', name: 'string' },
  'tool-call-delta': { index: 'number', delta: 'string' },
  'tool-call-end': {
    index: 'number',
    id: 'string',
    name: 'string',
    arguments: 'string',
    input: 'present',
  },
  'tool-call-error': { index: 'number', code: 'string', message: 'string' },
  part: { index: 'number', kind: 'string' },
  warning: { code: 'string', message: 'string' },
  error: { code: 'string', message: 'string' },
  finish: { reason: 'string' },
}

type Start = Extract<StreamEvent, { type: `${'text' | 'reasoning' | 'tool-call'}-start` }>

function isStart(event: StreamEvent): event is Start {
  return event.type.endsWith('-start') && event.type !== 'stream-start'
}

function isEnd(event: StreamEvent): event is Extract<StreamEvent, { index: number }> {
  return event.type.endsWith('-end') || event.type === 'tool-call-error'
}

/** What is wrong with a line, or undefined. */
function problemOf(value: unknown, open: ReadonlyMap<number, StreamEvent>): string | undefined {
  if (!isEventLike(value)) return 'expected an event with a known `type`'
  const event = value as StreamEvent
  const { type } = event
  const fields = new Map<string, unknown>(Object.entries(value))
  for (const [field, wanted] of Object.entries(FIELDS[type])) {
    const found = fields.get(field)
    if (wanted === 'present' ? found !== undefined : typeof found === wanted) continue
    const what = found === undefined ? 'nothing' : found === null ? 'null' : typeof found
    return `${type} needs ${field} (${wanted}), found ${what}`
  }
  if (!('index' in event) || event.type === 'part') return undefined
  const started = open.get(event.index)?.type
  if (isStart(event)) {
    return started === undefined ? undefined : `${type} ${event.index}: that part is open already`
  }
  const needed = `${type.slice(0, type.lastIndexOf('-'))}-start`
  // A call may fail before its start.
  if (started === needed || (type === 'tool-call-error' && started === undefined)) return undefined
  return `${type} ${event.index} without a ${needed} before it`
}

function endOf(start: StreamEvent, code: ErrorCode, message: string): StreamEvent {
  switch (start.type) {
    case 'text-start':
      return { type: 'text-end', index: start.index }
    case 'reasoning-start':
      return { type: 'reasoning-end', index: start.index }
    case 'tool-call-start': {
      const { index, id, name, server } = start
      return {
        type: 'tool-call-error',
        index,
        id,
        name,
        code,
        message,
        ...(server !== undefined && { server }),
      }
    }
    default:
      throw new Error(`${start.type} opens nothing`)
  }
}
