/** Requests to one llama-server. All of them end when the signal is aborted. */
import { MisuseError } from '@talaria/core'
import { openBody } from './chunks.ts'
import { type Failure, excerpt, isRecord } from './failure.ts'
import { httpFailure } from './http-failure.ts'
import { type FromLlamaServerOptions, type RequestBody, readBaseUrl } from './server-request.ts'

export class Connection {
  readonly baseUrl: string
  private readonly headers: Readonly<Record<string, string>>
  private readonly fetch: typeof globalThis.fetch
  private readonly signal: AbortSignal

  constructor(options: FromLlamaServerOptions, signal: AbortSignal) {
    const { apiKey, headers, fetch } = options
    this.baseUrl = readBaseUrl(options.baseUrl)
    this.headers = {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...headers,
    }
    // Called without `this`, as browsers demand.
    this.fetch = fetch ?? ((...request) => globalThis.fetch(...request))
    this.signal = signal
  }

  /** Throws what `fetch` throws; an error status is a response like any other. */
  post(path: string, body: RequestBody): Promise<Response> {
    return this.fetch(this.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers },
      body: stringify(body),
      signal: this.signal,
    })
  }

  /** The prompt that the server makes of a conversation. */
  async render(body: RequestBody): Promise<string | Failure> {
    const response = await this.post('/apply-template', body)
    if (!response.ok) return httpFailure(response, openBody(response), this.signal)
    const text = await response.text()
    const answer = parse(text)
    if (isRecord(answer) && typeof answer.prompt === 'string') return answer.prompt
    return {
      code: 'unrecognized-stream',
      message: `Expected a prompt from /apply-template, found ${excerpt(text)}.`,
    }
  }

  /** The model's chat template, if the server tells. */
  async chatTemplate(): Promise<string | undefined> {
    const { headers, signal } = this
    const response = await this.fetch(`${this.baseUrl}/props`, { headers, signal })
    const props = response.ok ? parse(await response.text()) : await response.body?.cancel()
    const template = isRecord(props) ? props.chat_template : undefined
    return typeof template === 'string' ? template : undefined
  }
}

function stringify(body: RequestBody): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new MisuseError('invalid-body', `Expected a request that is JSON: ${why}`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
