/** `fromNodeLlamaCpp` on the real engine, whose tiny models write what each test needs. */
import { getEventListeners } from 'node:events'
import { type StreamEvent, collect, log } from '@talaria/core'
import type { LlamaContextSequence, Token } from 'node-llama-cpp'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type FromSequence,
  type NodeLlamaCompletion,
  type NodeLlamaModel,
  createDetokenizer,
  fromNodeLlamaCpp,
} from '../src/node.ts'
import { type PianoOptions, type TinyEngine, createPiano, renderPrompt } from '../src/piano.ts'
import { all, loadRealEngine } from './real-engine.ts'

const engine = await loadRealEngine()
afterAll(() => engine?.dispose())
// Not imported where it cannot be had.
const { LlamaChatSession, LlamaCompletion, LlamaText, QwenChatWrapper, SpecialTokensText } = engine
  ? await import('node-llama-cpp')
  : ({} as typeof import('node-llama-cpp'))

const CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "ü🌍"}}\n</tool_call>'
const ANSWER = `Sure.\n${CALL}`
const LINES = [
  'text-start 0',
  String.raw`text-delta 0 "Sure.\n"`,
  'text-end 0',
  'tool-call-start 1 f',
  String.raw`tool-call-delta 1 "{\"a\": \"ü🌍\"}"`,
  'tool-call-end 1',
]

/** Plays a script for the time of `use`. */
async function withPiano<T>(
  options: PianoOptions,
  use: (piano: TinyEngine & { sequence: LlamaContextSequence }) => Promise<T>,
): Promise<T> {
  const piano = await createPiano(engine!, options)
  try {
    return await use(piano as TinyEngine & { sequence: LlamaContextSequence })
  } finally {
    await piano.dispose()
  }
}

/** Lines between `stream-start` and `finish`. */
function linesOf(events: readonly StreamEvent[]): string[] {
  return log(events).slice(1, -1)
}

function finishOf(events: readonly StreamEvent[]) {
  expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1)
  return events.at(-1)
}

describe.skipIf(!engine)('every way to generate gives the same events', () => {
  test('a sequence', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      let text = ''
      const options = { sequence, prompt, onText: (chunk: string) => (text += chunk) }
      const events = await all(fromNodeLlamaCpp(options))
      expect(events[0]).toEqual({ type: 'stream-start', model: 'talaria-piano.gguf' })
      expect(linesOf(events)).toEqual(LINES)
      expect(text).toBe(ANSWER)
      const outputTokens = sequence.model.tokenize(ANSWER).length + 1
      const usage = { inputTokens: prompt.length, outputTokens, cachedInputTokens: 0 }
      const finish = { type: 'finish', reason: 'tool-calls', rawReason: 'eogToken' }
      expect(finishOf(events)).toEqual({ ...finish, usage })

      // The prompt is still in the sequence's state; only its last token is evaluated again.
      const again = await all(fromNodeLlamaCpp(options))
      expect(linesOf(again)).toEqual(LINES)
      const cachedInputTokens = prompt.length - 1
      expect(finishOf(again)).toEqual({ ...finish, usage: { ...usage, cachedInputTokens } })
    })
  })

  test('tokens of the caller’s own loop', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const { model } = sequence
      for (const yieldEogToken of [true, false]) {
        await sequence.clearHistory()
        const tokens = sequence.evaluate([...prompt] as Token[], { yieldEogToken })
        const events = await all(fromNodeLlamaCpp({ model, tokens }))
        expect(linesOf(events)).toEqual(LINES)
        expect(finishOf(events)).toMatchObject({ reason: 'tool-calls' })
      }
    })
  })

  test('a completion', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const { model } = sequence
      const completion = new LlamaCompletion({ contextSequence: sequence })
      const events = await all(fromNodeLlamaCpp({ completion, model, prompt }))
      expect(linesOf(events)).toEqual(LINES)
      expect(finishOf(events)).toMatchObject({
        reason: 'tool-calls',
        rawReason: 'eogToken',
        usage: {
          inputTokens: prompt.length,
          outputTokens: model.tokenize(ANSWER).length + 1,
        },
      })
    })
  })

  test('a completion that stops at a trigger', async () => {
    await withPiano({ script: 'one two three' }, async ({ sequence, prompt }) => {
      const { model } = sequence
      const completion = new LlamaCompletion({ contextSequence: sequence })
      const generation = { customStopTriggers: [' three'] }
      const events = await all(fromNodeLlamaCpp({ completion, model, prompt, generation }))
      expect(collect(events).text).toBe('one two')
      expect(finishOf(events)).toMatchObject({ reason: 'stop', rawReason: 'customStopTrigger' })
    })
  })

  test('a chat session, whose thoughts are reasoning', async () => {
    const script = `<think>\nü, a thought.\n</think>\n\n${ANSWER}`
    const question = 'Hello?'
    const chatWrapper = new QwenChatWrapper()
    // What the session will render, so that the piano knows how long its prompt is.
    const { contextText } = chatWrapper.generateContextState({
      chatHistory: [
        ...chatWrapper.generateInitialChatHistory(),
        { type: 'user', text: question },
        { type: 'model', response: [] },
      ],
    })
    await withPiano({ script, prompt: contextText.toString() }, async ({ sequence, prompt }) => {
      const { model } = sequence
      expect(contextText.tokenize(model.tokenizer)).toEqual(prompt)
      const session = new LlamaChatSession({ contextSequence: sequence, chatWrapper })
      const events = await all(fromNodeLlamaCpp({ session, prompt: question }))
      expect(linesOf(events)).toEqual([
        'reasoning-start 0',
        'reasoning-delta 0 "ü, a thought."',
        'reasoning-end 0',
        'text-start 1',
        String.raw`text-delta 1 "\n\nSure.\n"`,
        'text-end 1',
        'tool-call-start 2 f',
        String.raw`tool-call-delta 2 "{\"a\": \"ü🌍\"}"`,
        'tool-call-end 2',
      ])
      const outputTokens = model.tokenize(script).length + 1
      expect(finishOf(events)).toEqual({
        type: 'finish',
        reason: 'tool-calls',
        rawReason: 'eogToken',
        usage: { inputTokens: prompt.length, outputTokens, cachedInputTokens: 0 },
      })
      expect(session.getChatHistory().at(-1)).toMatchObject({ type: 'model' })
    })
  })
})

