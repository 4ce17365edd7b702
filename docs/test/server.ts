/**
 * A server on loopback in the place of the reader's llama-server. It answers with what a real one
 * once sent, and keeps what it was asked.
 */
import { readFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CHAT_TEMPLATE } from '../../packages/llamacpp/src/piano.ts'

export interface Asked {
  readonly path: string
  /** The request's body, decoded. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Playing {
  readonly url: string
  /** All requests so far. */
  readonly asked: readonly Asked[]
  close(): Promise<void>
}

const RECORDING = new URL('../../packages/cli/recordings/prose-one.sse', import.meta.url)

export async function playServer(): Promise<Playing> {
  const answer = readFileSync(RECORDING)
  const asked: Asked[] = []
  const server = createServer((request, response) => void reply(request, response))
  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '' } = request
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const text = Buffer.concat(chunks).toString()
    asked.push({ path, body: JSON.parse(text || '{}') as Asked['body'] })
    if (path === '/apply-template') response.end('{"prompt":"Weather in Oslo?"}')
    else if (path === '/completion') response.end(answer)
    else if (path === '/props') response.end(JSON.stringify({ chat_template: CHAT_TEMPLATE }))
    else response.writeHead(404).end('{"error":{"code":404,"message":"File Not Found"}}')
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
