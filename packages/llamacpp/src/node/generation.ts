/**
 * The ways in which node-llama-cpp generates, as one pull stream of tokens.
 *
 * A sequence is pulled token by token; a completion and a session push into callbacks and are
 * turned around by a queue. Each stream stops its engine when it is left early: the pull loop by
 * not asking for more, the push loop by an abort signal of its own. It has stopped when `return()`
 * resolves, so that the caller may use or dispose of the sequence then. What the engine throws is
 * thrown on; the one caller, `from-node-llama-cpp.ts`, makes events of it.
 */
import type { Usage } from '@talaria/core'
import type {
  NodeLlamaCompletion,
  NodeLlamaModel,
  NodeLlamaPrompt,
  NodeLlamaSequence,
  NodeLlamaSession,
  NodeLlamaToken,
} from './engine-types.ts'

/** What the engine produced in one step. */
interface Piece {
  readonly tokens: readonly NodeLlamaToken[]
  /** The engine itself took these for reasoning and removed the markers. */
  readonly isThought: boolean
}

/** How a generation ended. */
export interface Outcome {
  readonly ending: 'natural' | 'length' | 'aborted'
  /** node-llama-cpp's own word, or `contextSize` where the context was full. */
  readonly rawReason?: string
  readonly usage: Usage
}

/** For `return()`, whose value nobody reads, and for an end that the engine said nothing about. */
export const NO_OUTCOME: Outcome = { ending: 'aborted', usage: {} }

export type Generation = AsyncGenerator<Piece, Outcome, void>

export interface Limits {
  /** Default: none. */
  readonly maxTokens: number | undefined
  readonly signal: AbortSignal
}

/** Continues `prompt` in a sequence; what its state shares with the prompt is not evaluated again. */
export async function* generateInSequence(
  sequence: NodeLlamaSequence,
  prompt: NodeLlamaPrompt,
  generation: { readonly contextShift?: unknown } | undefined,
  maxTokens: number | undefined,
): Generation {
  refuseBusy(sequence)
  busy.add(sequence)
  try {
    return yield* continueSequence(sequence, prompt, generation, maxTokens)
  } finally {
    busy.delete(sequence)
  }
}

/** Sequences that a stream generates in. Two at once would each get a part of the tokens. */
const busy = new WeakSet<NodeLlamaSequence>()

function refuseBusy(sequence: NodeLlamaSequence): void {
  if (!busy.has(sequence)) return
  throw new Error(
    'The sequence is in use by another stream. Read that to its end or leave it first, or get ' +
      'another sequence from a context.',
  )
}

async function* continueSequence(
  sequence: NodeLlamaSequence,
  prompt: NodeLlamaPrompt,
  generation: { readonly contextShift?: unknown } | undefined,
  maxTokens: number | undefined,
): Generation {
  const tokens = withBeginning(sequence.model, tokenize(sequence.model, prompt))
  const canShift = generation?.contextShift !== undefined
  if (tokens.length === 0) throw new RangeError('The prompt is empty.')
  // Without room for one token the engine would drop the beginning, and the tools with it.
  if (!canShift && tokens.length >= sequence.contextSize - 1)
    throw new RangeError(
      `The prompt has ${tokens.length} tokens and the context holds ${sequence.contextSize}.`,
    )
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false)
  const cached = sequence.nextTokenIndex
  const evaluated = sequence.evaluate(tokens.slice(cached), { ...generation, yieldEogToken: true })
  const isFull = (): boolean => !canShift && sequence.nextTokenIndex >= sequence.contextSize - 1
  const { ending, rawReason, usage } = yield* generateFromTokens(
    sequence.model,
    evaluated,
    maxTokens,
    isFull,
  )
  return {
    ending,
    ...(rawReason !== undefined && { rawReason }),
    usage: { ...usage, inputTokens: tokens.length, cachedInputTokens: cached },
  }
}

/** Tokens that the caller's own loop generates. Its end without an end-of-generation token is natural. */
export async function* generateFromTokens(
  model: NodeLlamaModel,
  tokens: AsyncIterable<NodeLlamaToken>,
  maxTokens: number | undefined,
  isFull?: () => boolean,
): Generation {
  let outputTokens = 0
  const outcome = (ending: Outcome['ending'], rawReason: string): Outcome => ({
    ending,
    rawReason,
    usage: { outputTokens },
  })
  for await (const token of tokens) {
    outputTokens++
    if (model.isEogToken(token)) return outcome('natural', 'eogToken')
    yield { tokens: [token], isThought: false }
    if (outputTokens === maxTokens) return outcome('length', 'maxTokens')
    if (isFull?.()) return outcome('length', 'contextSize')
  }
  return { ending: 'natural', usage: { outputTokens } }
}