describe.skipIf(!engine)('text', () => {
  test('shows markers that are control tokens, which the engine’s own text hides', async () => {
    const vocabulary = { tags: 'control' } as const
    await withPiano({ script: ANSWER, vocabulary }, async ({ sequence, prompt }) => {
      const { model } = sequence
      const completion = new LlamaCompletion({ contextSequence: sequence })
      const hidden = await completion.generateCompletion([...prompt] as Token[])
      expect(hidden).not.toContain('tool_call')
      for (const events of [
        await all(fromNodeLlamaCpp({ completion, model, prompt })),
        await all(fromNodeLlamaCpp({ sequence, prompt })),
      ]) {
        expect(linesOf(events)).toEqual(LINES)
      }
    })
  })

  test('has no U+FFFD where a character is split, which tokens read one by one have', async () => {
    const script = 'ü 東京 🌍👋🏽'
    await withPiano({ script, vocabulary: { merges: 0 } }, async ({ sequence, prompt }) => {
      const { model } = sequence
      const naive = model
        .tokenize(script)
        .map((token) => model.detokenize([token]))
        .join('')
      expect(naive).toContain('\ufffd')
      const events = await all(fromNodeLlamaCpp({ sequence, prompt }))
      expect(collect(events).text).toBe(script)
      for (const event of events) {
        if (event.type === 'text-delta') expect(event.delta).not.toContain('\ufffd')
      }
    })
  })

  test('begins in reasoning where the prompt ends in its opener', async () => {
    const script = `A thought.\n</think>\n\n${ANSWER}`
    const rendered = renderPrompt({ question: 'Hello?', reasoning: true })
    const asLlamaText = new LlamaText(new SpecialTokensText(rendered))
    await withPiano({ script, prompt: rendered }, async ({ sequence, prompt }) => {
      for (const form of [rendered, prompt, asLlamaText]) {
        const message = collect(await all(fromNodeLlamaCpp({ sequence, prompt: form })))
        expect(message).toMatchObject({ reasoning: 'A thought.\n', calls: [{ name: 'f' }] })
      }
      const told = await all(fromNodeLlamaCpp({ sequence, prompt, startIn: 'text' }))
      expect(collect(told).reasoning).toBe('')
    })
    const closed = `${rendered}\n</think>\n\n`
    await withPiano({ script: ANSWER, prompt: closed }, async ({ sequence, prompt }) => {
      expect(linesOf(await all(fromNodeLlamaCpp({ sequence, prompt })))).toEqual(LINES)
    })
  })

  test('goes through the parser’s options', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      let id = 0
      const generateId = () => `id-${id++}`
      const events = await all(fromNodeLlamaCpp({ sequence, prompt, generateId }))
      expect(collect(events).calls).toMatchObject([{ id: 'id-0' }])
      const off = await all(fromNodeLlamaCpp({ sequence, prompt, tools: [] }))
      expect(collect(off)).toMatchObject({ text: ANSWER, calls: [] })
    })
  })
})

