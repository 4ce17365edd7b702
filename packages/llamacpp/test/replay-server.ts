/**
 * A real HTTP server that plays llama-server: it answers with recorded bytes in given pieces, keeps
 * what was asked, and knows when a client goes away.
 */
import { readFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { folderOf } from '@talaria/fixtures'
import { onTestFinished } from 'vitest'

const RECORDINGS = folderOf('recordings/llama-server')
const READS = JSON.parse(readFileSync(`${RECORDINGS}/reads.json`, 'utf8')) as Record<
  string,
  readonly number[]
>

/** The bytes of a recorded body. */
export function recording(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(`${RECORDINGS}/${name}.body`))
}

/** A recorded body in the pieces in which the recording client read it. */
export function recordedReads(name: string): Uint8Array<ArrayBuffer>[] {
  const body = recording(name)
  let at = 0
  return (READS[name] ?? []).map((size) => body.subarray(at, (at += size)))
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The decoded JSON body, if there is one. */
  readonly body: Record<string, unknown>
}

/** What a route is given: the request, the response, and when the client went away. */
export interface Exchange extends Asked {
  readonly response: ServerResponse
  /** Resolves when the connection closes before the response has ended. */
  readonly gone: Promise<void>
}

export type Route = (exchange: Exchange) => void | Promise<void>

export interface ReplayServer {
  readonly baseUrl: string
  readonly asked: Asked[]
}

/** Starts a server until the test ends. A path without a route is answered as llama-server does. */
export async function startServer(routes: Readonly<Record<string, Route>>): Promise<ReplayServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void answer(request, response, routes, asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}`, asked }
}

/** An address at which nobody listens any more. */
export async function closedAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Readonly<Record<string, Route>>,
  asked: Asked[],
): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString()
  const { method = '', url = '', headers } = request
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  const entry: Asked = { method, path: url, headers, body }
  asked.push(entry)
  const gone = new Promise<void>((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve()
    })
  })
  const route = routes[url]
  if (route) await route({ ...entry, response, gone })
  else
    json(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } })({
      ...entry,
      response,
      gone,
    })
}

/** Answers with JSON. */
export function json(status: number, value: unknown): (exchange: Exchange) => void {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(value))
  }
}

/** Begins an event stream. */
export function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
}

/** Streams pieces, each in a write of its own, and ends. */
export function stream(pieces: Iterable<Uint8Array | string>): Route {
  return async ({ response }) => {
    begin(response)
    for (const piece of pieces) await write(response, piece)
    response.end()
  }
}

/** Writes a piece; resolves when it has left this process. */
export function write(response: ServerResponse, piece: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => resolve())
  })
}

/** A frame as a line of an event stream. */
export function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A token of `/completion`. */
export function token(content: string): string {
  return frame({ index: 0, content, stop: false })
}

/** The last frame of `/completion`. */
export function stop(stopType = 'eos'): string {
  return frame({ index: 0, content: '', stop: true, stop_type: stopType })
}
