/**
 * The promises of the protocol, held against one case: each check throws a `BrokenPromise`.
 *
 * The cuts come from the text alone, so a case breaks again when it is tried again. What is right is
 * not known here: the machine is held against itself.
 */
import { random, randomCuts, type Random } from '@talaria/fixtures'
import { collect, DEFAULT_LIMITS, joinDeltas, log, PRESETS } from '../src/index.ts'
import type { MarkerNote } from '../src/options.ts'
import type { StreamEvent } from '../src/index.ts'
import { chunked, CLOSINGS, drive, uncut } from '../test/drive.ts'
import type { Driven, DriveOptions } from '../test/drive.ts'
import { verifyGrammar } from '../test/grammar.ts'
import { attempt, BrokenPromise, must, same } from './broken.ts'
import type { Case, CaseOptions } from './cases.ts'

export interface VerifyOptions {
  /** `all`: every cut in two and every prefix; `little`: whole and unit by unit. */
  readonly effort?: 'little' | 'some' | 'all'
  /** Wraps what is to steer the fuzzer: the two runs that reach all of the machine. */
  readonly record?: <T>(act: () => T) => T
}

/** Prefixes that are tried of a text when it is not tried thoroughly. */
const PREFIXES = 2
/** Promise 8: looks at each unit, events for each, and room beside both. */
const LOOKS = 3
/** Calls at the end of reasoning are read ahead, and again once they count. */
const LOOKS_AHEAD = 6
const EVENTS = 2
const CONSTANT = 64
/** What `defineDialect` and `tagAliases` take. */
const LONGEST_MARKER = 64

/** Throws a `BrokenPromise` for the first promise that the case breaks. */
export function verify(
  { source, options }: Case,
  { effort = 'some', record = (act) => act() }: VerifyOptions = {},
): void {
  const next = random(hash(source))
  const whole = driven([source], options)
  const units = chunked(source, 1)
  const alone = record(() => {
    driven([source], options)
    return driven(units, options)
  })
  verifyRun(source, options, whole)
  verifyRun(source, options, alone)
  same('split-free', uncut(alone), uncut(whole), 'unit by unit')
  verifyUntraced(source, options, whole)
  verifyNotes(source, options, whole)
  verifyCalls(source, options, whole.events)
  verifyWork(source, options, whole)
  verifyWork(source, options, alone)
  if (effort === 'little') return
  for (const chunks of cuttings(source, effort === 'all', next)) {
    const cut = driven(chunks, options)
    same('split-free', uncut(cut), uncut(whole), `cut as ${JSON.stringify(chunks)}`)
  }
  verifyHeld(source, options, whole, units)
  verifyBoundaries(source, options, next)
  verifyReset(source, options, whole, below(source.length + 1, next))
  for (const end of prefixes(source, effort === 'all', next))
    verifyPrefix(source, end, options, whole)
}

/** `drive`, with what it throws as a broken promise. */
function driven(chunks: readonly string[], options: DriveOptions): Driven {
  try {
    return drive(chunks, options)
  } catch (error) {
    if (error instanceof BrokenPromise) throw error
    throw new BrokenPromise('no-throw', (error as Error).stack ?? String(error))
  }
}

/** What holds for every run that has ended, whatever the cuts. */
function verifyRun(source: string, options: CaseOptions, run: Driven): void {
  attempt('grammar', () => verifyGrammar(run.events))
  verifySpans(source, options, run)
  attempt('no-throw', () => log(run.events))
  const vague = run.events.find((event) => Object.values(event).includes(undefined))
  same('grammar', vague, undefined, 'an event with a field that says nothing')
  if (options.tools?.length === 0 || options.toolChoice === 'none') {
    const calls = run.events.filter((event) => event.type.startsWith('tool-call-'))
    same('nothing-invented', calls, [], 'tools are off')
  }
}

function verifyWork(
  source: string,
  { callsInReasoning }: CaseOptions,
  { parser, events }: Driven,
): void {
  const { length } = source
  const { visited } = parser
  const looks = callsInReasoning === 'at-end' ? LOOKS_AHEAD : LOOKS
  must('linear', visited <= looks * length + CONSTANT, `visited ${visited} of ${length}`)
  must(
    'linear',
    events.length <= EVENTS * length + CONSTANT,
    `${events.length} events of ${length}`,
  )
}