describe.skipIf(!engine)('the end', () => {
  test('maxTokens is length, and a call that it cuts must not be run', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const { model } = sequence
      const size = model.tokenize(ANSWER).length
      const completion = new LlamaCompletion({ contextSequence: sequence })
      // The last of these is in the middle of a character, which is left out. A completion keeps
      // back one character more.
      for (const maxTokens of [1, 9, size - 4]) {
        for (const [events, args] of [
          [await all(fromNodeLlamaCpp({ sequence, prompt, maxTokens })), '{"a": "ü'],
          [await all(fromNodeLlamaCpp({ completion, model, prompt, maxTokens })), '{"a": "'],
        ] as const) {
          const message = collect(events)
          expect(message.calls).toEqual([])
          expect(message.finish).toMatchObject({
            reason: 'length',
            rawReason: 'maxTokens',
            usage: { outputTokens: maxTokens },
          })
          if (maxTokens < size - 4) continue
          const failed = { name: 'f', code: 'incomplete-call', arguments: args }
          expect(message.failed).toMatchObject([failed])
        }
      }
    })
  })

  test('a full context is length', async () => {
    await withPiano({ script: 'ab '.repeat(150) }, async ({ sequence: { model }, prompt }) => {
      const context = await model.createContext({ contextSize: 256, threads: 1 })
      const sequence = context.getSequence()
      const events = await all(fromNodeLlamaCpp({ sequence, prompt, maxTokens: 400 }))
      expect(finishOf(events)).toMatchObject({
        reason: 'length',
        rawReason: 'contextSize',
        usage: { inputTokens: prompt.length },
      })
      expect(sequence.nextTokenIndex).toBeLessThan(sequence.contextSize)
      await context.dispose()
    })
  })

  test('a prompt of one token is enough, none is an error', async () => {
    await withPiano({ script: 'one two', prompt: 'a' }, async ({ sequence, prompt }) => {
      expect(prompt).toHaveLength(1)
      for (let i = 0; i < 2; i++) {
        expect(collect(await all(fromNodeLlamaCpp({ sequence, prompt }))).text).toBe('one two')
      }
      const events = await all(fromNodeLlamaCpp({ sequence, prompt: '' }))
      expect(events.slice(-2)).toMatchObject([{ code: 'engine-failed' }, { reason: 'error' }])
    })
  })

  test('a prompt that does not fit is an error', async () => {
    await withPiano({ script: 'x' }, async ({ sequence, prompt }) => {
      const long = Array.from({ length: sequence.contextSize }, () => prompt[0]!)
      const events = await all(fromNodeLlamaCpp({ sequence, prompt: long }))
      expect(events.map(({ type }) => type)).toEqual(['stream-start', 'error', 'finish'])
      expect(events[1]).toMatchObject({ code: 'engine-failed', cause: expect.any(RangeError) })
      expect(finishOf(events)).toMatchObject({ reason: 'error' })
    })
  })

  test('what the engine throws is an error event, and an open call fails', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const { model } = sequence
      async function* broken() {
        let left = model.tokenize(ANSWER).length - 4
        for await (const token of sequence.evaluate([...prompt] as Token[])) {
          if (left-- === 0) throw new Error('out of memory')
          yield token
        }
      }
      const events = await all(fromNodeLlamaCpp({ model, tokens: broken() }))
      expect(events.slice(-3)).toMatchObject([
        { type: 'tool-call-error', name: 'f', code: 'aborted' },
        { type: 'error', code: 'engine-failed', message: 'out of memory' },
        { type: 'finish', reason: 'error' },
      ])
    })
  })

  test('a disposed engine is an error event, before and in the middle', async () => {
    const piano = await createPiano(engine!, { script: ANSWER })
    const { sequence, prompt } = piano
    const events: StreamEvent[] = []
    for await (const event of fromNodeLlamaCpp({ sequence, prompt })) {
      events.push(event)
      if (event.type === 'text-delta') await piano.dispose()
    }
    expect(events.slice(-2)).toMatchObject([{ type: 'error' }, { type: 'finish', reason: 'error' }])
    const after = await all(fromNodeLlamaCpp({ sequence, prompt: LlamaText(['x']) }))
    expect(after.slice(-2)).toMatchObject([{ type: 'error' }, { type: 'finish', reason: 'error' }])
  })

  test('misuse throws at the call', () => {
    const code = (value: string) => expect.objectContaining({ code: value })
    expect(() => fromNodeLlamaCpp({} as never)).toThrow(code('missing-source'))
    const source = { model: {} as NodeLlamaModel, tokens: (async function* () {})() }
    expect(() => fromNodeLlamaCpp({ ...source, dialekt: 'hermes' } as never)).toThrow(
      code('unknown-option'),
    )
    expect(() => fromNodeLlamaCpp({ ...source, dialect: 'herms' })).toThrow(code('unknown-dialect'))
    for (const wrong of [
      { maxTokens: 0 },
      { maxTokens: -1 },
      { maxTokens: 1.5 },
      { maxTokens: Number.NaN },
      { maxTokens: Infinity },
      { maxTokens: '9' },
      { onText: 'x' },
      { signal: 'x' },
    ]) {
      expect(() => fromNodeLlamaCpp({ ...source, ...wrong } as never)).toThrow(
        code('invalid-option'),
      )
    }
    expect(() => fromNodeLlamaCpp(undefined as never)).toThrow(code('invalid-option'))
  })
})

