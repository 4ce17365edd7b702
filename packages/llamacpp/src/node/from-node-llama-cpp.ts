/**
 * node-llama-cpp's generation as the protocol's events.
 *
 * Tokens come from one of the engine's ways to generate, become text with their special tokens
 * visible, and go through the core parser. What the engine throws ends in `error` and `finish`,
 * an abort in `finish` with `aborted`, both at once; the stream is over when the engine has
 * stopped. Leaving it early, also while the engine is silent, stops the engine too.
 */
import {
  type Finish,
  MisuseError,
  type ParserOptions,
  type StreamEvent,
  createParser,
} from '@talaria/core'
import { unlessAborted } from '../abort.ts'
import { type Failure, isRecord } from '../failure.ts'
import { finishReason } from '../finish.ts'
import { leavable } from '../leavable.ts'
import { PartWriter } from '../parts.ts'
import { opensReasoning } from '../prompt-end.ts'
import { checkSignal, expect } from '../server-options.ts'
import { type Decoded, decode } from './decode.ts'
import type {
  NodeLlamaCompletion,
  NodeLlamaModel,
  NodeLlamaPrompt,
  NodeLlamaSequence,
  NodeLlamaSession,
  NodeLlamaToken,
} from './engine-types.ts'
import {
  type Generation,
  NO_OUTCOME,
  type Outcome,
  generateFromTokens,
  generateInSequence,
  generateInSession,
  generateWithCompletion,
  tokenize,
} from './generation.ts'

export interface NodeLlamaOptions extends ParserOptions {
  /** Stops the generation; the closing events come at once. */
  readonly signal?: AbortSignal
  /** How many tokens to generate at most. Default: as many as the context holds. */
  readonly maxTokens?: number
  /** Called with the model's own text, before the events that it gives. */
  readonly onText?: (text: string) => void
}

/** Continues a prompt in a sequence, token by token. */
export interface FromSequence<
  S extends NodeLlamaSequence = NodeLlamaSequence,
> extends NodeLlamaOptions {
  readonly sequence: S
  readonly prompt: NodeLlamaPrompt
  /**
   * What `sequence.evaluate` takes: temperature, seed, grammarEvaluationState … Without
   * `contextShift` a full context ends the answer with `length`; nothing of the prompt is dropped.
   */
  readonly generation?: Omit<NonNullable<Parameters<S['evaluate']>[1]>, 'yieldEogToken'>
}

/** Continues a prompt with a `LlamaCompletion`, which brings its own context shifts and stop triggers. */
export interface FromCompletion<
  C extends NodeLlamaCompletion = NodeLlamaCompletion,
> extends NodeLlamaOptions {
  readonly completion: C
  /** The completion's own model, which it does not show. */
  readonly model: NodeLlamaModel
  readonly prompt: NodeLlamaPrompt
  /** What `generateCompletionWithMeta` takes: temperature, grammar, customStopTriggers … */
  readonly generation?: Omit<
    NonNullable<Parameters<C['generateCompletionWithMeta']>[1]>,
    Driven | 'onToken'
  >
}

/** Answers a message in a `LlamaChatSession`. Thoughts that its chat wrapper tells apart are reasoning. */
export interface FromSession<
  S extends NodeLlamaSession = NodeLlamaSession,
> extends NodeLlamaOptions {
  readonly session: S
  readonly prompt: string
  /** What `promptWithMeta` takes, but for `functions`: node-llama-cpp would run those itself. */
  readonly generation?: Omit<
    NonNullable<Parameters<S['promptWithMeta']>[1]>,
    Driven | 'onResponseChunk' | 'functions'
  >
}

/** Tokens of a loop of the caller's, such as `sequence.evaluate(…)`. */
export interface FromTokens extends NodeLlamaOptions {
  readonly tokens: AsyncIterable<NodeLlamaToken>
  readonly model: NodeLlamaModel
}

/** What this adapter sets itself. */
type Driven = 'signal' | 'stopOnAbortSignal' | 'maxTokens'

/**
 * Streams one answer of node-llama-cpp as events.
 *
 * @throws MisuseError for options that can't be, `missing-source` if they name no way to generate.
 */
export function fromNodeLlamaCpp<S extends NodeLlamaSequence>(
  options: FromSequence<S>,
): AsyncGenerator<StreamEvent, void, undefined>
export function fromNodeLlamaCpp<C extends NodeLlamaCompletion>(
  options: FromCompletion<C>,
): AsyncGenerator<StreamEvent, void, undefined>
export function fromNodeLlamaCpp<S extends NodeLlamaSession>(
  options: FromSession<S>,
): AsyncGenerator<StreamEvent, void, undefined>
export function fromNodeLlamaCpp(options: FromTokens): AsyncGenerator<StreamEvent, void, undefined>
export function fromNodeLlamaCpp(
  options: FromSequence | FromCompletion | FromSession | FromTokens,
): AsyncGenerator<StreamEvent, void, undefined> {
  expect('options', 'an object', isRecord(options), options)
  const { maxTokens } = options
  if ('session' in options) {
    const { session, prompt, generation, ...rest } = options
    const { model } = session
    return start(rest, model, undefined, (signal) =>
      generateInSession(session, prompt, generation, { maxTokens, signal }),
    )
  }
  if ('completion' in options) {
    const { completion, model, prompt, generation, ...rest } = options
    return start(rest, model, prompt, (signal) =>
      generateWithCompletion(completion, model, prompt, generation, { maxTokens, signal }),
    )
  }
  if ('sequence' in options) {
    const { sequence, prompt, generation, ...rest } = options
    return start(rest, sequence.model, prompt, () =>
      generateInSequence(sequence, prompt, generation, maxTokens),
    )
  }
  if ('tokens' in options) {
    const { tokens, model, ...rest } = options
    return start(rest, model, undefined, () => generateFromTokens(model, tokens, maxTokens))
  }
  throw new MisuseError(
    'missing-source',
    'Give a sequence, a completion, a session or tokens to fromNodeLlamaCpp.',
  )
}

