/**
 * Finds out how a model's calls are to be read, by what its chat template renders: a conversation
 * with a call in it is rendered, and the dialect that reads the call back is the answer. No word
 * in the template counts, so what it merely tells the model about does not mislead.
 */
import { DIALECTS, MisuseError, markersOf, parseMessage } from '@talaria/core'
import { Budget } from './budget.ts'
import type {
  ChatTemplate,
  DetectOptions,
  DetectedOptions,
  Detection,
  NamedTemplate,
  SpecialToken,
  Undetected,
} from './detection.ts'
import { differenceOf, firstToken, lastToken } from './pieces.ts'
import {
  type Form,
  type Turn,
  ANSWER,
  FORMS,
  THOUGHT,
  conversation,
  holdsCall,
  readsCall,
} from './probe.ts'
import { type Failure, type Rendering, readTemplate } from './template.ts'

/** Characters of rendered text that an answer shows. */
const MAX_SHOWN = 2_000
/** Stands for an end-of-sequence token that the caller did not name. */
const UNKNOWN_END = '<|zq-end|>'

/** Renders the conversation whose last turn is this; without one, the prompt for an answer. */
type Say = (form: Form, turn?: Turn) => Rendering

/** A call as one dialect reads it. */
interface Reading {
  readonly dialect: string
  readonly text: string
  /** The end token behind the call. */
  readonly end: string | undefined
}

/** What trying all forms has shown. */
interface Trial {
  /** The form that the template took best. */
  readonly form: Form
  readonly reading?: Reading | undefined
  /** A call in a notation that no dialect reads. */
  readonly rendered?: string | undefined
  /** Why there is no call. Absent if the template just leaves calls out. */
  readonly failure?: Failure | undefined
}

/**
 * The dialect of a chat template, options that fit it, and its end-of-turn tokens. Never throws
 * for a template, and takes a bounded time for any. Throws `MisuseError` for options that can't be.
 */
export function detectDialect(
  chatTemplate: ChatTemplate | null | undefined,
  options: DetectOptions = {},
): Detection {
  const variables = variablesOf(options)
  const source = chosen(chatTemplate)
  if (source === undefined) return nothing('no-template', 'There is no chat template.')
  const render = readTemplate(source, new Budget())
  if (typeof render !== 'function') return failed(render)

  const say: Say = (form, turn) => render({ ...variables, ...conversation(form, turn) })
  const trial = tryForms(say)
  const { reading, rendered, failure } = trial
  const behaviour = behaviourOf(say, trial)
  if (reading) {
    const { dialect, text } = reading
    return { found: true, dialect, ...behaviour, evidence: shown(text) }
  }
  if (rendered !== undefined) {
    const message = 'The template renders calls in a notation that is not read.'
    const piece = shown(rendered)
    return { ...nothing('unread-notation', message), ...behaviour, rendered: piece }
  }
  if (failure) return { ...failed(failure), ...behaviour }
  return { ...nothing('no-call', 'The template renders no tool call.'), ...behaviour }
}

function tryForms(say: Say): Trial {
  let best: Trial | undefined
  let silent: Form | undefined
  let failure: Failure | undefined
  for (const form of FORMS) {
    const called = say(form, { call: true })
    if (typeof called !== 'string') {
      // What is left of the budget is not enough to find out more.
      if (called.reason === 'limit') return { form: silent ?? form, failure: called }
      failure ??= called
      continue
    }
    silent ??= form
    const plain = say(form, {})
    const piece = differenceOf(typeof plain === 'string' ? plain : '', called)
    if (!holdsCall(piece)) continue
    const reading = readingOf(piece)
    if (reading) return { form, reading }
    best ??= { form, rendered: piece }
  }
  if (best) return best
  return silent ? { form: silent } : { form: FORMS[0]!, failure }
}

/** How the first dialect that can reads a piece: without the token that ends the turn, or whole. */
function readingOf(piece: string): Reading | undefined {
  for (const dialect of DIALECTS) {
    const token = lastToken(piece)
    if (token !== undefined && !markersOf(dialect).includes(token)) {
      const text = piece.slice(0, piece.lastIndexOf(token))
      if (readsCall(text, { dialect })) return { dialect, text, end: token }
    }
    if (readsCall(piece, { dialect })) return { dialect, text: piece, end: undefined }
  }
  return undefined
}

interface Behaviour {
  readonly options: DetectedOptions
  readonly reasoning: boolean
  readonly endTokens: readonly string[]
}

/** All that holds for a template whether or not its calls are read. */
function behaviourOf(say: Say, { form, reading }: Trial): Behaviour {
  const prompt = say(form)
  const thinking = [say(form, { reasoning: true }), say(form, { reasoning: true, call: true })]
  const names = reading
    ? [reading.dialect, ...DIALECTS.filter((name) => name !== reading.dialect)]
    : DIALECTS
  const opensIn = names.find((dialect) => endsInReasoning(prompt, dialect))
  const thinksIn =
    opensIn ?? names.find((dialect) => thinking.some((text) => showsReasoning(text, dialect)))
  const opensCall = !opensIn && reading !== undefined && endsInCall(prompt, reading)
  const startIn = opensIn ? 'reasoning' : opensCall ? 'call' : undefined
  return {
    options: {
      ...(reading && { dialect: together(reading.dialect, thinksIn) }),
      ...(startIn && { startIn }),
    },
    reasoning: thinksIn !== undefined,
    endTokens: endTokensOf(say(form, {}), reading),
  }
}

