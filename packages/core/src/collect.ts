/** Folds events into a finished message. Takes any event stream, a parser's or an adapter's. */
import type {
  Finish,
  Part,
  StreamError,
  StreamEvent,
  StreamStart,
  ToolCallEnd,
  ToolCallError,
  Warning,
} from './events.ts'
import type { Metadata } from './events.ts'

/** A completed call, as `tool-call-end` gave it. */
export type Call = Omit<ToolCallEnd, 'type'>
/** A call that must not be run, as `tool-call-error` gave it. */
export type FailedCall = Omit<ToolCallError, 'type'>

export type MessagePart =
  | {
      readonly type: 'text' | 'reasoning'
      readonly index: number
      readonly text: string
      readonly metadata?: Metadata
    }
  | ({ readonly type: 'tool-call' } & Call)
  | ({ readonly type: 'failed-call' } & FailedCall)
  | Part

export interface Message {
  readonly start?: Omit<StreamStart, 'type'>
  /** In order of `index`. */
  readonly parts: readonly MessagePart[]
  /** All text parts, joined. */
  readonly text: string
  /** All reasoning parts, joined. */
  readonly reasoning: string
  /** Completed calls that the client has to run. */
  readonly calls: readonly Call[]
  /** Completed calls that the vendor ran. */
  readonly serverCalls: readonly Call[]
  readonly failed: readonly FailedCall[]
  readonly warnings: readonly Omit<Warning, 'type'>[]
  readonly error?: Omit<StreamError, 'type'>
  readonly finish?: Omit<Finish, 'type'>
}

interface OpenText {
  readonly type: 'text' | 'reasoning'
  readonly index: number
  text: string
  metadata?: Metadata
}

/** A fold that takes events one by one, for callers that also show them. */
export interface Collector {
  add(event: StreamEvent): void
  /** The message so far; parts that have not ended hold the text that came. */
  message(): Message
}

export function createCollector(): Collector {
  const parts: (MessagePart | OpenText)[] = []
  const open = new Map<number, OpenText>()
  const warnings: Omit<Warning, 'type'>[] = []
  let start: Message['start']
  let error: Message['error']
  let finish: Message['finish']
  return {
    add(event) {
      switch (event.type) {
        case 'stream-start':
          start = untyped(event)
          return
        case 'text-start':
        case 'reasoning-start': {
          const type = event.type === 'text-start' ? 'text' : 'reasoning'
          const part: OpenText = { type, index: event.index, text: '' }
          open.set(event.index, part)
          parts.push(part)
          return
        }
        case 'text-delta':
        case 'reasoning-delta': {
          const part = open.get(event.index)
          if (part) part.text += event.delta
          return
        }
        case 'text-end':
        case 'reasoning-end': {
          const part = open.get(event.index)
          if (part && event.metadata) part.metadata = event.metadata
          open.delete(event.index)
          return
        }
        case 'tool-call-start':
        case 'tool-call-delta':
          return
        case 'tool-call-end':
          parts.push({ ...event, type: 'tool-call' })
          return
        case 'tool-call-error':
          parts.push({ ...event, type: 'failed-call' })
          return
        case 'part':
          parts.push(event)
          return
        case 'warning':
          warnings.push(untyped(event))
          return
        case 'error':
          error = untyped(event)
          return
        case 'finish':
          finish = untyped(event)
      }
    },
    message() {
      // Copies, since a text part may still grow.
      const sorted = parts.map((part) => ({ ...part })).sort((a, b) => a.index - b.index)
      const textOf = (type: string): string =>
        sorted.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
      const calls: Call[] = []
      const serverCalls: Call[] = []
      const failed: FailedCall[] = []
      for (const part of sorted) {
        if (part.type === 'tool-call') (part.server ? serverCalls : calls).push(untyped(part))
        else if (part.type === 'failed-call') failed.push(untyped(part))
      }
      return {
        ...(start && { start }),
        parts: sorted,
        text: textOf('text'),
        reasoning: textOf('reasoning'),
        calls,
        serverCalls,
        failed,
        warnings: [...warnings],
        ...(error && { error }),
        ...(finish && { finish }),
      }
    },
  }
}

/** Folds whole events into a message. */
export function collect(events: Iterable<StreamEvent>): Message {
  const collector = createCollector()
  for (const event of events) collector.add(event)
  return collector.message()
}

/** Folds an event stream into a message once it has ended. */
export async function collectAsync(events: AsyncIterable<StreamEvent>): Promise<Message> {
  const collector = createCollector()
  for await (const event of events) collector.add(event)
  return collector.message()
}

function untyped<T extends { readonly type: string }>(event: T): Omit<T, 'type'> {
  const { type: _, ...rest } = event
  return rest
}
