/**
 * What to ask a llama-server for, so that the model's own text arrives.
 *
 * With `tools` in a chat request the server constrains the model by a grammar and parses the text
 * itself: it is no longer what the model wanted to say. So a conversation with tools is rendered by
 * the server (`/apply-template`) and completed as a plain prompt, unless the caller wants the
 * server's parsing. Control tokens vanish from the text unless they are named, so the dialect's
 * markers always are.
 */
import { type ParserOptions, MisuseError, markersOf } from '@talaria/core'
import { isRecord } from './failure.ts'
import { type LlamaServerStreamOptions, checkSignal, expect } from './server-options.ts'
import { toolDefinition } from './tools.ts'

/** A message in OpenAI's shape. The server's chat template decides what it may hold. */
export interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly [key: string]: unknown
}

/** Fields of a request's body, as llama-server knows them. */
export type RequestBody = Readonly<Record<string, unknown>>

export interface FromLlamaServerOptions extends LlamaServerStreamOptions {
  /** Where the server listens: `http://localhost:8080`. A closing `/v1` is taken away. */
  readonly baseUrl: string | URL
  /** A prompt for `/completion`: text, tokens, or both mixed. Several texts are several prompts. */
  readonly prompt?: string | readonly (string | number)[]
  /** A conversation. This or `prompt` must be given. */
  readonly messages?: readonly ChatMessage[]
  /**
   * Sends `tools` to `/v1/chat/completions`, whose grammar and parser then make the calls. Default
   * false: the server only renders the prompt, and the calls are read from the model's own text.
   */
  readonly parseOnServer?: boolean
  /** More fields of the request: `n_predict`, `temperature`, `stop`, `chat_template_kwargs`, … */
  readonly body?: RequestBody
  /** Sent as a bearer token. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Ends the stream with `finish` `aborted`; the server stops generating. */
  readonly signal?: AbortSignal
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** What a request asks for, checked. */
export type Ask =
  | { readonly kind: 'prompt'; readonly prompt: string | readonly (string | number)[] }
  /** A conversation that the server's chat endpoint answers. */
  | { readonly kind: 'chat'; readonly messages: readonly ChatMessage[] }
  /** A conversation that is rendered first, so that its tools do not constrain the model. */
  | { readonly kind: 'render'; readonly messages: readonly ChatMessage[] }

/** Checks what can be checked before anything is sent. Throws `MisuseError`. */
export function readAsk(options: FromLlamaServerOptions): Ask {
  const { prompt, messages, tools, parseOnServer, fetch, signal } = options
  expect('parseOnServer', 'true or false', isOr('boolean', parseOnServer), parseOnServer)
  expect('fetch', 'a function', isOr('function', fetch), fetch)
  checkSignal(signal)
  if ((prompt === undefined) === (messages === undefined)) {
    const found = prompt === undefined ? 'neither' : 'both'
    throw new MisuseError(
      'prompt-or-messages',
      `Expected \`prompt\` or \`messages\`, found ${found}.`,
    )
  }
  if (prompt !== undefined) {
    checkPrompt(prompt)
    return { kind: 'prompt', prompt }
  }
  checkMessages(messages)
  const rendersTools = tools !== undefined && tools.length > 0 && parseOnServer !== true
  return { kind: rendersTools ? 'render' : 'chat', messages: messages! }
}

function isOr(type: 'boolean' | 'function', value: unknown): boolean {
  return value === undefined || typeof value === type
}

function checkPrompt(prompt: unknown): void {
  if (typeof prompt === 'string') return
  const isList = Array.isArray(prompt) && prompt.length > 0
  expect('prompt', 'text, or a list of texts and tokens,', isList, prompt)
  for (const [at, item] of (prompt as unknown[]).entries()) {
    const isItem = typeof item === 'string' || Number.isInteger(item)
    expect(`prompt[${at}]`, 'text or a token', isItem, item)
  }
}

function checkMessages(messages: unknown): void {
  expect('messages', 'a list of messages', Array.isArray(messages), messages)
  for (const [at, message] of (messages as unknown[]).entries()) {
    const isMessage = typeof message === 'object' && message !== null
    expect(`messages[${at}]`, 'an object', isMessage, message)
  }
}

/** Throws `MisuseError` `invalid-body` where what the request is made of is not JSON. */
export function checkBody({ body, messages, tools }: FromLlamaServerOptions): void {
  expect('body', 'an object of fields', body === undefined || isRecord(body), body)
  stringify({ body, messages, tools })
}

/** A request's body as JSON. Throws `MisuseError`. */
export function stringify(body: RequestBody): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new MisuseError('invalid-body', `Expected a request that is JSON: ${why}`)
  }
}

/** What every request for text says. */
export function commonBody(options: FromLlamaServerOptions): RequestBody {
  const { body = {}, onProgress, dialect } = options
  const named = Array.isArray(body.preserved_tokens) ? (body.preserved_tokens as unknown[]) : []
  return {
    stream: true,
    ...(onProgress && { return_progress: true }),
    ...body,
    preserved_tokens: [...new Set([...named, ...markersOf(dialect)])],
  }
}

/** Fields of a request that change how a conversation is rendered. */
const TEMPLATE_FIELDS = [
  'model',
  'add_generation_prompt',
  'chat_template_kwargs',
  'continue_final_message',
  'parallel_tool_calls',
  'reasoning_effort',
  'reasoning_format',
]

/** The body of `/apply-template`. */
export function templateBody(
  messages: readonly ChatMessage[],
  options: FromLlamaServerOptions,
): RequestBody {
  const { body = {} } = options
  return {
    messages,
    ...toolFields(options),
    ...Object.fromEntries(
      TEMPLATE_FIELDS.filter((field) => body[field] !== undefined).map((field) => [
        field,
        body[field],
      ]),
    ),
  }
}

/** The fields of a chat request that declare the tools; none if there are none. */
export function toolFields({ tools, toolChoice }: ParserOptions): RequestBody {
  if (tools === undefined || tools.length === 0) return {}
  return {
    tools: tools.map((tool) => ({ type: 'function', function: toolDefinition(tool) })),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
  }
}
