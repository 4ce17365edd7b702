/**
 * Puts the evidence in the order of the text: one decision per marker, and with it the calls and
 * warnings that concern it.
 *
 * The machine's own notes come first. A marker that it never looked at stands inside something
 * opaque, and whose it is the spans say. What concerns no marker (a call object without one) gets
 * an entry of its own where it stands. Every list is walked once, so the cost is linear.
 */
import { type MarkerNote, RULES, type Span, type SpanKind, type Warning } from '@talaria/core'
import type { CallOutcome, Evidence, KnownCall } from './evidence.ts'
import type { Literals } from './literals.ts'

/** What was decided of one marker, and what came of it. */
export interface Decision {
  /** Offsets in UTF-16 units; `end` is `start` where no marker stands. Undefined: nowhere. */
  readonly start: number | undefined
  readonly end: number | undefined
  /** Kebab-case: a rule of the parser's, or one of `OWNERS`. */
  readonly rule: string
  /** The rule in words. */
  readonly words: string
  readonly calls: CallOutcome[]
  readonly warnings: Warning[]
}

interface Rule {
  readonly rule: string
  readonly words: string
}

/** By owner of the span: what a marker is that the machine did not look at. */
const OWNERS: Readonly<Record<SpanKind, Rule>> = {
  call: {
    rule: 'in-string',
    words: 'It stands inside a string (or a comment) of the arguments, so it is data.',
  },
  text: { rule: 'text', words: 'It opens and closes nothing where it stands, so it is text.' },
  reasoning: { rule: 'in-reasoning', words: RULES['in-reasoning'] },
  discarded: { rule: 'failed-call', words: RULES['failed-call'] },
  marker: { rule: 'in-marker', words: 'It belongs to a marker that was read.' },
  layout: { rule: 'layout', words: 'It stands between the parts and was skipped.' },
}

const BEHIND_END: Rule = { rule: 'behind-end', words: 'It stands behind the end of the answer.' }
const NO_MARKER: Rule = { rule: 'no-marker', words: 'No marker stands here.' }
const TOLD_APART: Rule = {
  rule: 'told-apart',
  words: 'The server told the call apart, so no marker stands in the text.',
}

/** Warnings about the tag of the call before them. */
const ABOUT_BEFORE: ReadonlySet<string> = new Set([
  'unclosed-tag',
  'trailing-text',
  'surplus-closer',
])

/** All decisions, in order of their offsets. */
export function decide(evidence: Evidence, text: string, literals: Literals): Decision[] {
  const decisions = decideMarkers(evidence, text, literals)
  const index = new Index(decisions)
  const extra: Decision[] = []
  const homes = addCalls(evidence, index, extra)
  const concerned = finderOf(index)
  for (const { warning, call } of evidence.warnings) {
    const found = (call && homes.get(call)) ?? concerned(warning)
    if (found) found.warnings.push(warning)
    else extra.push(decision(warning.start, warning.start, NO_MARKER, [], [warning]))
  }
  if (extra.length === 0) return decisions
  return merge(decisions, joinPlaces(extra))
}

// -------------------------------------------------------------------- markers

function decideMarkers(evidence: Evidence, text: string, literals: Literals): Decision[] {
  const spans = new Spans(evidence)
  const decisions: Decision[] = []
  let reached = 0
  /** Markers up to `stop` that the machine did not look at. */
  const fill = (stop: number): void => {
    for (let place = ahead(reached); place && place.start < stop; place = ahead(place.end)) {
      // A marker that was read cuts off what only looks like one.
      const end = Math.min(place.end, stop)
      decisions.push(decision(place.start, end, spans.ownerOf(place.start)))
      reached = end
    }
  }
  let found = literals.next(text, 0)
  const ahead = (from: number): typeof found => {
    while (found && found.start < from) found = literals.next(text, from)
    return found
  }
  for (const { start, end, rule } of inOrder(evidence.notes)) {
    if (start < reached) continue
    fill(start)
    const written = Math.max(end, literals.endAt(text, start) ?? 0)
    const size = text.slice(start, written).trimEnd().length
    reached = start + size
    decisions.push(decision(start, reached, { rule, words: RULES[rule] }))
  }
  fill(Infinity)
  return decisions
}

/** The last note on each place, by offset. */
function inOrder(notes: readonly MarkerNote[]): MarkerNote[] {
  const last = new Map<number, MarkerNote>()
  for (const note of notes) last.set(note.start, note)
  return [...last.values()].sort((a, b) => a.start - b.start)
}