/** `prompt`: what the answer continues, where that is known. */
function start(
  options: NodeLlamaOptions,
  model: NodeLlamaModel,
  prompt: NodeLlamaPrompt | undefined,
  generate: (signal: AbortSignal) => Generation,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal: outer, maxTokens, onText, ...parserOptions } = options
  const isCount = maxTokens === undefined || (Number.isInteger(maxTokens) && maxTokens > 0)
  expect('maxTokens', 'a whole number from 1', isCount, maxTokens)
  const isListener = onText === undefined || typeof onText === 'function'
  expect('onText', 'a function', isListener, onText)
  checkSignal(outer)
  // The parser itself is made with the first text; a slip in its options must show here.
  createParser({ ...parserOptions, onEvent: () => {} })
  return leavable(outer, (signal) =>
    read(model, prompt, generate(signal), parserOptions, signal, onText),
  )
}

async function* read(
  model: NodeLlamaModel,
  prompt: NodeLlamaPrompt | undefined,
  steps: Generation,
  options: ParserOptions,
  signal: AbortSignal,
  onText: ((text: string) => void) | undefined,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { filename } = model
  yield { type: 'stream-start', ...(filename !== undefined && { model: filename }) }

  let events: StreamEvent[] = []
  const startIn = options.startIn ?? startOf(model, prompt)
  const writer = new PartWriter({ ...options, ...(startIn && { startIn }) }, (event) => {
    events.push(event)
  })
  const texts = decode(model, steps)
  let outputTokens = 0
  try {
    let step = await nextStep(texts, signal)
    while (step.type === 'text') {
      outputTokens += step.tokens
      if (step.text !== '') {
        onText?.(step.text)
        if (step.isThought) writer.reasoning(step.text)
        else writer.text(step.text)
      }
      const ready = events
      events = []
      yield* ready
      step = await nextStep(texts, signal)
    }
    close(writer, step, outputTokens)
    yield* events
  } finally {
    // The engine has stopped when this has. What it throws now is nobody's concern.
    await texts.return(NO_OUTCOME).catch(() => {})
  }
}

/** What came of asking for more text. */
type Step =
  | Decoded
  | { readonly type: 'outcome'; readonly outcome: Outcome }
  | { readonly type: 'failure'; readonly failure: Failure }

const ABORTED: Step = { type: 'outcome', outcome: NO_OUTCOME }

/** More text, or the end. Does not wait for the engine once the signal is aborted. */
async function nextStep(
  texts: AsyncGenerator<Decoded, Outcome, void>,
  signal: AbortSignal,
): Promise<Step> {
  if (signal.aborted) return ABORTED
  try {
    const result = await unlessAborted(texts.next(), signal)
    if (!result) return ABORTED
    return result.done ? { type: 'outcome', outcome: result.value } : result.value
  } catch (cause) {
    return signal.aborted ? ABORTED : { type: 'failure', failure: failureOf(cause) }
  }
}

function failureOf(cause: unknown): Failure {
  const message = cause instanceof Error ? cause.message : String(cause)
  return {
    code: 'engine-failed',
    message: message === '' ? 'node-llama-cpp failed.' : message,
    cause,
  }
}

/** Ends the open parts and says how it went. */
function close(writer: PartWriter, step: Exclude<Step, Decoded>, outputTokens: number): void {
  if (step.type === 'failure') {
    writer.abort()
    writer.finish({ reason: 'error', usage: { outputTokens } }, step.failure)
    return
  }
  const { ending, rawReason, usage } = step.outcome
  if (ending === 'aborted') writer.abort()
  else writer.end()
  const finish: Omit<Finish, 'type'> = {
    reason: ending === 'aborted' ? 'aborted' : finishReason(ending, writer.hasCalls, false),
    ...(rawReason !== undefined && { rawReason }),
    usage: { outputTokens, ...usage },
  }
  writer.finish(finish)
}

/** Where the answer begins, if the prompt tells. */
function startOf(
  model: NodeLlamaModel,
  prompt: NodeLlamaPrompt | undefined,
): 'reasoning' | undefined {
  if (prompt === undefined) return undefined
  if (typeof prompt === 'string') return opensReasoning(prompt) ? 'reasoning' : undefined
  try {
    const end = model.detokenize(tokenize(model, prompt).slice(-OPENER_TOKENS), true)
    return opensReasoning(end) ? 'reasoning' : undefined
  } catch {
    return undefined // The generation meets the same failure and reports it.
  }
}

/** An opener and the white space after it are within this many tokens, even of single bytes. */
const OPENER_TOKENS = 24
