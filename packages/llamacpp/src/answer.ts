/**
 * Decoded frames of one answer to events.
 *
 * The first frame that says so settles the endpoint. Text goes through the core parser; what the
 * server told apart (reasoning, calls) goes in between. Only the server's own last word makes a
 * clean end: without it the answer was interrupted, however well its text reads. After `finish`
 * nothing is emitted, and no input throws.
 */
import {
  type FinishReason,
  type ParserOptions,
  type StreamEvent,
  type Usage,
  DEFAULT_LIMITS,
} from '@talaria/core'
import { ChatCalls } from './chat-calls.ts'
import { type Failure, excerpt, isRecord, serverFailure } from './failure.ts'
import {
  type Ending,
  choiceEnding,
  choiceUsage,
  finishReason,
  nativeEnding,
  nativeStop,
  nativeUsage,
} from './finish.ts'
import { type Endpoint, type Frame, endpointOf, errorOf, foreignApi } from './frames.ts'
import { PartWriter } from './parts.ts'
import type { LlamaServerReaderOptions, PromptProgress } from './server-options.ts'

export class Answer {
  /** The answer has ended; its last events may still be on their way. */
  finished = false
  private readonly onEvent: (event: StreamEvent) => void
  private readonly onProgress: ((progress: PromptProgress) => void) | undefined
  private readonly choice: number
  private readonly parts: PartWriter
  private readonly calls: ChatCalls
  private endpoint: Endpoint | undefined
  private hasStarted = false
  /** Keys of the first frame that was nobody's, for the message if nothing else comes. */
  private strange: string | undefined
  private ending: Ending = 'none'
  private rawReason: string | undefined
  private usage: Usage | undefined
  /** The usage is the server's own count, not read from its timings. */
  private isCounted = false
  private readonly metadata: Record<string, unknown> = {}

  constructor(options: LlamaServerReaderOptions) {
    const { onEvent, onProgress, choice, endpoint, maxFrameSize: _, ...rest } = options
    const parserOptions: ParserOptions = rest
    let isOver = false
    // A listener may abort: what the call that it interrupted still has to say is not heard.
    this.onEvent = (event) => {
      if (isOver) return
      isOver = event.type === 'finish'
      onEvent(event)
    }
    this.onProgress = onProgress
    this.choice = choice ?? 0
    if (endpoint !== 'auto') this.endpoint = endpoint
    this.parts = new PartWriter(parserOptions, this.onEvent)
    const limits = { ...DEFAULT_LIMITS, ...parserOptions.limits }
    this.calls = new ChatCalls(this.parts, limits, parserOptions.patches ?? false)
  }

  /** Takes a decoded JSON value. `event`: the name of the server-sent event that brought it. */
  frame(value: unknown, event?: string): void {
    if (this.finished || value === null) return
    if (!isRecord(value)) {
      return this.failWith({
        code: 'malformed-frame',
        message: `Expected a JSON object as a frame, found ${excerpt(JSON.stringify(value) ?? 'none')}.`,
      })
    }
    const error = errorOf(value) ?? (event === 'error' ? value : undefined)
    if (error !== undefined) return this.failWith(serverFailure(error))
    const endpoint = endpointOf(value)
    this.endpoint ??= endpoint
    if (endpoint !== undefined && endpoint === this.endpoint) {
      if (endpoint === '/completion') this.native(value)
      else this.choices(value)
    } else if (Array.isArray(value.choices)) this.counts(value)
    else if (!this.hasStarted) this.unknown(value)
  }

  /** The stream said that it is over. */
  done(): void {
    this.conclude()
  }

  /** The connection ended. `stray`: what came instead of frames. */
  end(stray?: string): void {
    if (this.finished) return
    const found = this.strange ?? (stray === undefined ? undefined : excerpt(stray))
    if (this.hasStarted || found === undefined) return this.conclude()
    this.failWith({
      code: 'unrecognized-stream',
      message: `Expected a stream of llama-server, found ${found}.`,
    })
  }

  failWith(failure: Failure): void {
    this.stop('error', failure)
  }

  abort(): void {
    this.stop('aborted')
  }

