/** `fromLlamaServer` against a real HTTP server on this machine. */
import { getEventListeners } from 'node:events'
import { MisuseError, type StreamEvent, collect, log, markersOf } from '@talaria/core'
import { describe, expect, test } from 'vitest'
import { verifyGrammar } from '../../core/test/grammar.ts'
import {
  type FromLlamaServerOptions,
  type PromptProgress,
  createLlamaServerReader,
  fromLlamaServer,
} from '../src/index.ts'
import {
  type Exchange,
  type Route,
  begin,
  closedAddress,
  frame,
  json,
  recordedReads,
  recording,
  startServer,
  stop,
  stream,
  token,
  write,
} from './replay-server.ts'

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const list: StreamEvent[] = []
  for await (const event of events) list.push(event)
  verifyGrammar(list, { overlap: true })
  return list
}

/** What the push reader gives for the same bytes. */
function expected(body: Uint8Array): string[] {
  const events: StreamEvent[] = []
  const reader = createLlamaServerReader({ onEvent: (event) => events.push(event) })
  reader.feed(body)
  reader.end()
  return log(events)
}

const TOOLS = [{ name: 'get_weather', parameters: { type: 'object' } }]
const MESSAGES = [{ role: 'user', content: 'Go' }]

describe('recorded streams', () => {
  const native = ['completion', 'piano-two_parallel-raw', 'piano-escapes-raw', 'ping-completion']
  const chat = ['chat-plain', 'piano-two_parallel-chat', 'dialect-qwen3-chat', 'ping-chat']
  const ways: readonly [string, (name: string) => Iterable<Uint8Array>][] = [
    ['as they were read', recordedReads],
    ['byte by byte', (name) => Array.from(recording(name), (byte) => Uint8Array.of(byte))],
    ['with CR LF', (name) => [withCrLf(recording(name))]],
    ['cut in the middle', (name) => [recording(name).subarray(0, recording(name).length >> 1)]],
  ]

  for (const [way, pieces] of ways) {
    test.each(native)(`%s, ${way}`, async (name) => {
      const { baseUrl } = await startServer({ '/completion': stream(pieces(name)) })
      const events = await all(fromLlamaServer({ baseUrl, prompt: 'Go' }))
      expect(log(events)).toEqual(expected(Buffer.concat([...pieces(name)])))
    })
    test.each(chat)(`%s, ${way}`, async (name) => {
      const { baseUrl } = await startServer({ '/v1/chat/completions': stream(pieces(name)) })
      const events = await all(fromLlamaServer({ baseUrl, messages: MESSAGES }))
      expect(log(events)).toEqual(expected(Buffer.concat([...pieces(name)])))
    })
  }

  function withCrLf(body: Uint8Array): Uint8Array {
    return new TextEncoder().encode(new TextDecoder().decode(body).replaceAll('\n', '\r\n'))
  }
})