describe.skipIf(!engine)('stopping', () => {
  const script = `${'word '.repeat(60)}\n${CALL}`

  /** The three ways that have an engine to stop. */
  async function each(
    run: (source: FromSequence, sequence: LlamaContextSequence) => Promise<void>,
  ): Promise<void> {
    await withPiano({ script }, async ({ sequence, prompt }) => {
      const { model } = sequence
      await run({ sequence, prompt }, sequence)
      const completion = new LlamaCompletion({ contextSequence: sequence })
      await run({ completion, model, prompt } as unknown as FromSequence, sequence)
      completion.dispose()
      const chatWrapper = new QwenChatWrapper()
      const session = new LlamaChatSession({ contextSequence: sequence, chatWrapper })
      await run({ session, prompt: 'Hello?' } as unknown as FromSequence, sequence)
    })
  }

  /** That nothing is generated any more. */
  async function expectStill(sequence: LlamaContextSequence): Promise<void> {
    const { usedOutputTokens } = sequence.tokenMeter
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sequence.tokenMeter.usedOutputTokens).toBe(usedOutputTokens)
    expect(usedOutputTokens).toBeLessThan(150)
  }

  test('an abort ends the stream and the generation', async () => {
    await each(async (source, sequence) => {
      const controller = new AbortController()
      const events: StreamEvent[] = []
      for await (const event of fromNodeLlamaCpp({ ...source, signal: controller.signal })) {
        events.push(event)
        if (event.type === 'text-delta') controller.abort()
      }
      const types = ['stream-start', 'text-start', 'text-delta', 'text-end', 'finish']
      expect(events.map(({ type }) => type)).toEqual(types)
      expect(finishOf(events)).toMatchObject({ reason: 'aborted' })
      await expectStill(sequence)
    })
  })

  test('an abort in a call fails the call', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const controller = new AbortController()
      const { signal } = controller
      const events: StreamEvent[] = []
      for await (const event of fromNodeLlamaCpp({ sequence, prompt, signal })) {
        events.push(event)
        if (event.type === 'tool-call-start') controller.abort()
      }
      expect(events.slice(-2)).toMatchObject([
        { type: 'tool-call-error', code: 'aborted', name: 'f' },
        { type: 'finish', reason: 'aborted', usage: { outputTokens: expect.any(Number) } },
      ])
    })
  })

  test('an abort before the start starts nothing', async () => {
    await each(async (source) => {
      const signal = AbortSignal.abort()
      const events = await all(fromNodeLlamaCpp({ ...source, signal }))
      expect(events.map(({ type }) => type)).toEqual(['stream-start', 'finish'])
      expect(finishOf(events)).toMatchObject({ reason: 'aborted', usage: { outputTokens: 0 } })
    })
  })

  test('an abort does not wait for the prompt to be evaluated', async () => {
    await withPiano({ script: 'x' }, async ({ model }) => {
      let release = (): void => {}
      let isReleased = false
      async function* slow() {
        await new Promise<void>((resolve) => (release = resolve))
        isReleased = true
        yield 0
      }
      const controller = new AbortController()
      const stream = fromNodeLlamaCpp({ model, tokens: slow(), signal: controller.signal })
      await stream.next()
      const next = stream.next()
      controller.abort()
      expect((await next).value).toMatchObject({ type: 'finish', reason: 'aborted' })
      expect(isReleased).toBe(false)
      const over = stream.next()
      release()
      expect(await over).toEqual({ done: true, value: undefined })
    })
  })

  test('leaving the loop stops the generation, and the sequence is free', async () => {
    await each(async (source, sequence) => {
      for await (const event of fromNodeLlamaCpp(source)) if (event.type === 'text-delta') break
      await expectStill(sequence)
      await sequence.clearHistory()
    })
  })
})

