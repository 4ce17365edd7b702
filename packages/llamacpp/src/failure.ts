/**
 * Why a stream failed: the codes of this package's `error` events, each once.
 *
 * A failure is made where the trouble is met and becomes one `error` event before the `finish`.
 * `rawCode` is the server's own word, an HTTP status where there is one.
 */

export type SourceErrorCode =
  | 'server-error'
  | 'connection-failed'
  | 'malformed-frame'
  | 'frame-too-large'
  | 'foreign-stream'
  | 'unrecognized-stream'
  | 'engine-failed'

/** Codes of `error` events, with the line that the docs show. */
export const SOURCE_ERROR_CODES: Readonly<Record<SourceErrorCode, string>> = {
  'server-error': 'The server reported an error, as its answer or inside the stream.',
  'connection-failed': 'The server could not be reached, or the connection broke.',
  'malformed-frame': 'A piece of the stream is not the JSON that it must be.',
  'frame-too-large': 'A piece of the stream is larger than the limit.',
  'foreign-stream': 'The stream is another API’s; another adapter reads it.',
  'unrecognized-stream': 'The answer holds nothing that llama-server sends.',
  'engine-failed': 'node-llama-cpp threw while it was generating.',
}

/** What an `error` event says. */
export interface Failure {
  readonly code: SourceErrorCode
  readonly message: string
  readonly rawCode?: string
  readonly cause?: unknown
}

/** How much of what was found a message quotes, in UTF-16 units. */
const EXCERPT = 80

/** The beginning of `text`, quoted for a message. */
export function excerpt(text: string): string {
  return text.length > EXCERPT
    ? `${JSON.stringify(text.slice(0, EXCERPT))} and ${text.length - EXCERPT} characters more`
    : JSON.stringify(text)
}

/**
 * The failure that a server's error value describes: `{ code, message, type }` from llama-server,
 * a bare string from others. `status` is the HTTP status, if the value came with one.
 */
export function serverFailure(value: unknown, status?: number): Failure {
  const fields = isRecord(value) ? value : {}
  const message =
    typeof value === 'string' ? value : typeof fields.message === 'string' ? fields.message : ''
  const own = fields.code ?? fields.type
  const rawCode = status ?? (typeof own === 'string' || typeof own === 'number' ? own : undefined)
  return {
    code: 'server-error',
    message: message === '' ? 'The server reported an error without a message.' : message,
    ...(rawCode !== undefined && { rawCode: String(rawCode) }),
    cause: value,
  }
}

/** Whether a decoded JSON value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
