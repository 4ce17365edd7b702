/**
 * The grammar of events, checked: parts open, grow and close, and one `finish` ends everything.
 *
 * Any stream can be held against it, a parser's or an adapter's. It keeps what is open by `index`
 * and throws at the first event that has no place there, so a fault names the event.
 */
import { deepStrictEqual } from 'node:assert'
import type { StreamEvent, ToolCallEnd, ToolCallError } from '../src/index.ts'
import { foldPatches, type Patches } from './fold.ts'

export interface GrammarOptions {
  /** Whether `finish` has come. Default true; false checks a stream that is still open. */
  readonly ended?: boolean
  /** Whether one part may begin before another has ended. Default false. */
  readonly overlap?: boolean
}

interface OpenPart {
  readonly type: 'text' | 'reasoning' | 'tool-call'
  readonly id?: string
  readonly name?: string
  readonly patches: Patches[number][]
  content: string
  lastUnit: number
}

/** Throws an `Error` that names the first event that breaks the grammar. */
export function verifyGrammar(
  events: readonly StreamEvent[],
  { ended = true, overlap = false }: GrammarOptions = {},
): void {
  const open = new Map<number, OpenPart>()
  const ids = new Set<string>()
  let parts = 0
  let completed = 0
  let place = 0
  const must = (holds: boolean, rule: string): void => {
    if (holds) return
    throw new Error(`event ${place}, ${JSON.stringify(events[place])}: ${rule}`)
  }

  const begin = (index: number, part: OpenPart): void => {
    must(index === parts++, 'parts are numbered from 0 in order of start')
    must(overlap || open.size === 0, 'a part begins after the one before has ended')
    open.set(index, part)
  }
  const opened = (index: number, type: OpenPart['type']): OpenPart => {
    const part = open.get(index)
    must(part?.type === type, `a ${type} with this index is open`)
    return part!
  }
  const grow = (index: number, type: OpenPart['type'], delta: string): OpenPart => {
    const part = opened(index, type)
    must(delta !== '', 'no delta is empty')
    const joins = isHigh(part.lastUnit) && isLow(delta.charCodeAt(0))
    must(!joins, 'no delta separates a surrogate pair')
    part.lastUnit = delta.charCodeAt(delta.length - 1)
    part.content += delta
    return part
  }
  const newId = (id: string): void => {
    must(id !== '' && !ids.has(id), 'an id is unique over the stream')
    ids.add(id)
  }
  const endCall = (event: ToolCallEnd): void => {
    const part = opened(event.index, 'tool-call')
    open.delete(event.index)
    must(part.id === event.id && part.name === event.name, 'id and name are those of the start')
    must(part.content === event.arguments, 'the deltas add up to the arguments')
    if (event.encoding !== 'text') {
      const value: unknown = JSON.parse(event.arguments)
      must(equal(value, event.input), 'input is the value of the arguments')
      if (part.patches.length > 0)
        must(equal(foldPatches(part.patches), event.input), 'the patches fold to the input')
    }
    if (!event.server) completed++
  }
  const failCall = (event: ToolCallError): void => {
    const part = open.get(event.index)
    must(event.message !== '', 'an error says what was wrong')
    if (part === undefined) {
      must(event.index === parts++, 'a call that fails before its start takes an index')
      must(overlap || open.size === 0, 'a call fails inside no other part')
      must(event.arguments === undefined, 'a call that has not started has no arguments')
      return
    }
    must(part.type === 'tool-call', 'an index belongs to one part')
    must(part.id === event.id && part.name === event.name, 'id and name are those of the start')
    must(part.content === (event.arguments ?? ''), 'the deltas add up to the arguments so far')
    open.delete(event.index)
  }

  for (const event of events) {
    const previous = events[place - 1]
    must(previous?.type !== 'finish', 'nothing follows finish')
    must(previous?.type !== 'error' || event.type === 'finish', 'finish follows an error')
    switch (event.type) {
      case 'stream-start':
        must(place === 0, 'stream-start comes first')
        break
      case 'text-start':
      case 'reasoning-start': {
        const type = event.type === 'text-start' ? 'text' : 'reasoning'
        begin(event.index, { type, patches: [], content: '', lastUnit: 0 })
        break
      }
      case 'text-delta':
        grow(event.index, 'text', event.delta)
        break
      case 'reasoning-delta':
        grow(event.index, 'reasoning', event.delta)
        break
      case 'text-end':
        opened(event.index, 'text')
        open.delete(event.index)
        break
      case 'reasoning-end':
        opened(event.index, 'reasoning')
        open.delete(event.index)
        break
      case 'tool-call-start': {
        newId(event.id)
        const { id, name } = event
        begin(event.index, { type: 'tool-call', id, name, patches: [], content: '', lastUnit: 0 })
        break
      }
      case 'tool-call-delta':
        grow(event.index, 'tool-call', event.delta).patches.push(...(event.patches ?? []))
        break
      case 'tool-call-end':
        endCall(event)
        break
      case 'tool-call-error':
        failCall(event)
        break
      case 'part':
        must(event.index === parts++, 'parts are numbered from 0 in order of start')
        break
      case 'warning':
        must(event.message !== '', 'a warning says what was seen')
        break
      case 'error':
      case 'finish':
        must(open.size === 0, `every part has ended before ${event.type}`)
        if (event.type === 'finish' && event.reason === 'tool-calls')
          must(completed > 0, 'tool-calls needs a completed call of the client')
    }
    place++
  }
  place--
  must(!ended || events.at(-1)?.type === 'finish', 'a stream ends in finish')
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function equal(actual: unknown, expected: unknown): boolean {
  try {
    deepStrictEqual(actual, expected)
    return true
  } catch {
    return false
  }
}