describe.skipIf(!engine)('a sequence has one stream at a time', () => {
  test('a second one ends in an error, and the first is whole', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const first = fromNodeLlamaCpp({ sequence, prompt })
      const events: StreamEvent[] = []
      for await (const event of first) {
        events.push(event)
        if (event.type !== 'text-delta') continue
        for (const second of [
          await all(fromNodeLlamaCpp({ sequence, prompt })),
          await all(fromNodeLlamaCpp({ sequence, prompt })),
        ]) {
          expect(second.map(({ type }) => type)).toEqual(['stream-start', 'error', 'finish'])
          expect(second[1]).toMatchObject({
            code: 'engine-failed',
            message: expect.stringContaining('in use by another stream'),
          })
        }
      }
      expect(linesOf(events)).toEqual(LINES)
      expect(linesOf(await all(fromNodeLlamaCpp({ sequence, prompt })))).toEqual(LINES)
    })
  })

  test('a session on a sequence in use ends in an error', async () => {
    await withPiano({ script: ANSWER }, async ({ sequence, prompt }) => {
      const first = fromNodeLlamaCpp({ sequence, prompt })
      await first.next()
      await first.next()
      const session = new LlamaChatSession({ contextSequence: sequence })
      const events = await all(fromNodeLlamaCpp({ session, prompt: 'Hello?' }))
      expect(events.at(-2)).toMatchObject({ type: 'error', code: 'engine-failed' })
      await first.return()
      expect(linesOf(await all(fromNodeLlamaCpp({ sequence, prompt })))).toEqual(LINES)
    })
  })
})