/** Spans tile the text, and prose is what its spans hold. */
function verifySpans(
  source: string,
  { failedAsText }: CaseOptions,
  { events, spans }: Driven,
): void {
  let end = 0
  for (const span of spans) {
    must('nothing-lost', span.start === end, `a span starts at ${span.start}, not at ${end}`)
    must('nothing-lost', span.end > span.start, `a span at ${span.start} holds nothing`)
    end = span.end
  }
  same('nothing-lost', end, source.length, 'the end of the last span')
  for (const kind of ['text', 'reasoning'] as const) {
    // What failed is the call's, and shown as prose as well.
    if (failedAsText) continue
    const owned = spans.filter((span) => span.kind === kind)
    const text = owned.map((span) => source.slice(span.start, span.end)).join('')
    same('nothing-lost', prose(events, kind), text, `${kind} and its spans`)
  }
}

/** Without `trace` the machine takes short cuts; they must not show. */
function verifyUntraced(source: string, options: CaseOptions, whole: Driven): void {
  const untraced = { ...options, trace: undefined } as DriveOptions
  const expected = uncut(whole).events
  for (const chunks of [[source], chunked(source, 1), randomCuts(source, hash(source))]) {
    const { events } = uncut(driven(chunks, untraced))
    same('split-free', events, expected, `not traced, cut as ${JSON.stringify(chunks)}`)
  }
}

/** What `explain` is told depends on no cut, and that it is told changes nothing. */
function verifyNotes(source: string, options: CaseOptions, whole: Driven): void {
  const explained = (chunks: readonly string[]): readonly MarkerNote[] => {
    const notes: MarkerNote[] = []
    const run = driven(chunks, { ...options, explain: (note) => notes.push(note) })
    same('split-free', uncut(run), uncut(whole), 'explained')
    return notes
  }
  const notes = explained([source])
  same('split-free', explained(chunked(source, 1)), notes, 'notes, unit by unit')
  for (const { marker, start, end } of notes) {
    same('nothing-lost', source.slice(start, end), marker, 'a note’s marker and its place')
  }
}

/** Completed calls keep the limits, and what was not repaired is what the model wrote. */
function verifyCalls(source: string, options: CaseOptions, events: readonly StreamEvent[]): void {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const calls = events.filter((event) => event.type === 'tool-call-end')
  must('bounded', calls.length <= limits.calls, `${calls.length} calls`)
  for (const call of calls) {
    must('bounded', call.name.length <= limits.name, `a name of ${call.name.length}`)
    const { length } = call.arguments
    // A call without arguments has `{}`, whatever the limit.
    must('bounded', length <= Math.max(limits.arguments, 2), `arguments of ${length}`)
    const { repairs = [] } = call
    must('strict', !(options.strict && repairs.length > 0), `repairs: ${repairs.join(', ')}`)
    same('repairs', repairs, [...new Set(repairs)], 'each code once')
    must('repairs', call.repairs?.length !== 0, 'a list without a code')
    const verbatim = call.arguments === '{}' || source.includes(call.arguments)
    must('verbatim', verbatim || repairs.length > 0, `arguments of no repair: ${call.arguments}`)
  }
  for (const event of events) {
    if (event.type !== 'tool-call-error' || event.raw === undefined) continue
    must('bounded', event.raw.length <= limits.arguments, `raw text of ${event.raw.length}`)
    must('verbatim', source.includes(event.raw), `raw text: ${event.raw}`)
  }
  attempt('no-throw', () => collect(events))
}

/** Unit by unit, prose is out but for what the parser says that it holds. */
function verifyHeld(
  source: string,
  options: CaseOptions,
  whole: Driven,
  units: readonly string[],
): void {
  const { whitespace } = { ...DEFAULT_LIMITS, ...options.limits }
  const bounds: Readonly<Record<string, number>> = {
    none: 0,
    whitespace,
    // White space at a part's beginning is delivered with what follows it.
    marker: LONGEST_MARKER - 1 + whitespace,
  }
  const owned = new Uint8Array(source.length)
  for (const { kind, start, end } of whole.spans) {
    if (kind === 'text' || kind === 'reasoning') owned.fill(1, start, end)
  }
  let held = 0
  let counted = 0
  driven(units, {
    ...options,
    afterChunk: ({ events, parser }, fed) => {
      held += owned[fed - 1]!
      for (; counted < events.length; counted++) {
        const event = events[counted]!
        const isProse = event.type === 'text-delta' || event.type === 'reasoning-delta'
        if (isProse) held -= event.delta.length
      }
      const bound = options.failedAsText ? undefined : bounds[parser.holding ?? 'none']
      const what = `${held} held as ${parser.holding ?? 'nothing'} after ${fed} of ${source.length}`
      must('earliest', bound === undefined || held <= bound, what)
    },
  })
}

