/**
 * `parse --explain`: what was decided of each marker, and by which rule.
 *
 * What a marker is may show only at the end of the input, and what came of a call behind it. So the
 * whole text is kept, and the answer is written once it is over; in pieces, so that no string has to
 * hold all of it. Memory stays within a constant times the input.
 */
import type { MarkerNote, ParserOptions, Span } from '@talaria/core'
import type { Io } from '../io.ts'
import { ModelText } from '../model-text.ts'
import { toJson } from '../output/json.ts'
import type { Output } from '../output/output.ts'
import { type ColorChoice, createStyle, wantsColor } from '../output/style.ts'
import { type Decision, decide } from './decisions.ts'
import { Evidence } from './evidence.ts'
import { Lines } from './lines.ts'
import { Literals, literalsOf } from './literals.ts'
import { layoutOf, showDecision, showSummary } from './show.ts'

/** How much is written at once, in UTF-16 units. */
const PIECE = 64 * 1024
/** Columns where there is no terminal. */
const COLUMNS = 100

export interface Explanation extends Output {
  /** What the reader of the input is told. */
  readonly options: {
    readonly explain: (note: MarkerNote) => void
    readonly trace: (span: Span) => void
    readonly modelText: ModelText
  }
}

export interface ExplanationOptions {
  /** What the parser is told, which says what the markers are. */
  readonly reading: ParserOptions
  /** One JSON object a line. */
  readonly json: boolean
  readonly color: ColorChoice
}

export function createExplanation(io: Io, options: ExplanationOptions): Explanation {
  const evidence = new Evidence()
  const modelText = new ModelText()
  const write = options.json ? writeJson : writeLines
  let pieces: Iterator<string> | undefined
  return {
    options: {
      explain: (note) => evidence.note(note),
      trace: (span) => evidence.spans.push(span),
      modelText,
    },
    add: (event) => evidence.event(event),
    take() {
      if (evidence.reason === undefined) return ''
      pieces ??= write(evidence, modelText.toString(), io, options)
      let ready = ''
      while (ready.length < PIECE) {
        const next = pieces.next()
        if (next.done) break
        ready += next.value
      }
      return ready
    },
  }
}

function* writeLines(
  evidence: Evidence,
  text: string,
  io: Io,
  { reading, color }: ExplanationOptions,
): Generator<string> {
  const { stdout } = io
  const columns = (stdout.isTTY ? stdout.columns : undefined) ?? COLUMNS
  const style = createStyle(wantsColor(color, io))
  const decisions = decide(evidence, text, new Literals(literalsOf(reading)))
  const layout = layoutOf(decisions, text, columns)
  const lines = new Lines(text)
  for (const decision of decisions) {
    const position = decision.start === undefined ? undefined : lines.at(decision.start)
    yield showDecision(decision, position, text, layout, style)
  }
  yield showSummary(evidence, decisions, style)
}

function* writeJson(
  evidence: Evidence,
  text: string,
  _: Io,
  { reading }: ExplanationOptions,
): Generator<string> {
  const lines = new Lines(text)
  for (const decision of decide(evidence, text, new Literals(literalsOf(reading)))) {
    yield `${toJson(documentOf(decision, text, lines))}\n`
  }
}

/** A decision in the form for programs: every key always there, null where nothing stands. */
function documentOf(decision: Decision, text: string, lines: Lines): object {
  const { start, end, rule, words, calls, warnings } = decision
  const position = start === undefined ? { line: null, column: null } : lines.at(start)
  const marker = start === undefined || start === end ? null : text.slice(start, end)
  return {
    ...position,
    start: start ?? null,
    end: end ?? null,
    marker,
    rule,
    decision: words,
    calls,
    warnings: warnings.map(({ type: _, ...warning }) => warning),
  }
}
