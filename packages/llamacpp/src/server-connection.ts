/** Requests to one llama-server. Each ends when its signal is aborted. */
import { openBody } from './chunks.ts'
import { type Failure, excerpt, isRecord } from './failure.ts'
import { httpFailure } from './http-failure.ts'
import { readBaseUrl, readHeaders } from './server-address.ts'
import { type FromLlamaServerOptions, type RequestBody, stringify } from './server-request.ts'

export class Connection {
  readonly baseUrl: string
  private readonly headers: Readonly<Record<string, string>>
  private readonly fetch: typeof globalThis.fetch

  constructor(options: FromLlamaServerOptions) {
    const { baseUrl, apiKey, headers, fetch } = options
    this.baseUrl = readBaseUrl(baseUrl)
    this.headers = readHeaders(apiKey, headers)
    // Called without `this`, as browsers demand.
    this.fetch = fetch ?? ((...request) => globalThis.fetch(...request))
  }

  /** Throws what `fetch` throws; an error status is a response like any other. */
  post(path: string, body: RequestBody, signal: AbortSignal): Promise<Response> {
    return this.fetch(this.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers },
      body: stringify(body),
      signal,
    })
  }

  /** The prompt that the server makes of a conversation. */
  async render(body: RequestBody, signal: AbortSignal): Promise<string | Failure> {
    const response = await this.post('/apply-template', body, signal)
    if (!response.ok) return httpFailure(response, openBody(response), signal)
    const text = await response.text()
    const answer = parse(text)
    if (isRecord(answer) && typeof answer.prompt === 'string') return answer.prompt
    return {
      code: 'unrecognized-stream',
      message: `Expected a prompt from /apply-template, found ${excerpt(text)}.`,
    }
  }

  /** The model's chat template, if the server tells. */
  async chatTemplate(signal: AbortSignal): Promise<string | undefined> {
    const { headers } = this
    const response = await this.fetch(`${this.baseUrl}/props`, { headers, signal })
    const props = response.ok ? parse(await response.text()) : await response.body?.cancel()
    const template = isRecord(props) ? props.chat_template : undefined
    return typeof template === 'string' ? template : undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