/** A boundary that the source knows may come anywhere. */
function verifyBoundaries(source: string, options: CaseOptions, next: Random): void {
  const chunks = randomCuts(source, below(1_000, next))
  const run = driven(chunks, { ...options, afterChunk: ({ parser }) => parser.cut() })
  attempt('grammar', () => verifyGrammar(run.events))
  verifySpans(source, options, run)
}

/** A parser that was reset anywhere is new. */
function verifyReset(source: string, options: CaseOptions, whole: Driven, at: number): void {
  const run = driven([source.slice(0, at)], { ...options, closing: 'none' })
  const before = run.events.length
  attempt('no-throw', () => {
    run.parser.reset()
    run.parser.feed(source)
    run.parser.end()
  })
  const again = run.events.slice(before)
  same('reset', withoutIds(again), withoutIds(whole.events), `reset after ${at}`)
  same('reset', run.parser.visited, whole.parser.visited, `visited when reset after ${at}`)
}

/** The input may end anywhere: what is out stays, everything closes, and nothing is made up. */
function verifyPrefix(source: string, end: number, options: CaseOptions, whole: Driven): void {
  const prefix = source.slice(0, end)
  const place = `after ${end} of ${source.length}`
  const open = driven([prefix], { ...options, closing: 'none' })
  attempt('grammar', () => verifyGrammar(open.events, { ended: false }))
  verifyNotTakenBack(uncut(open).events, uncut(whole).events, place)
  const alone = driven(chunked(prefix, 1), { ...options, closing: 'none' })
  same('split-free', uncut(alone), uncut(open), `${place}, unit by unit`)
  same('split-free', alone.parser.holding, open.parser.holding, `held ${place}, unit by unit`)
  for (const closing of CLOSINGS) {
    const closed = driven([prefix], { ...options, closing })
    verifyRun(prefix, options, closed)
    const made = closed.events.slice(open.events.length)
    const completed = made.filter((event) => event.type === 'tool-call-end')
    const allowed = closing === 'end' ? completed.filter((call) => mayEnd(call, options)) : []
    same('no-false-success', completed, allowed, `${closing} ${place}`)
  }
}

/** Whether the end of the input may complete the call. */
function mayEnd(
  { repairs = [] }: Extract<StreamEvent, { readonly type: 'tool-call-end' }>,
  options: CaseOptions,
): boolean {
  const { preset = '' } = options
  const { bareJson, callsInReasoning, fencedCall } = { ...PRESETS[preset]?.options, ...options }
  const held = [bareJson, fencedCall, callsInReasoning].some((option) => {
    return option !== undefined && option !== 'off'
  })
  return held || repairs.includes('missing-brace')
}

function verifyNotTakenBack(
  early: readonly StreamEvent[],
  late: readonly StreamEvent[],
  place: string,
): void {
  const last = early.at(-1)
  const counterpart = late[early.length - 1]
  const before = Math.max(0, early.length - 1)
  same('nothing-taken-back', early.slice(0, before), late.slice(0, before), place)
  if (!last || !counterpart || !('delta' in last) || !('delta' in counterpart)) {
    return same('nothing-taken-back', last, counterpart, place)
  }
  must('nothing-taken-back', counterpart.delta.startsWith(last.delta), place)
  const bare = (event: typeof last): unknown => ({ ...event, delta: '', patches: undefined })
  same('nothing-taken-back', bare(last), bare(counterpart), place)
}

function prose(events: readonly StreamEvent[], kind: 'text' | 'reasoning'): string {
  const type = kind === 'text' ? 'text-delta' : 'reasoning-delta'
  return events.map((event) => (event.type === type ? event.delta : '')).join('')
}

function withoutIds(events: readonly StreamEvent[]): unknown[] {
  return joinDeltas(events).map((event) => ('id' in event ? { ...event, id: '' } : event))
}

function cuttings(source: string, thorough: boolean, next: Random): string[][] {
  const halves = (at: number): string[] => [source.slice(0, at), source.slice(at)]
  if (thorough) return Array.from({ length: source.length }, (_, at) => halves(at))
  const seed = below(1_000, next)
  return [randomCuts(source, seed), halves(below(source.length + 1, next)), chunked(source, 7)]
}

function prefixes(source: string, thorough: boolean, next: Random): number[] {
  if (thorough) return Array.from({ length: source.length + 1 }, (_, end) => end)
  return Array.from({ length: PREFIXES }, () => below(source.length + 1, next))
}

function below(limit: number, next: Random): number {
  return Math.floor(next() * limit)
}

function hash(text: string): number {
  let sum = text.length
  for (let index = 0; index < text.length; index++) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x0100_0193)
  }
  return sum >>> 0
}