  /** A frame of `/completion`, or its whole answer. */
  private native(frame: Frame): void {
    this.start(frame)
    if (typeof frame.index === 'number' && frame.index !== this.choice) return
    this.progress(frame)
    const usage = nativeUsage(frame)
    if (usage) this.usage = { ...this.usage, ...usage }
    if (typeof frame.content === 'string') this.parts.text(frame.content)
    if (frame.stop !== true) return
    this.rawReason = nativeStop(frame)
    this.ending = nativeEnding(this.rawReason)
    const { model, stopping_word, truncated, tokens_cached, timings } = frame
    if (typeof model === 'string') this.metadata.model = model
    if (typeof stopping_word === 'string' && stopping_word !== '') {
      this.metadata.stoppingWord = stopping_word
    }
    if (truncated === true) this.metadata.truncated = true
    if (typeof tokens_cached === 'number') this.metadata.tokensCached = tokens_cached
    if (isRecord(timings)) this.metadata.timings = timings
    this.conclude()
  }

  /** A frame of the `/v1` endpoints, or their whole answer. */
  private choices(frame: Frame): void {
    this.start(frame)
    for (const choice of frame.choices as readonly unknown[]) {
      if (!isRecord(choice) || (choice.index ?? 0) !== this.choice) continue
      this.progress(frame)
      this.counts(frame)
      if (typeof choice.text === 'string') this.parts.text(choice.text)
      const delta = choice.delta ?? choice.message
      if (isRecord(delta)) this.delta(delta)
      const { finish_reason } = choice
      if (typeof finish_reason !== 'string' || finish_reason === '') continue
      // The last word counts. More text may come after it, and the counts mostly do.
      this.rawReason = finish_reason
      this.ending = choiceEnding(finish_reason)
      this.calls.finishWhole()
    }
  }

  private delta(delta: Frame): void {
    const { reasoning_content, reasoning, content, tool_calls, function_call } = delta
    // Some servers send the same text in both fields.
    if (typeof reasoning_content === 'string') this.parts.reasoning(reasoning_content)
    else if (typeof reasoning === 'string') this.parts.reasoning(reasoning)
    if (typeof content === 'string') this.parts.text(content)
    this.calls.take(tool_calls)
    this.calls.takeFunction(function_call)
  }

  private counts(frame: Frame): void {
    const usage = choiceUsage(frame)
    const isCounted = isRecord(frame.usage)
    if (usage && (isCounted || !this.isCounted)) this.usage = usage
    this.isCounted ||= isCounted
    if (isRecord(frame.timings)) this.metadata.timings = frame.timings
  }

  private start(frame: Frame): void {
    if (this.hasStarted) return
    this.hasStarted = true
    const { id, model, created, system_fingerprint } = frame
    this.onEvent({
      type: 'stream-start',
      ...(typeof id === 'string' && id !== '' && { id }),
      ...(typeof model === 'string' && model !== '' && { model }),
      ...(typeof created === 'number' && { created }),
      ...(typeof system_fingerprint === 'string' && {
        metadata: { systemFingerprint: system_fingerprint },
      }),
    })
  }

  private progress({ prompt_progress }: Frame): void {
    if (!this.onProgress || !isRecord(prompt_progress)) return
    const { total, cache, processed, time_ms } = prompt_progress
    this.onProgress({
      total: numberOr0(total),
      cached: numberOr0(cache),
      processed: numberOr0(processed),
      elapsedMs: numberOr0(time_ms),
    })
  }

  /** A frame before the first known one that is not llama-server's. */
  private unknown(frame: Frame): void {
    const api = foreignApi(frame)
    if (api === undefined) {
      this.strange ??= `an object with the keys ${excerpt(Object.keys(frame).join(', '))}`
      return
    }
    this.failWith({
      code: 'foreign-stream',
      message:
        'Expected a stream of /completion, /v1/completions or /v1/chat/completions, ' +
        `found one of ${api}.`,
    })
  }

  private conclude(): void {
    if (this.finished) return
    this.finished = true
    const { parts, ending } = this
    this.calls.end(ending === 'natural' || ending === 'calls')
    parts.end()
    this.finish(finishReason(ending, parts.hasCalls, parts.isOpenEnded))
  }

  private stop(reason: 'error' | 'aborted', failure?: Failure): void {
    if (this.finished) return
    this.finished = true
    this.calls.abort()
    this.parts.abort()
    this.finish(reason, failure)
  }

  private finish(reason: FinishReason, failure?: Failure): void {
    const { rawReason, usage, metadata } = this
    this.parts.finish(
      {
        reason,
        ...(rawReason !== undefined && { rawReason }),
        ...(usage && { usage }),
        ...(Object.keys(metadata).length > 0 && { metadata }),
      },
      failure,
    )
  }
}

function numberOr0(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