function decision(
  start: number | undefined,
  end: number | undefined,
  rule: Rule,
  calls: CallOutcome[] = [],
  warnings: Warning[] = [],
): Decision {
  return { start, end, ...rule, calls, warnings }
}

/** Says who owns an offset; asked in ascending order. */
class Spans {
  private readonly spans: readonly Span[]
  /** Behind what the model wrote that is not its own to write: there the answer may have ended. */
  private readonly fabricated: number
  private at = 0

  constructor({ spans, warnings }: Evidence) {
    this.spans = spans
    const last = warnings.findLast(({ warning: { code } }) => code.startsWith('fabricated-'))
    this.fabricated = last?.warning.end ?? Infinity
  }

  ownerOf(offset: number): Rule {
    const { spans } = this
    while (this.at < spans.length && spans[this.at]!.end <= offset) this.at++
    const span = spans[this.at]
    // Nothing owns what came behind the last thing that was read.
    if (!span || span.start > offset) return BEHIND_END
    if (span.kind !== 'discarded' || span !== spans.at(-1)) return OWNERS[span.kind]
    const isOver = this.fabricated >= span.start && this.fabricated <= offset
    return isOver ? BEHIND_END : OWNERS.discarded
  }
}

// -------------------------------------------------------------------- what concerns them

/** Finds decisions by offset. */
class Index {
  private readonly decisions: readonly Decision[]

  constructor(decisions: readonly Decision[]) {
    this.decisions = decisions
  }

  /** The last one that begins before `offset`, or at it. */
  before(offset: number): Decision | undefined {
    let low = 0
    let high = this.decisions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.decisions[middle]!.start! <= offset) low = middle + 1
      else high = middle
    }
    return this.decisions[low - 1]
  }

  /** The one that covers `offset`. */
  at(offset: number): Decision | undefined {
    const found = this.before(offset)
    return found && found.end! > offset ? found : undefined
  }

  /** Those of some rules alone. */
  of(...rules: readonly string[]): Index {
    return new Index(this.decisions.filter(({ rule }) => rules.includes(rule)))
  }
}

/** Puts each call where it belongs; gives the places. */
function addCalls(
  evidence: Evidence,
  index: Index,
  extra: Decision[],
): ReadonlyMap<KnownCall, Decision> {
  const homes = new Map<KnownCall, Decision>()
  const free = placesWithout(evidence, index)
  let taken = 0
  for (const call of evidence.calls) {
    const { opener, outcome } = call
    let home = opener === undefined ? undefined : index.before(opener)
    if (home) home.calls.push(outcome)
    else {
      // Several objects in a row may share a span.
      const start = free[taken++] ?? free.at(-1)
      home = decision(start, start, start === undefined ? TOLD_APART : NO_MARKER, [outcome])
      extra.push(home)
    }
    homes.set(call, home)
  }
  return homes
}

/** Where calls stand that no opener opened. */
function placesWithout({ spans }: Evidence, index: Index): number[] {
  const tags = index.of('call', 'closes', 'closes-late')
  return spans.flatMap(({ kind, start }) =>
    kind !== 'call' || tags.before(start)?.rule === 'call' ? [] : [start],
  )
}

/** Finds the marker that a warning is about, if no call tells. */
function finderOf(index: Index): (warning: Warning) => Decision | undefined {
  const openers = index.of('call')
  const reasoning = index.of('reasoning')
  return ({ code, start, end }) => {
    if (start === undefined) return undefined
    if (code === 'unclosed-reasoning') return reasoning.before(start)
    if (ABOUT_BEFORE.has(code)) return openers.before(start)
    // Its range begins with the tokens that end the turn.
    if (code === 'fabricated-turn') return index.at((end ?? start) - 1)
    return index.at(start)
  }
}

/** Joins entries of one place. Those that stand nowhere stay apart, at the end. */
function joinPlaces(extra: readonly Decision[]): Decision[] {
  const joined = new Map<number | Decision, Decision>()
  for (const one of extra) {
    const known = joined.get(one.start ?? one)
    if (known) {
      known.calls.push(...one.calls)
      known.warnings.push(...one.warnings)
    } else joined.set(one.start ?? one, one)
  }
  return [...joined.values()]
}

function merge(decisions: readonly Decision[], extra: readonly Decision[]): Decision[] {
  // The sort is stable: what has no marker comes behind the marker of the same place.
  return [...decisions, ...extra].sort((a, b) => (a.start ?? Infinity) - (b.start ?? Infinity) || 0)
}