function together(dialect: string, other: string | undefined): string | readonly string[] {
  return other === undefined || other === dialect ? dialect : [dialect, other]
}

/** The marker of a dialect that a prompt ends in, white space aside. */
function markerAtEnd(prompt: Rendering, dialect: string): string | undefined {
  if (typeof prompt !== 'string') return undefined
  const text = prompt.trimEnd()
  return markersOf(dialect).find((marker) => text.endsWith(marker))
}

function endsInReasoning(prompt: Rendering, dialect: string): boolean {
  const marker = markerAtEnd(prompt, dialect)
  return marker !== undefined && readsAsReasoning(`${marker}\n${ANSWER}`, ANSWER, dialect)
}

function endsInCall(prompt: Rendering, { dialect, text }: Reading): boolean {
  const marker = markerAtEnd(prompt, dialect)
  if (marker === undefined || !text.includes(marker)) return false
  const rest = text.slice(text.indexOf(marker) + marker.length)
  return readsCall(rest, { dialect, startIn: 'call' })
}

/** Whether a thought stands in a dialect's reasoning, read from the last marker before it on. */
function showsReasoning(text: Rendering, dialect: string): boolean {
  if (typeof text !== 'string') return false
  const at = text.indexOf(THOUGHT)
  if (at < 0) return false
  const before = text.slice(0, at)
  const start = Math.max(...markersOf(dialect).map((marker) => before.lastIndexOf(marker)))
  return start >= 0 && readsAsReasoning(text.slice(start), THOUGHT, dialect)
}

function readsAsReasoning(text: string, words: string, dialect: string): boolean {
  const message = parseMessage(text, { dialect })
  return message.reasoning.includes(words) && !message.text.includes(words)
}

/** What follows an answer, then what follows a call if that is something else. */
function endTokensOf(plain: Rendering, reading: Reading | undefined): readonly string[] {
  const at = typeof plain === 'string' ? plain.lastIndexOf(ANSWER) : -1
  const token = at < 0 ? undefined : firstToken((plain as string).slice(at + ANSWER.length))
  const tokens = new Set([token, reading?.end])
  return [...tokens].filter((one) => one !== undefined && one !== UNKNOWN_END) as string[]
}

/** The template that a caller means. */
function chosen(chatTemplate: ChatTemplate | null | undefined): string | undefined {
  if (typeof chatTemplate === 'string') return chatTemplate === '' ? undefined : chatTemplate
  if (!Array.isArray(chatTemplate)) return undefined
  const templates = (chatTemplate as readonly (NamedTemplate | undefined)[]).filter(
    (one) => typeof one?.template === 'string',
  ) as readonly NamedTemplate[]
  const named = (name: string): NamedTemplate | undefined =>
    templates.find((one) => one.name === name)
  return (named('tool_use') ?? named('default') ?? templates[0])?.template
}

function failed({ reason, message, line }: Failure): Undetected {
  const where = line === undefined ? '' : ` in line ${line}`
  const words = {
    syntax: `The template can't be read${where}`,
    raised: `The template refuses the conversation${where}`,
    failed: `The template fails${where}`,
    limit: `The template goes past a limit${where}`,
  }[reason]
  const full = message === '' ? `${words}.` : `${words}: ${shown(message)}`
  return { ...nothing(reason, full), ...(line !== undefined && { line }) }
}

function nothing(reason: Undetected['reason'], message: string): Undetected {
  return { found: false, reason, message, options: {}, reasoning: false, endTokens: [] }
}

function shown(text: string): string {
  const trimmed = text.replaceAll(UNKNOWN_END, '').trim()
  return trimmed.length > MAX_SHOWN ? `${trimmed.slice(0, MAX_SHOWN)}…` : trimmed
}

function variablesOf(options: DetectOptions): Record<string, unknown> {
  const { variables, bosToken, eosToken, ...others } = objectOf(options, 'the options')
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new MisuseError('unknown-option', `Unknown option “${unknown}”.`)
  return {
    pad_token: '',
    unk_token: '',
    ...objectOf(variables ?? {}, '`variables`'),
    bos_token: tokenOf(bosToken, 'bosToken') ?? '',
    eos_token: tokenOf(eosToken, 'eosToken') ?? UNKNOWN_END,
  }
}

function objectOf<T extends object>(value: T, name: string): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new MisuseError('invalid-option', `Expected an object in ${name}.`)
}

function tokenOf(token: SpecialToken | null | undefined, name: string): string | undefined {
  if (token === undefined || token === null) return undefined
  const text: unknown = typeof token === 'object' ? token.content : token
  if (typeof text === 'string') return text
  throw new MisuseError('invalid-option', `Expected a token's text in \`${name}\`.`)
}