describe('what is sent', () => {
  test('a prompt goes to /completion, with the markers to preserve', async () => {
    const { baseUrl, asked } = await startServer({ '/completion': stream([token('Hi'), stop()]) })
    const body = { n_predict: 9, preserved_tokens: ['<x>'] }
    await all(fromLlamaServer({ baseUrl, prompt: 'Say hi', dialect: 'hermes', body }))
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/completion' })
    expect(asked[0]!.headers['content-type']).toBe('application/json')
    expect(asked[0]!.body).toEqual({
      prompt: 'Say hi',
      stream: true,
      n_predict: 9,
      preserved_tokens: ['<x>', ...markersOf('hermes')],
    })
    expect(markersOf('hermes')).toContain('<tool_call>')
  })

  test('the key and headers', async () => {
    const { baseUrl, asked } = await startServer({ '/completion': stream([stop()]) })
    const headers = { 'x-trace': 'abc' }
    await all(fromLlamaServer({ baseUrl, prompt: 'x', apiKey: 'secret', headers }))
    expect(asked[0]!.headers).toMatchObject({ authorization: 'Bearer secret', 'x-trace': 'abc' })
  })

  test.each(['', '/', '/v1', '/v1/'])('a base address that ends in %j', async (end) => {
    const { baseUrl, asked } = await startServer({ '/completion': stream([stop()]) })
    await all(fromLlamaServer({ baseUrl: baseUrl + end, prompt: 'x' }))
    expect(asked.map(({ path }) => path)).toEqual(['/completion'])
  })

  test('a fetch of the caller’s', async () => {
    const calls: string[] = []
    const fetch: typeof globalThis.fetch = (input) => {
      calls.push(input as string)
      return Promise.resolve(new Response(token('Hi') + stop()))
    }
    const events = await all(fromLlamaServer({ baseUrl: 'http://llama.test', prompt: 'x', fetch }))
    expect(calls).toEqual(['http://llama.test/completion'])
    expect(collect(events)).toMatchObject({ text: 'Hi', finish: { reason: 'stop' } })
  })

  test('messages without tools go to the chat endpoint', async () => {
    const { baseUrl, asked } = await startServer({
      '/v1/chat/completions': stream([recording('chat-plain')]),
      '/props': json(200, { chat_template: '{{ messages }}' }),
    })
    await all(fromLlamaServer({ baseUrl, messages: MESSAGES, body: { max_tokens: 5 } }))
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /props',
      'POST /v1/chat/completions',
    ])
    expect(asked[1]!.body).toEqual({
      messages: MESSAGES,
      stream: true,
      max_tokens: 5,
      preserved_tokens: markersOf(),
    })
  })

  test('messages with tools are rendered and completed', async () => {
    const { baseUrl, asked } = await startServer({
      '/apply-template': json(200, { prompt: '<user>Go<assistant>' }),
      '/completion': stream([recording('piano-one-raw')]),
    })
    const body = { n_predict: 9, chat_template_kwargs: { enable_thinking: false }, grammar: 'x' }
    const events = await all(fromLlamaServer({ baseUrl, messages: MESSAGES, tools: TOOLS, body }))
    expect(asked.map(({ path }) => path)).toEqual(['/apply-template', '/completion'])
    expect(asked[0]!.body).toEqual({
      messages: MESSAGES,
      tools: [{ type: 'function', function: TOOLS[0] }],
      chat_template_kwargs: { enable_thinking: false },
    })
    expect(asked[1]!.body).toMatchObject({ prompt: '<user>Go<assistant>', n_predict: 9 })
    expect(asked[1]!.body).not.toHaveProperty('tools')
    expect(collect(events).calls.map(({ name, input }) => [name, input])).toEqual([
      ['get_weather', { city: 'Oslo' }],
    ])
  })

  test('messages with tools for the server’s own parser', async () => {
    const { baseUrl, asked } = await startServer({
      '/v1/chat/completions': stream([recording('piano-one-chat')]),
    })
    const tools = [{ type: 'function' as const, function: TOOLS[0]! }]
    const events = await all(
      fromLlamaServer({
        baseUrl,
        messages: MESSAGES,
        tools,
        toolChoice: 'required',
        parseOnServer: true,
      }),
    )
    expect(asked.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
    expect(asked[0]!.body).toMatchObject({ tools, tool_choice: 'required' })
    expect(collect(events).finish).toMatchObject({ reason: 'tool-calls', rawReason: 'tool_calls' })
  })

  test('no tools at all is a plain chat', async () => {
    const { baseUrl, asked } = await startServer({
      '/v1/chat/completions': stream([recording('chat-plain')]),
    })
    await all(fromLlamaServer({ baseUrl, messages: MESSAGES, tools: [] }))
    expect(asked.at(-1)!.path).toBe('/v1/chat/completions')
    expect(asked.at(-1)!.body).not.toHaveProperty('tools')
  })

  test('prompt progress is asked for and reported, and makes no event', async () => {
    const { baseUrl, asked } = await startServer({
      '/completion': stream([recording('progress-completion')]),
    })
    const reports: PromptProgress[] = []
    const onProgress = (report: PromptProgress): void => void reports.push(report)
    const events = await all(fromLlamaServer({ baseUrl, prompt: 'x', onProgress }))
    expect(asked[0]!.body.return_progress).toBe(true)
    expect(reports).toHaveLength(9)
    expect(reports[1]).toEqual({ total: 451, cached: 0, processed: 64, elapsedMs: 0 })
    expect(reports.at(-1)!.processed).toBe(451)
    expect(log(events)).toEqual(expected(recording('progress-completion')))
  })

  test('an answer that is not streamed', async () => {
    const { baseUrl, asked } = await startServer({
      '/completion': ({ response }) => void response.end(recording('completion-nonstream')),
    })
    const events = await all(fromLlamaServer({ baseUrl, prompt: 'x', body: { stream: false } }))
    expect(asked[0]!.body.stream).toBe(false)
    expect(log(events)).toEqual(expected(recording('completion-nonstream')))
  })

  test('the second of two prompts', async () => {
    const { baseUrl } = await startServer({
      '/completion': stream(recordedReads('completion-two-prompts')),
    })
    const events = await all(fromLlamaServer({ baseUrl, prompt: ['a', 'b'], choice: 1 }))
    expect(collect(events).text).toBe('abc tllath')
  })
})

