/** Why a server refused a request, from its status and what it says about it. */
import type { Chunks } from './chunks.ts'
import { type Failure, excerpt, isRecord, serverFailure } from './failure.ts'
import { errorOf } from './frames.ts'

/** How much of an error's body is read, in bytes or UTF-16 units. */
const MAX_BODY = 64 * 1024

/** Reads the body of an error response as far as it can. Never throws. */
export async function httpFailure(
  response: Response,
  chunks: Chunks,
  signal?: AbortSignal,
): Promise<Failure> {
  return failureOf(response, await readText(chunks, signal))
}

function failureOf({ status, statusText }: Response, text: string): Failure {
  const head = `HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}`
  const error = jsonError(text)
  if (error === undefined) {
    return {
      code: 'server-error',
      message: text.trim() === '' ? head : `${head}: ${excerpt(text.trim())}`,
      rawCode: String(status),
    }
  }
  const failure = serverFailure(error, status)
  return { ...failure, message: `${head}: ${failure.message}` }
}

function jsonError(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return errorOf(value) ?? value
  } catch {
    // Proxies answer in HTML or plain text.
  }
  return undefined
}

async function readText(chunks: Chunks, signal: AbortSignal | undefined): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (text.length < MAX_BODY) {
      const chunk = await chunks.next(signal)
      if (chunk === undefined) break
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    }
  } catch {
    // What came before the connection broke says enough.
  }
  return text.slice(0, MAX_BODY)
}
