/**
 * An answer from a running llama-server, as an async generator of events.
 *
 * Nothing is sent before the first event is asked for. Leaving the loop or aborting the signal
 * closes the connection, and the server stops generating. What the server or the network does wrong
 * becomes `error` and `finish`; only options that can't be throw, at once.
 */
import { type StreamEvent, MisuseError } from '@talaria/core'
import type { Failure } from './failure.ts'
import { opensReasoning } from './node/opens-reasoning.ts'
import { mentionsReasoning, promptOpensReasoning, templateOpensReasoning } from './prompt-end.ts'
import { Connection } from './server-connection.ts'
import type { LlamaServerStreamOptions } from './server-options.ts'
import { connectionFailure, createInnerReader } from './server-reader.ts'
import {
  type Ask,
  type FromLlamaServerOptions,
  type RequestBody,
  commonBody,
  readAsk,
  templateBody,
  toolFields,
} from './server-request.ts'
import { fromLlamaServerStream } from './server-stream.ts'

/** Streams an answer from a llama-server. Throws `MisuseError` for options that can't be. */
export function fromLlamaServer(
  options: FromLlamaServerOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const ask = readAsk(options)
  const body = commonBody(options)
  const controller = new AbortController()
  const connection = new Connection(options, controller.signal)
  createInnerReader({ ...streamOptions(options), onEvent: () => {} }) // Throws for wrong options.
  return answer(options, ask, body, connection, controller)
}

/** The options that are the parser's and the reader's. */
function streamOptions(options: FromLlamaServerOptions): LlamaServerStreamOptions {
  const {
    baseUrl: _baseUrl,
    prompt: _prompt,
    messages: _messages,
    parseOnServer: _parseOnServer,
    body: _body,
    apiKey: _apiKey,
    headers: _headers,
    signal: _signal,
    fetch: _fetch,
    ...rest
  } = options
  return rest
}

async function* answer(
  options: FromLlamaServerOptions,
  ask: Ask,
  body: RequestBody,
  connection: Connection,
  controller: AbortController,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal } = options
  const abort = (): void => controller.abort()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const opened = await open(options, ask, body, connection)
    if (opened.failure || signal?.aborted) yield* closing(options, opened.failure)
    else {
      const { response, startIn } = opened
      yield* fromLlamaServerStream(response, {
        ...streamOptions(options),
        ...(startIn && { startIn }),
        ...(signal && { signal }),
      })
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    controller.abort()
  }
}

/** The events of an answer that never began. */
function closing(options: FromLlamaServerOptions, failure: Failure | undefined): StreamEvent[] {
  const events: StreamEvent[] = []
  const reader = createInnerReader({
    ...streamOptions(options),
    onEvent: (event) => events.push(event),
  })
  if (options.signal?.aborted || !failure) reader.abort()
  else reader.failWith(failure)
  return events
}

type Opened =
  | {
      readonly failure?: undefined
      readonly response: Response
      readonly startIn: LlamaServerStreamOptions['startIn']
    }
  | { readonly failure: Failure }

/** Sends the request. The response may still be an error. */
async function open(
  options: FromLlamaServerOptions,
  ask: Ask,
  body: RequestBody,
  connection: Connection,
): Promise<Opened> {
  try {
    switch (ask.kind) {
      case 'prompt': {
        const isOpen = promptOpensReasoning(ask.prompt, options.choice ?? 0)
        const response = await connection.post('/completion', { ...body, prompt: ask.prompt })
        return { response, startIn: startOf(options, isOpen) }
      }
      case 'render': {
        const prompt = await connection.render(templateBody(ask.messages, options))
        if (typeof prompt !== 'string') return { failure: withoutRendering(prompt) }
        const response = await connection.post('/completion', { ...body, prompt })
        return { response, startIn: startOf(options, opensReasoning(prompt)) }
      }
      default: {
        const { messages } = ask
        const isOpen = await leavesReasoningOpen(options, ask, connection)
        const response = await connection.post('/v1/chat/completions', {
          ...body,
          ...(isOpen && { reasoning_format: 'none' }),
          messages,
          ...toolFields(options),
        })
        return { response, startIn: startOf(options, isOpen) }
      }
    }
  } catch (error) {
    if (error instanceof MisuseError) throw error
    const failure = connectionFailure(error)
    const message = `Could not reach ${connection.baseUrl}: ${failure.message}`
    return { failure: { ...failure, message } }
  }
}

function startOf(
  options: FromLlamaServerOptions,
  isOpen: boolean,
): LlamaServerStreamOptions['startIn'] {
  return options.startIn ?? (isOpen ? 'reasoning' : undefined)
}

function withoutRendering(failure: Failure): Failure {
  if (failure.rawCode !== '404') return failure
  const hint =
    'The server has no /apply-template, which renders a conversation with tools. ' +
    'Update it, or let it make the calls itself with `parseOnServer: true`.'
  return { ...failure, message: `${failure.message} ${hint}` }
}

/**
 * Whether the chat endpoint's answer is to be read as text that begins inside reasoning.
 *
 * By default the server tells reasoning apart, and there is nothing to do. If the prompt ends in an
 * opener, the text is asked for as it is: only then is it known, whatever the server's settings,
 * where reasoning ends.
 */
async function leavesReasoningOpen(
  options: FromLlamaServerOptions,
  { messages }: Extract<Ask, { kind: 'chat' }>,
  connection: Connection,
): Promise<boolean> {
  const format = options.body?.reasoning_format
  const isParsed = (options.tools?.length ?? 0) > 0 && format === undefined
  if (options.startIn !== undefined || isParsed) return false
  if (format !== undefined && format !== 'none') return false
  const template = await orUndefined(connection.chatTemplate())
  if (template === undefined || !mentionsReasoning(template)) return false
  const prompt = await orUndefined(connection.render(templateBody(messages, options)))
  return typeof prompt === 'string' ? opensReasoning(prompt) : templateOpensReasoning(template)
}

/** What a request gave that only improves the reading: the next one reports what is wrong. */
async function orUndefined<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise
  } catch {
    return undefined
  }
}
