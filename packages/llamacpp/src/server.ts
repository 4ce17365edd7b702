/**
 * An answer from a running llama-server, as a stream of events.
 *
 * Nothing is sent before the first event is asked for. Leaving the stream, also while the server is
 * silent, or aborting the signal closes the connection, and the server stops generating. What the
 * server or the network does wrong becomes `error` and `finish`; only options that can't be throw,
 * at once.
 */
import { type StreamEvent, MisuseError } from '@talaria/core'
import { unlessAborted } from './abort.ts'
import { type Failure, isRecord } from './failure.ts'
import { leavable } from './leavable.ts'
import {
  mentionsReasoning,
  opensReasoning,
  promptOpensReasoning,
  templateOpensReasoning,
} from './prompt-end.ts'
import { Connection } from './server-connection.ts'
import { type LlamaServerStreamOptions, expect } from './server-options.ts'
import { connectionFailure, createInnerReader } from './server-reader.ts'
import {
  type Ask,
  type FromLlamaServerOptions,
  type RequestBody,
  checkBody,
  commonBody,
  readAsk,
  templateBody,
  toolFields,
} from './server-request.ts'
import { readAnswer } from './server-stream.ts'

/** Streams an answer from a llama-server. Throws `MisuseError` for options that can't be. */
export function fromLlamaServer(
  options: FromLlamaServerOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  expect('options', 'an object', isRecord(options), options)
  createInnerReader({ ...streamOptions(options), onEvent: () => {} }) // Throws for wrong options.
  const ask = readAsk(options)
  checkBody(options)
  const body = commonBody(options)
  const connection = new Connection(options)
  return leavable(options.signal, (signal) => answer(options, ask, body, connection, signal))
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
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void, undefined> {
  const opening = open(options, ask, body, connection, signal)
  const opened = await unlessAborted(opening, signal)
  // A `fetch` of the caller's may not heed the signal: what it brings late is let go of.
  if (!opened) void opening.then(({ response }) => response?.body?.cancel()).catch(() => {})
  const startIn = opened?.startIn ?? options.startIn
  const batch: StreamEvent[] = []
  const reader = createInnerReader({
    ...streamOptions(options),
    ...(startIn && { startIn }),
    onEvent: (event) => batch.push(event),
  })
  if (opened?.response) return yield* readAnswer(opened.response, reader, batch, signal)
  if (opened && !signal.aborted) reader.failWith(opened.failure)
  else reader.abort()
  yield* batch
}

type Opened =
  | { readonly response: Response; readonly startIn: LlamaServerStreamOptions['startIn'] }
  | { readonly response?: undefined; readonly startIn?: undefined; readonly failure: Failure }

/** Sends the request. The response may still be an error. */
async function open(
  options: FromLlamaServerOptions,
  ask: Ask,
  body: RequestBody,
  connection: Connection,
  signal: AbortSignal,
): Promise<Opened> {
  try {
    switch (ask.kind) {
      case 'prompt': {
        const isOpen = promptOpensReasoning(ask.prompt, options.choice ?? 0)
        const response = await connection.post(
          '/completion',
          { ...body, prompt: ask.prompt },
          signal,
        )
        return { response, startIn: startOf(options, isOpen) }
      }
      case 'render': {
        const prompt = await connection.render(templateBody(ask.messages, options), signal)
        if (typeof prompt !== 'string') return { failure: withoutRendering(prompt) }
        const response = await connection.post('/completion', { ...body, prompt }, signal)
        return { response, startIn: startOf(options, opensReasoning(prompt)) }
      }
      default: {
        const { messages } = ask
        const isOpen = await leavesReasoningOpen(options, ask, connection, signal)
        const chatBody = {
          ...body,
          ...(isOpen && { reasoning_format: 'none' }),
          messages,
          ...toolFields(options),
        }
        const response = await connection.post('/v1/chat/completions', chatBody, signal)
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
  signal: AbortSignal,
): Promise<boolean> {
  const format = options.body?.reasoning_format
  const isParsed = (options.tools?.length ?? 0) > 0 && format === undefined
  if (options.startIn !== undefined || isParsed) return false
  if (format !== undefined && format !== 'none') return false
  const template = await orUndefined(connection.chatTemplate(signal))
  if (template === undefined || !mentionsReasoning(template)) return false
  const prompt = await orUndefined(connection.render(templateBody(messages, options), signal))
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