describe('prompts that end in a reasoning opener', () => {
  const answer = [token('plan'), token('</think>'), token('\n\nHi'), stop()]
  const thinking = { chat_template: "{{- '<|im_start|>assistant\\n<think>\\n' }}\n{%- endif %}" }
  const opened = { prompt: '<|im_start|>assistant\n<think>\n' }
  const chatAnswer = [
    frame({ choices: [{ index: 0, delta: { content: 'plan</think>' } }] }),
    frame({ choices: [{ index: 0, delta: { content: 'Hi' } }] }),
    frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ]
  const read = async (options: FromLlamaServerOptions): Promise<unknown> => {
    const { text, reasoning } = collect(await all(fromLlamaServer(options)))
    return { text: text.trim(), reasoning: reasoning.trim() }
  }

  test.each([
    ['text', 'Q<think>\n'],
    ['tokens and text', [1, 2, '<think>']],
  ])('a prompt of %s', async (_, prompt) => {
    const { baseUrl } = await startServer({ '/completion': stream(answer) })
    expect(await read({ baseUrl, prompt })).toEqual({ text: 'Hi', reasoning: 'plan' })
  })

  test('an own start wins', async () => {
    const { baseUrl } = await startServer({ '/completion': stream([token('Hi'), stop()]) })
    const options = { baseUrl, prompt: 'Q<think>', startIn: 'text' } as const
    expect(await read(options)).toEqual({ text: 'Hi', reasoning: '' })
  })

  test('of several prompts the one that is read', async () => {
    const { baseUrl } = await startServer({ '/completion': stream([token('Hi'), stop()]) })
    const options = { baseUrl, prompt: ['Q', 'Q<think>'] }
    expect(await read(options)).toEqual({ text: 'Hi', reasoning: '' })
  })

  test('a conversation with tools', async () => {
    const { baseUrl } = await startServer({
      '/apply-template': json(200, opened),
      '/completion': stream(answer),
    })
    const options = { baseUrl, messages: MESSAGES, tools: TOOLS }
    expect(await read(options)).toEqual({ text: 'Hi', reasoning: 'plan' })
  })

  test('a chat is asked for as it is', async () => {
    const { baseUrl, asked } = await startServer({
      '/props': json(200, thinking),
      '/apply-template': json(200, opened),
      '/v1/chat/completions': stream(chatAnswer),
    })
    expect(await read({ baseUrl, messages: MESSAGES })).toEqual({ text: 'Hi', reasoning: 'plan' })
    expect(asked.map(({ path }) => path)).toEqual([
      '/props',
      '/apply-template',
      '/v1/chat/completions',
    ])
    expect(asked[2]!.body.reasoning_format).toBe('none')
  })

  test('a chat whose template can’t be rendered by the server', async () => {
    const { baseUrl, asked } = await startServer({
      '/props': json(200, thinking),
      '/v1/chat/completions': stream(chatAnswer),
    })
    expect(await read({ baseUrl, messages: MESSAGES })).toEqual({ text: 'Hi', reasoning: 'plan' })
    expect(asked.at(-1)!.body.reasoning_format).toBe('none')
  })

  test('a chat whose rendered prompt is not open', async () => {
    const { baseUrl, asked } = await startServer({
      '/props': json(200, thinking),
      '/apply-template': json(200, { prompt: 'assistant\n<think>\n\n</think>\n\n' }),
      '/v1/chat/completions': stream([recording('chat-plain')]),
    })
    expect(await read({ baseUrl, messages: MESSAGES })).toMatchObject({ reasoning: '' })
    expect(asked.at(-1)!.body).not.toHaveProperty('reasoning_format')
  })

  test('a server that tells reasoning apart all the same', async () => {
    const { baseUrl } = await startServer({
      '/props': json(200, thinking),
      '/v1/chat/completions': stream([recording('dialect-qwen3-think-mentions-chat')]),
    })
    const { text } = (await read({ baseUrl, messages: MESSAGES })) as { text: string }
    expect(text).toBe('Hello.')
  })

  test('a caller who chose how reasoning comes', async () => {
    const { baseUrl, asked } = await startServer({
      '/v1/chat/completions': stream([recording('chat-plain')]),
    })
    const body = { reasoning_format: 'deepseek' }
    await all(fromLlamaServer({ baseUrl, messages: MESSAGES, body }))
    expect(asked.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
    expect(asked[0]!.body.reasoning_format).toBe('deepseek')
  })
})

describe('what goes wrong', () => {
  const fail = async (
    route: Route,
    options: Partial<FromLlamaServerOptions> = {},
  ): Promise<StreamEvent[]> => {
    const { baseUrl } = await startServer({ '/completion': route, '/v1/chat/completions': route })
    return all(fromLlamaServer({ baseUrl, prompt: 'x', ...options }))
  }
  const error = (code: number, message: string): unknown => ({ error: { code, message } })

  test.each([
    [400, json(400, error(400, 'bad grammar')), 'HTTP 400 Bad Request: bad grammar'],
    [401, json(401, error(401, 'Invalid API Key')), 'HTTP 401 Unauthorized: Invalid API Key'],
    [503, json(503, error(503, 'Loading model')), 'HTTP 503 Service Unavailable: Loading model'],
    [
      500,
      ({ response }: Exchange) => void response.writeHead(500).end('Internal error'),
      'HTTP 500 Internal Server Error: "Internal error"',
    ],
    [502, ({ response }: Exchange) => void response.writeHead(502).end(), 'HTTP 502 Bad Gateway'],
    [500, json(500, { message: 'no wrapper' }), 'HTTP 500 Internal Server Error: no wrapper'],
  ])('status %i', async (status, route, message) => {
    const events = await fail(route)
    expect(events).toMatchObject([
      { type: 'error', code: 'server-error', rawCode: String(status), message },
      { type: 'finish', reason: 'error' },
    ])
  })

  test('an unknown path', async () => {
    const { baseUrl } = await startServer({})
    const events = await all(fromLlamaServer({ baseUrl, prompt: 'x' }))
    expect(events[0]).toMatchObject({
      rawCode: '404',
      message: 'HTTP 404 Not Found: File Not Found',
    })
  })

  test('a server that can’t render tools says what to do', async () => {
    const { baseUrl } = await startServer({})
    const events = await all(fromLlamaServer({ baseUrl, messages: MESSAGES, tools: TOOLS }))
    expect(events[0]).toMatchObject({ type: 'error', rawCode: '404' })
    expect(events[0]).toHaveProperty('message', expect.stringContaining('parseOnServer'))
  })

  test.each<Route>([json(200, { text: 'x' }), ({ response }) => void response.end('<html>')])(
    'a rendering that is none (%#)',
    async (route) => {
      const { baseUrl } = await startServer({ '/apply-template': route })
      const events = await all(fromLlamaServer({ baseUrl, messages: MESSAGES, tools: TOOLS }))
      expect(events[0]).toMatchObject({ type: 'error', code: 'unrecognized-stream' })
    },
  )

  test('nobody listens', async () => {
    const baseUrl = await closedAddress()
    const events = await all(fromLlamaServer({ baseUrl, prompt: 'x' }))
    expect(events).toMatchObject([
      { type: 'error', code: 'connection-failed', rawCode: 'ECONNREFUSED' },
      { type: 'finish', reason: 'error' },
    ])
    expect(events[0]).toHaveProperty('message', expect.stringContaining(baseUrl))
  })

  test('the connection breaks inside a call', async () => {
    const events = await fail(async ({ response }) => {
      begin(response)
      await write(response, token('<tool_call>{"name":"f","arguments":{"a":'))
      response.destroy()
    })
    expect(log(events).slice(1)).toEqual([
      'tool-call-start 0 f',
      'tool-call-delta 0 "{\\"a\\":"',
      'tool-call-error 0 aborted f @40 raw="<tool_call>{\\"name\\":\\"f\\",\\"arguments\\":{\\"a\\":"',
      expect.stringMatching(/^error connection-failed /),
      'finish error',
    ])
  })

  test('the connection ends before the last frame', async () => {
    const events = await fail(stream([token('Hi')]))
    expect(collect(events)).toMatchObject({ text: 'Hi', finish: { reason: 'interrupted' } })
  })

  test('an error inside the stream', async () => {
    const events = await fail(stream([recording('chat-tools-auto-bias')]))
    expect(collect(events)).toMatchObject({
      error: { code: 'server-error', rawCode: '500' },
      finish: { reason: 'error' },
    })
  })

  test.each([
    ['neither prompt nor messages', {}, 'prompt-or-messages'],
    ['both', { prompt: 'x', messages: MESSAGES }, 'prompt-or-messages'],
    ['an unknown dialect', { prompt: 'x', dialect: 'hermse' }, 'unknown-dialect'],
    ['a wrong limit', { prompt: 'x', limits: { depth: -1 } }, 'invalid-limit'],
  ])('%s throws at once', (_, options, code) => {
    const wrong = { baseUrl: 'http://localhost:8080', ...options }
    expect(() => fromLlamaServer(wrong)).toThrow(expect.objectContaining({ code }))
  })
})

describe('misuse throws at the call, with what was expected and found', () => {
  const message = (options: object): string => {
    try {
      fromLlamaServer({ baseUrl: 'http://localhost:8080', prompt: 'x', ...options })
    } catch (error) {
      expect(error).toBeInstanceOf(MisuseError)
      return (error as Error).message
    }
    return 'nothing was thrown'
  }

  test.each([
    ['localhost:8080', '"localhost:8080". Did you mean http://localhost:8080?'],
    ['127.0.0.1:8080/v1', '"127.0.0.1:8080/v1". Did you mean http://127.0.0.1:8080/v1?'],
    ['localhost', '"localhost". Did you mean http://localhost?'],
    ['ws://localhost', '"ws://localhost".'],
    ['', '"".'],
    [undefined, 'nothing.'],
    [8080, '8080.'],
    ['http://localhost:8080/?a=b', 'one with a query or a fragment.'],
    ['http://localhost:8080/?', 'one with a query or a fragment.'],
    ['http://localhost:8080#a', 'one with a query or a fragment.'],
  ])('the address %j', (baseUrl, found) => {
    const start = 'Expected an address such as http://localhost:8080 as `baseUrl`, found '
    expect(message({ baseUrl })).toBe(start + found)
  })

  test.each([
    [{ prompt: 5 }, 'Expected text, or a list of texts and tokens, in `prompt`, found 5.'],
    [
      { prompt: [] },
      'Expected text, or a list of texts and tokens, in `prompt`, found an empty list.',
    ],
    [{ prompt: [1, null] }, 'Expected text or a token in `prompt[1]`, found null.'],
    [{ prompt: [0.5] }, 'Expected text or a token in `prompt[0]`, found 0.5.'],
    [
      { prompt: undefined, messages: 'Hi' },
      'Expected a list of messages in `messages`, found "Hi".',
    ],
    [{ prompt: undefined, messages: [null] }, 'Expected an object in `messages[0]`, found null.'],
    [{ body: null }, 'Expected an object of fields in `body`, found null.'],
    [{ body: [1] }, 'Expected an object of fields in `body`, found a list.'],
    [{ body: { a: 1n } }, 'Expected a request that is JSON: Do not know how to serialize a BigInt'],
    [{ choice: 1n }, 'Expected a whole number from 0 in `choice`, found 1.'],
    [{ choice: Number.NaN }, 'Expected a whole number from 0 in `choice`, found NaN.'],
    [{ headers: [] }, 'Expected an object of names and values in `headers`, found an empty list.'],
    [
      { headers: new Headers({ a: 'b' }) },
      'Expected an object of names and values in `headers`, found an object.',
    ],
    [
      { headers: { 'x-trace': undefined } },
      'Expected text that a header may hold in `headers["x-trace"]`, found a value of type undefined.',
    ],
    [
      { apiKey: 5 },
      'Expected a key that a header may hold in `apiKey`, found a value of type number.',
    ],
    [{ parseOnServer: 'yes' }, 'Expected true or false in `parseOnServer`, found "yes".'],
    [{ fetch: 'x' }, 'Expected a function in `fetch`, found "x".'],
    [{ signal: {} }, 'Expected an AbortSignal in `signal`, found an object.'],
    [{ tools: [null] }, expect.stringContaining('tools[0]')],
  ])('%o', (options, text) => {
    expect(message(options)).toEqual(text)
  })

  test('options that are none', () => {
    expect(() => fromLlamaServer(undefined as never)).toThrow(MisuseError)
  })

  test.each([
    { apiKey: 'hunter2\nhunter2' },
    { apiKey: 'hunter2…' },
    { headers: { authorization: 'Bearer hunter2\n!' } },
    { headers: { 'authorization: hunter2': '' } },
    { baseUrl: 'http://me:hunter2@localhost:8080' },
    { baseUrl: 'me:hunter2@localhost:8080' },
    { baseUrl: 'http://localhost:8080/?api_key=hunter2' },
    { baseUrl: 'localhost:8080/?api_key=hunter2' },
  ])('no secret is shown (%#)', (options) => {
    expect(message(options)).toMatch(/^Expected /)
    expect(message(options)).not.toContain('hunter2')
  })
})

test('a header of the caller’s replaces ours, however it is spelled', async () => {
  const { baseUrl, asked } = await startServer({ '/completion': stream([stop()]) })
  const headers = { Authorization: 'Basic abc', 'Content-Type': 'application/json; charset=utf-8' }
  await all(fromLlamaServer({ baseUrl, prompt: 'x', apiKey: 'secret', headers }))
  expect(asked[0]!.headers).toMatchObject({
    authorization: 'Basic abc',
    'content-type': 'application/json; charset=utf-8',
  })
})

describe('going away', () => {
  /** A server that generates without end, until its client is gone. */
  async function endless(): Promise<{ baseUrl: string; gone: Promise<void> }> {
    let resolve = (): void => {}
    const gone = new Promise<void>((done) => (resolve = done))
    const { baseUrl } = await startServer({
      '/completion': async (exchange) => {
        begin(exchange.response)
        void exchange.gone.then(resolve)
        await write(exchange.response, token('<tool_call>{"name":"f","arguments":{"a":"'))
        while (!exchange.response.destroyed) {
          await write(exchange.response, token('x'))
          await new Promise((next) => setTimeout(next, 5))
        }
      },
    })
    return { baseUrl, gone }
  }

  test('leaving the loop stops the server', async () => {
    const { baseUrl, gone } = await endless()
    for await (const event of fromLlamaServer({ baseUrl, prompt: 'x' })) {
      if (event.type === 'tool-call-delta') break
    }
    await gone
  })

  test('an aborted signal stops the server and closes what is open', async () => {
    const { baseUrl, gone } = await endless()
    const controller = new AbortController()
    const events: StreamEvent[] = []
    for await (const event of fromLlamaServer({
      baseUrl,
      prompt: 'x',
      signal: controller.signal,
    })) {
      events.push(event)
      if (event.type === 'tool-call-delta') controller.abort()
    }
    await gone
    verifyGrammar(events)
    expect(log(events).slice(-2)).toEqual([
      expect.stringMatching(/^tool-call-error 0 aborted f /),
      'finish aborted',
    ])
  })

  test('an abort while the server is silent', async () => {
    const controller = new AbortController()
    const { baseUrl } = await startServer({
      '/completion': async ({ response }) => {
        begin(response)
        await write(response, token('Hi'))
        setTimeout(() => controller.abort(), 20)
      },
    })
    const { signal } = controller
    const events = await all(fromLlamaServer({ baseUrl, prompt: 'x', signal }))
    expect(collect(events)).toMatchObject({ text: 'Hi', finish: { reason: 'aborted' } })
  })

  test('an abort before the answer begins', async () => {
    const controller = new AbortController()
    const { baseUrl } = await startServer({ '/completion': () => controller.abort() })
    const { signal } = controller
    expect(await all(fromLlamaServer({ baseUrl, prompt: 'x', signal }))).toEqual([
      { type: 'finish', reason: 'aborted' },
    ])
  })

  test('an abort while the chat template is asked for', async () => {
    const controller = new AbortController()
    const { baseUrl, asked } = await startServer({ '/props': () => controller.abort() })
    const { signal } = controller
    expect(await all(fromLlamaServer({ baseUrl, messages: MESSAGES, signal }))).toEqual([
      { type: 'finish', reason: 'aborted' },
    ])
    expect(asked.map(({ path }) => path)).toEqual(['/props'])
  })

  test('an abort beforehand sends nothing', async () => {
    const { baseUrl, asked } = await startServer({})
    const signal = AbortSignal.abort()
    expect(await all(fromLlamaServer({ baseUrl, prompt: 'x', signal }))).toEqual([
      { type: 'finish', reason: 'aborted' },
    ])
    expect(asked).toEqual([])
  })

  test('nothing is sent before the first event is asked for', async () => {
    const { baseUrl, asked } = await startServer({ '/completion': stream([stop()]) })
    const events = fromLlamaServer({ baseUrl, prompt: 'x' })
    await events.return()
    expect(asked).toEqual([])
  })

  /** A server that keeps silent somewhere, and when its client is gone. */
  async function silent(
    path: string,
    start: (exchange: Exchange) => void | Promise<void>,
  ): Promise<{ baseUrl: string; asked: Promise<void>; gone: Promise<void> }> {
    let onAsked = (): void => {}
    let onGone = (): void => {}
    const asked = new Promise<void>((resolve) => (onAsked = resolve))
    const gone = new Promise<void>((resolve) => (onGone = resolve))
    const { baseUrl } = await startServer({
      [path]: async (exchange) => {
        void exchange.gone.then(onGone)
        await start(exchange)
        onAsked()
      },
    })
    return { baseUrl, asked, gone }
  }
  const headOnly = ({ response }: Exchange): void => {
    begin(response)
    response.flushHeaders()
  }
  const oneToken = ({ response }: Exchange): Promise<void> => {
    begin(response)
    return write(response, token('<tool_call>{"name":"f","arguments":{"a":'))
  }

  describe.each([
    ['before its answer', '/completion', () => {}, { prompt: 'x' }],
    ['after its headers', '/completion', headOnly, { prompt: 'x' }],
    ['inside a call', '/completion', oneToken, { prompt: 'x' }],
    ['about its template', '/props', () => {}, { messages: MESSAGES }],
    ['while it renders', '/apply-template', () => {}, { messages: MESSAGES, tools: TOOLS }],
  ])('a server that is silent %s', (_, path, start, options) => {
    test('is left while an event is waited for', async () => {
      const { baseUrl, asked, gone } = await silent(path, start)
      const events = fromLlamaServer({ baseUrl, ...options })
      const waiting = (async () => {
        for (;;) if ((await events.next()).done) return
      })()
      await asked
      expect(await events.return()).toEqual({ done: true, value: undefined })
      await waiting
      await gone
      expect(await events.next()).toEqual({ done: true, value: undefined })
    })

    test('is left by an exception that is thrown in', async () => {
      const { baseUrl, asked, gone } = await silent(path, start)
      const events = fromLlamaServer({ baseUrl, ...options })
      const waiting = (async () => {
        for (;;) if ((await events.next()).done) return
      })()
      await asked
      await events.throw(new Error('enough')).catch(() => {})
      await waiting
      await gone
    })

    test('is left by cancelling a stream of its events', async () => {
      const { baseUrl, asked, gone } = await silent(path, start)
      const reader = ReadableStream.from(fromLlamaServer({ baseUrl, ...options })).getReader()
      const waiting = (async () => {
        for (;;) if ((await reader.read()).done) return
      })()
      await asked
      await reader.cancel()
      await waiting
      await gone
    })
  })

  test('what is waited for when the stream is left brings no event', async () => {
    const { baseUrl, asked } = await silent('/completion', () => {})
    const events = fromLlamaServer({ baseUrl, prompt: 'x' })
    const waiting = [events.next(), events.next()]
    await asked
    await events.return()
    const done = { done: true, value: undefined }
    expect(await Promise.all(waiting)).toEqual([done, done])
  })

  test('the connection of a refusal that is not read to its end is closed', async () => {
    const { baseUrl, gone } = await silent('/apply-template', ({ response }) => {
      response.writeHead(500)
      return write(response, 'x'.repeat(200_000))
    })
    const events = await all(fromLlamaServer({ baseUrl, messages: MESSAGES, tools: TOOLS }))
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'error' })
    await gone
  })

  test('a fetch that does not heed the signal is not waited for, nor its answer kept', async () => {
    let answer: (response: Response) => void = () => {}
    const fetch = (): Promise<Response> => new Promise((resolve) => (answer = resolve))
    const events = fromLlamaServer({ baseUrl: 'http://llama.test', prompt: 'x', fetch })
    const waiting = events.next()
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    await new Promise<void>((resolve) => {
      answer(new Response(new ReadableStream({ cancel: () => resolve() })))
    })
  })

  test('many streams share a signal and one listener on it', async () => {
    const { baseUrl } = await startServer({ '/completion': oneToken })
    const controller = new AbortController()
    const { signal } = controller
    const streams = Array.from({ length: 12 }, () =>
      fromLlamaServer({ baseUrl, prompt: 'x', signal }),
    )
    await Promise.all(streams.map((events) => events.next()))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await streams[0]!.return()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    controller.abort()
    for (const events of streams.slice(1)) {
      const list: StreamEvent[] = []
      for await (const event of events) list.push(event)
      expect(list.at(-1)).toEqual({ type: 'finish', reason: 'aborted' })
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('no listener stays on the signal', async () => {
    const { baseUrl } = await startServer({ '/completion': stream([token('Hi'), stop()]) })
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    await all(fromLlamaServer({ baseUrl, prompt: 'x', signal }))
    expect(listeners).toBe(0)
  })
})

test('a server is not read ahead of the consumer', async () => {
  const LINE = token('x'.repeat(16_384))
  const LINES = 2_048
  let written = 0
  const { baseUrl } = await startServer({
    '/completion': async ({ response }) => {
      begin(response)
      while (written < LINES && !response.destroyed) {
        written++
        if (!response.write(LINE)) await new Promise((next) => response.once('drain', next))
      }
      response.end(stop())
    },
  })
  const events = fromLlamaServer({ baseUrl, prompt: 'x' })
  await events.next()
  // Wait until the server has stopped writing: its buffers and the kernel's are full, or it is done.
  for (let before = -1; before !== written;) {
    before = written
    await new Promise((next) => setTimeout(next, 150))
  }
  expect(written).toBeLessThan(LINES)
  let size = 0
  for await (const event of events) if (event.type === 'text-delta') size += event.delta.length
  expect(size).toBe(16_384 * LINES)
})
