/**
 * Where a llama-server is and with which headers it is asked, checked before anything is sent.
 *
 * What `fetch` would refuse later must not look like a server that can't be reached. No message here
 * quotes a value that may be secret: a key, a header, a password or a query.
 */
import { MisuseError } from '@talaria/core'
import { excerpt } from './failure.ts'
import { describe, expect } from './server-options.ts'

const EXAMPLE = 'http://localhost:8080'

/** The server's address without a closing slash or `/v1`. Throws `MisuseError`. */
export function readBaseUrl(baseUrl: string | URL): string {
  if (typeof baseUrl !== 'string' && !(baseUrl instanceof URL)) refuse(describe(baseUrl))
  const text = String(baseUrl).trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) refuse(quote(text), suggestion(text))
  if (url.username !== '' || url.password !== '') {
    refuse('one with a user or a password', ' `apiKey` and `headers` are for that.')
  }
  if (/[?#]/.test(url.href)) refuse('one with a query or a fragment')
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '')
}

function refuse(found: string, hint = ''): never {
  throw new MisuseError(
    'invalid-base-url',
    `Expected an address such as ${EXAMPLE} as \`baseUrl\`, found ${found}.${hint}`,
  )
}

/** What was given, if nothing in it can be secret. */
function quote(text: string): string {
  return /[@?#]/.test(text) ? 'something else' : excerpt(text)
}

/** `localhost:8080` is read as the scheme `localhost:`, which nobody means. */
function suggestion(text: string): string {
  const isBare = /^[\w.[\]-][\w.[\]:-]*(?:\/(?!\/)[\w./-]*)?$/.test(text)
  return isBare && URL.canParse(`http://${text}`) ? ` Did you mean http://${text}?` : ''
}

/** The headers of every request, their names in lower case. Throws `MisuseError`. */
export function readHeaders(
  apiKey: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const isKey = typeof apiKey === 'string' && isHeader('authorization', `Bearer ${apiKey}`)
  expectSecret('apiKey', 'a key that a header may hold', apiKey === undefined || isKey, apiKey)
  const isPlain = typeof headers === 'object' && headers !== null && !(Symbol.iterator in headers)
  expect('headers', 'an object of names and values', isPlain, headers)
  const all: Record<string, string> = {}
  if (apiKey !== undefined) all.authorization = `Bearer ${apiKey}`
  for (const [name, value] of Object.entries(headers)) {
    expectSecret('headers', 'names that a header may have', isHeader(name, ''), name)
    const isValue = typeof value === 'string' && isHeader(name, value)
    expectSecret(`headers[${JSON.stringify(name)}]`, 'text that a header may hold', isValue, value)
    all[name.toLowerCase()] = value
  }
  return all
}

/** Like `expect`, for a value that no message shows. */
function expectSecret(name: string, what: string, holds: boolean, found: unknown): void {
  if (holds) return
  const shown = typeof found === 'string' ? 'other text' : `a value of type ${typeof found}`
  throw new MisuseError('invalid-option', `Expected ${what} in \`${name}\`, found ${shown}.`)
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers().append(name, value)
    return true
  } catch {
    return false
  }
}
