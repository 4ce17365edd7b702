/** `fromLlamaServer` against a real HTTP server on this machine. */
import { type StreamEvent, collect, log, markersOf } from '@talaria/core'
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

  test('a request that is not JSON is the caller’s fault', async () => {
    const { baseUrl, asked } = await startServer({})
    const events = fromLlamaServer({ baseUrl, prompt: 'x', body: { seed: 1n } })
    await expect(events.next()).rejects.toMatchObject({ code: 'invalid-body' })
    expect(asked).toEqual([])
  })

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
    ['no address', { baseUrl: 'localhost', prompt: 'x' }, 'invalid-base-url'],
    ['an unknown dialect', { prompt: 'x', dialect: 'hermse' }, 'unknown-dialect'],
    ['a wrong limit', { prompt: 'x', limits: { depth: -1 } }, 'invalid-limit'],
  ])('%s throws at once', (_, options, code) => {
    const wrong = { baseUrl: 'http://localhost:8080', ...options }
    expect(() => fromLlamaServer(wrong)).toThrow(expect.objectContaining({ code }))
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