describe('leaving while a token is waited for', () => {
  const model = { filename: undefined } as NodeLlamaModel

  test('ends the waiting at once, and the stream when the engine has stopped', async () => {
    let release = (): void => {}
    let isStopped = false
    async function* slow() {
      try {
        await new Promise<void>((resolve) => (release = resolve))
        yield 0
      } finally {
        isStopped = true
      }
    }
    const slowModel = { ...model, isEogToken: () => false, detokenize: () => 'x' }
    const events = fromNodeLlamaCpp({ model: slowModel, tokens: slow() })
    await events.next()
    const waiting = events.next()
    const returned = events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(isStopped).toBe(false)
    release()
    expect(await returned).toEqual({ done: true, value: undefined })
    expect(isStopped).toBe(true)
  })

  test('stops an engine that pushes', async () => {
    let isAborted = false
    const completion: NodeLlamaCompletion = {
      generateCompletionWithMeta: (_, options) =>
        new Promise((resolve) => {
          options!.signal!.addEventListener('abort', () => {
            isAborted = true
            resolve({ metadata: { stopReason: 'abort' } })
          })
        }),
    }
    const tokens = { bos: null, shouldPrependBosToken: false }
    const pushing = { ...model, tokens, detokenize: () => '' } as unknown as NodeLlamaModel
    const events = fromNodeLlamaCpp({ completion, model: pushing, prompt: [1] })
    await events.next()
    const waiting = events.next()
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(isAborted).toBe(true)
  })

  test('many streams share a signal and one listener on it', async () => {
    const controller = new AbortController()
    const { signal } = controller
    async function* never() {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      yield* []
    }
    const streams = Array.from({ length: 12 }, () =>
      fromNodeLlamaCpp({ model, tokens: never(), signal }),
    )
    await Promise.all(streams.map((events) => events.next()))
    // The engines have not been asked yet: this one is ours.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    controller.abort()
    for (const events of streams) {
      expect((await events.next()).value).toMatchObject({ type: 'finish', reason: 'aborted' })
      await events.return()
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('createDetokenizer', () => {
  /** A model whose tokens are byte strings. */
  function model(...tokens: readonly (readonly number[])[]): NodeLlamaModel {
    const decode = (ids: readonly number[]) =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(
        Uint8Array.from(ids.flatMap((id) => [...tokens[id]!])),
      )
    return { detokenize: (ids) => decode(ids) } as NodeLlamaModel
  }

  const A = [0x61]
  const GLOBE = [0xf0, 0x9f, 0x8c, 0x8d]
  const REPLACEMENT = [0xef, 0xbf, 0xbd]

  test.each([
    ['whole characters', [A, GLOBE, A], ['a', '🌍', 'a'], ''],
    ['one byte a token', [A, ...GLOBE.map((byte) => [byte]), A], ['a', '', '', '', '🌍', 'a'], ''],
    [
      'a token that ends in a character’s beginning',
      [
        [0x61, 0xf0, 0x9f],
        [0x8c, 0x8d, 0x61],
      ],
      ['a', '🌍a'],
      '',
    ],
    [
      'tokens that all end in the middle',
      [
        [0xf0, 0x9f],
        [0x8c, 0x8d, 0xf0, 0x9f],
        [0x8c, 0x8d, 0xf0, 0x9f],
        [0x8c, 0x8d],
      ],
      ['', '🌍', '🌍', '🌍'],
      '',
    ],
    ['a stray byte', [A, [0x80], A], ['a', '', '\ufffda'], ''],
    [
      'many stray bytes',
      [[0x80], [0x80], [0x80], [0x80], [0x80], A],
      ['', '\ufffd', '\ufffd', '\ufffd', '\ufffd', '\ufffda'],
      '',
    ],
    [
      'a stray byte and a split character',
      [[0x80], ...GLOBE.map((byte) => [byte])],
      ['', '\ufffd', '', '', '🌍'],
      '',
    ],
    ['a beginning that never ends', [A, [0xf0], [0x9f]], ['a', '', ''], '\ufffd'],
    ['a beginning that ends wrongly', [[0xf0], [0x9f], A], ['', '', '\ufffda'], ''],
    ['U+FFFD itself', [REPLACEMENT, REPLACEMENT, A], ['', '\ufffd', '\ufffda'], ''],
    [
      'U+FFFD itself, a byte a token',
      [...REPLACEMENT.map((byte) => [byte]), A],
      ['', '', '', '\ufffda'],
      '',
    ],
  ])('%s', (_, tokens, texts, rest) => {
    const detokenizer = createDetokenizer(model(...tokens))
    expect(tokens.map((__, id) => detokenizer.push([id]))).toEqual(texts)
    expect(detokenizer.end()).toBe(rest)
    expect(detokenizer.end()).toBe('')
  })

  test('any bytes, cut into tokens anywhere, are the text of all bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 5, minLength: 1 })),
        fc.string({ unit: 'grapheme' }),
        (noise, text) => {
          const bytes = [...noise.flatMap((piece) => [...piece]), ...new TextEncoder().encode(text)]
          const sizes = noise.map(({ length }) => length)
          const tokens: number[][] = []
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            tokens.push(bytes.slice(at, at + size))
            at += size
          }
          const detokenizer = createDetokenizer(model(...tokens))
          const texts = tokens.map((_, id) => detokenizer.push([id]))
          const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))
          expect(texts.join('') + detokenizer.end()).toBe(whole)
        },
      ),
    )
  })
})
