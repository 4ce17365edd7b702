/** Drives a parser over chunks and keeps all that it says; the one place where tests feed one. */
import {
  createParser,
  joinDeltas,
  type Parser,
  type ParserOptions,
  type Span,
  type StreamEvent,
} from '../src/index.ts'
import { joinPatches } from './fold.ts'

/** How a stream ends. */
export type Closing = 'end' | 'abort' | 'fail' | 'none'

export const CLOSINGS: readonly Closing[] = ['end', 'abort', 'fail']

export interface Driven {
  readonly events: StreamEvent[]
  readonly spans: Span[]
  readonly parser: Parser
}

export interface DriveOptions extends Omit<ParserOptions, 'trace'> {
  readonly closing?: Closing
  /** Called after each chunk, with what came so far and how many units were fed. */
  readonly afterChunk?: (driven: Driven, fed: number) => void
}

/** Feeds the chunks, then closes the stream. */
export function drive(chunks: Iterable<string>, options: DriveOptions = {}): Driven {
  const { closing = 'end', afterChunk, ...rest } = options
  const events: StreamEvent[] = []
  const spans: Span[] = []
  let ids = 0
  const parser = createParser({
    generateId: () => `call_${ids++}`,
    trace: (span) => spans.push(span),
    ...rest,
    onEvent: (event) => events.push(event),
  })
  const driven = { events, spans, parser }
  let fed = 0
  for (const chunk of chunks) {
    parser.feed(chunk)
    fed += chunk.length
    afterChunk?.(driven, fed)
  }
  if (closing === 'end') parser.end()
  if (closing === 'abort') parser.abort()
  if (closing === 'fail') parser.fail(new Error('the source broke'))
  return driven
}

/** The events of a whole text. */
export function eventsOf(source: string, options: DriveOptions = {}): StreamEvent[] {
  return drive([source], options).events
}

/** What must not depend on the cuts: events with their deltas joined, spans of one kind joined. */
export function uncut({ events, spans }: Driven): { events: StreamEvent[]; spans: Span[] } {
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last?.kind === span.kind && last.end === span.start)
      joined[joined.length - 1] = { ...last, end: span.end }
    else joined.push(span)
  }
  return {
    events: joinDeltas(events).map((event) =>
      event.type === 'tool-call-delta' && event.patches
        ? { ...event, patches: joinPatches(event.patches) }
        : event,
    ),
    spans: joined,
  }
}

/** Pieces of `size` units. */
export function chunked(source: string, size: number): string[] {
  const chunks: string[] = []
  for (let at = 0; at < source.length; at += size) chunks.push(source.slice(at, at + size))
  return chunks
}

/** Pieces between the cuts, which may repeat and come in any order. */
export function cutAt(source: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (source.length + 1)), source.length]
  places.sort((a, b) => a - b)
  return places.slice(1).map((end, i) => source.slice(places[i], end))
}
