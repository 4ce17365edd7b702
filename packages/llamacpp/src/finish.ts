/**
 * How a stream ended and what it cost, from llama-server's words to the protocol's.
 *
 * The server's word never makes a reason by itself: `tool-calls` needs a completed call, and a
 * stream without a word from the server is never a clean stop.
 */
import type { FinishReason, Usage } from '@talaria/core'
import { isRecord } from './failure.ts'
import type { Frame } from './frames.ts'

/**
 * What the server's word means: the model was done, it claims calls, it hit a limit, a filter cut
 * it, something else, or there was no word at all.
 */
export type Ending = 'natural' | 'calls' | 'length' | 'filter' | 'other' | 'none'

/** The reason of `finish`, given what the stream held. */
export function finishReason(
  ending: Ending,
  /** Whether a call was completed. */
  hasCalls: boolean,
  /** Whether something was still open, or could have gone on, when the stream ended. */
  isCut: boolean,
): FinishReason {
  switch (ending) {
    case 'natural':
      return hasCalls ? 'tool-calls' : 'stop'
    case 'calls':
      return hasCalls ? 'tool-calls' : 'other'
    case 'length':
      return 'length'
    case 'filter':
      return 'content-filter'
    case 'other':
      return hasCalls && !isCut ? 'tool-calls' : 'other'
    case 'none':
      return hasCalls && !isCut ? 'tool-calls' : 'interrupted'
  }
}

/** `/completion` says `stop_type`; servers before 2025 said it in three flags. */
export function nativeStop(frame: Frame): string | undefined {
  if (typeof frame.stop_type === 'string') return frame.stop_type
  if (frame.stopped_eos === true) return 'eos'
  if (frame.stopped_word === true) return 'word'
  return frame.stopped_limit === true ? 'limit' : undefined
}

export function nativeEnding(stop: string | undefined): Ending {
  if (stop === 'eos' || stop === 'word') return 'natural'
  return stop === 'limit' ? 'length' : 'other'
}

/** What a chat or completions API means by its `finish_reason`. */
export function choiceEnding(reason: string): Ending {
  switch (reason) {
    case 'stop':
      return 'natural'
    case 'tool_calls':
    case 'function_call':
      return 'calls'
    case 'length':
      return 'length'
    case 'content_filter':
      return 'filter'
    default:
      return 'other'
  }
}

/** Token counts of a `/completion` frame. `tokens_cached` is not among them: it counts the
 * context that stays, not what the request was spared. */
export function nativeUsage(frame: Frame): Usage | undefined {
  return counts(
    frame.tokens_evaluated,
    frame.tokens_predicted,
    isRecord(frame.timings) ? frame.timings.cache_n : undefined,
  )
}

/** Token counts of a frame of the `/v1` endpoints: `usage` if it was asked for, else the timings. */
export function choiceUsage(frame: Frame): Usage | undefined {
  const { usage, timings } = frame
  if (isRecord(usage)) {
    const prompt = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
    const completion = isRecord(usage.completion_tokens_details)
      ? usage.completion_tokens_details
      : {}
    return counts(
      usage.prompt_tokens,
      usage.completion_tokens,
      prompt.cached_tokens,
      completion.reasoning_tokens,
    )
  }
  if (!isRecord(timings)) return undefined
  const { prompt_n, cache_n, predicted_n } = timings
  const cached = typeof cache_n === 'number' ? cache_n : 0
  const input = typeof prompt_n === 'number' ? prompt_n + cached : undefined
  return counts(input, predicted_n, cache_n)
}

function counts(
  input: unknown,
  output: unknown,
  cached: unknown,
  reasoning?: unknown,
): Usage | undefined {
  const usage: Usage = {
    ...(typeof input === 'number' && { inputTokens: input }),
    ...(typeof output === 'number' && { outputTokens: output }),
    ...(typeof cached === 'number' && { cachedInputTokens: cached }),
    ...(typeof reasoning === 'number' && { reasoningTokens: reasoning }),
  }
  return Object.keys(usage).length === 0 ? undefined : usage
}