/** Continues `prompt` with a `LlamaCompletion`. */
export async function* generateWithCompletion(
  completion: NodeLlamaCompletion,
  model: NodeLlamaModel,
  prompt: NodeLlamaPrompt,
  generation: object | undefined,
  limits: Limits,
): Generation {
  const tokens = tokenize(model, prompt)
  let outputTokens = 0
  const stopReason = yield* turnAround(limits.signal, async (push, signal) => {
    const { metadata } = await completion.generateCompletionWithMeta([...tokens], {
      ...generation,
      ...(limits.maxTokens !== undefined && { maxTokens: limits.maxTokens }),
      signal,
      stopOnAbortSignal: true,
      onToken(added) {
        outputTokens += added.length
        push({ tokens: added, isThought: false })
      },
    })
    return metadata.stopReason
  })
  // The callback never sees the token that ends the generation, nor what a limit cuts in two.
  if (stopReason === 'eogToken') outputTokens++
  else if (stopReason === 'maxTokens') outputTokens = limits.maxTokens ?? outputTokens
  // It puts the beginning of the sequence before the prompt by itself.
  const inputTokens = tokens.length + (model.tokens.shouldPrependBosToken ? 1 : 0)
  return outcomeOf(stopReason, { inputTokens, outputTokens })
}

/** Answers a user's message in a `LlamaChatSession`. */
export async function* generateInSession(
  session: NodeLlamaSession,
  prompt: string,
  generation: object | undefined,
  limits: Limits,
): Generation {
  const { sequence } = session
  refuseBusy(sequence)
  const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter
  const stopReason = yield* turnAround(limits.signal, async (push, signal) => {
    const stop = await session.promptWithMeta(prompt, {
      ...generation,
      ...(limits.maxTokens !== undefined && { maxTokens: limits.maxTokens }),
      signal,
      stopOnAbortSignal: true,
      onResponseChunk({ tokens, segmentType }) {
        if (tokens.length > 0) push({ tokens, isThought: segmentType === 'thought' })
      },
    })
    return stop.stopReason
  })
  const outputTokens = sequence.tokenMeter.usedOutputTokens - usedOutputTokens
  if (outputTokens === 0) return outcomeOf(stopReason, { outputTokens })
  // The meter counts the prompt's last token, which the first written one comes from, as output.
  const evaluated = sequence.tokenMeter.usedInputTokens - usedInputTokens + 1
  // The state holds the prompt and all that was written but the last token. Where the engine
  // dropped a part of it, only what it evaluated is certain.
  const inputTokens = sequence.nextTokenIndex - outputTokens + 1
  return outcomeOf(stopReason, {
    outputTokens,
    ...(inputTokens >= evaluated
      ? { inputTokens, cachedInputTokens: inputTokens - evaluated }
      : { inputTokens: evaluated }),
  })
}

/** The prompt as tokens. A string may hold special tokens. */
export function tokenize(
  model: NodeLlamaModel,
  prompt: NodeLlamaPrompt,
): readonly NodeLlamaToken[] {
  if (isTokens(prompt)) return prompt
  const trim = model.tokens.shouldPrependBosToken ? 'trimLeadingSpace' : undefined
  return typeof prompt === 'string'
    ? model.tokenize(prompt, true, trim)
    : prompt.tokenize(model.tokenizer, trim)
}

/** Puts the token that begins a sequence first, if the model wants one and the prompt has none. */
function withBeginning(
  model: NodeLlamaModel,
  tokens: readonly NodeLlamaToken[],
): readonly NodeLlamaToken[] {
  const { bos, shouldPrependBosToken } = model.tokens
  return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens
}

function isTokens(prompt: NodeLlamaPrompt): prompt is readonly NodeLlamaToken[] {
  return Array.isArray(prompt)
}

function outcomeOf(stopReason: string, usage: Usage): Outcome {
  const ending =
    stopReason === 'maxTokens' ? 'length' : stopReason === 'abort' ? 'aborted' : 'natural'
  return { ending, rawReason: stopReason, usage }
}

/**
 * Runs a generation that pushes, as a stream that is pulled. Returns what `run` resolves to. The
 * queue holds what the engine is ahead of the reader, which it cannot be told to wait for.
 */
async function* turnAround(
  outer: AbortSignal,
  run: (push: (piece: Piece) => void, signal: AbortSignal) => Promise<string>,
): AsyncGenerator<Piece, string, void> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(outer.reason)
  outer.addEventListener('abort', abort)
  if (outer.aborted) abort()

  let queue: Piece[] = []
  let wake = (): void => {}
  let isOver = false
  const push = (piece: Piece): void => {
    queue.push(piece)
    wake()
  }
  const running = run(push, controller.signal).finally(() => {
    isOver = true
    wake()
  })
  // Its failure is met below; this keeps it from being reported as unhandled before that.
  running.catch(() => {})
  try {
    while (true) {
      const batch = queue
      queue = []
      yield* batch
      if (queue.length > 0) continue
      if (isOver) return await running
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    outer.removeEventListener('abort', abort)
    controller.abort()
    await running.catch(() => {})
  }
}
