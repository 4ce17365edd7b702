/**
 * What a decoded frame is, told from its keys alone.
 *
 * llama-server has three shapes of its own: `/completion`, `/v1/completions` and
 * `/v1/chat/completions`, streamed or whole. What belongs to another API is named, so that the
 * failure says which adapter reads it. Everything else is nobody's and counts for nothing.
 */
import { isRecord } from './failure.ts'

/** One of llama-server's own shapes, by the path that sends it. */
export type Endpoint = '/completion' | '/v1/completions' | '/v1/chat/completions'

export const ENDPOINTS: readonly Endpoint[] = [
  '/completion',
  '/v1/completions',
  '/v1/chat/completions',
]

/** A decoded JSON object. Nothing about its fields is taken for granted. */
export type Frame = Readonly<Record<string, unknown>>

/** The endpoint whose frame this is; `undefined` if the frame does not say. */
export function endpointOf(frame: Frame): Endpoint | undefined {
  if (Array.isArray(frame.choices)) {
    const first: unknown = frame.choices[0]
    if (!isRecord(first)) return undefined
    if ('delta' in first || 'message' in first) return '/v1/chat/completions'
    return 'text' in first ? '/v1/completions' : undefined
  }
  return typeof frame.content === 'string' || typeof frame.stop === 'boolean'
    ? '/completion'
    : undefined
}

const MESSAGES_EVENTS = new Set([
  'message',
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
])

/** What API the frame belongs to, if not llama-server's own, in words for a message. */
export function foreignApi(frame: Frame): string | undefined {
  const { type } = frame
  if (typeof type === 'string') {
    if (type.startsWith('response.')) return 'the Responses API (/v1/responses)'
    if (MESSAGES_EVENTS.has(type)) return 'the Messages API (/v1/messages)'
  }
  if (frame.object === 'response') return 'the Responses API (/v1/responses)'
  if (typeof frame.done === 'boolean' && ('response' in frame || 'message' in frame)) {
    return 'Ollama’s API (/api/generate or /api/chat)'
  }
  return Array.isArray(frame.candidates) ? 'Gemini’s API' : undefined
}

/** The error that a frame carries, in any of the forms that servers use. */
export function errorOf(frame: Frame): unknown {
  if (frame.error !== undefined && frame.error !== null) return frame.error
  return frame.object === 'error' || frame.type === 'error' ? frame : undefined
}
