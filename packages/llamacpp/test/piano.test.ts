/**
 * The real engine plays text exactly, and the parser reads its live chunks as it reads the whole:
 * real tokens, real detokenization, real cuts.
 */
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type Message,
  type ParserOptions,
  type StreamEvent,
  collect,
  createParser,
  log,
  parseMessage,
} from '@talaria/core'
import type { Llama, LlamaModel } from 'node-llama-cpp'
import { afterAll, describe, expect, test } from 'vitest'
import {
  CHAT_TEMPLATE,
  DEMO_SCRIPTS,
  type PianoOptions,
  createPiano,
  createRandom,
  loadNodeLlamaCpp,
  renderPrompt,
} from '../src/piano.ts'
import { fromNodeLlamaCpp } from '../src/node.ts'
import { all, loadRealEngine } from './real-engine.ts'

const engine = await loadRealEngine()
afterAll(() => engine?.dispose())

const call = (name: string, args: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`

/** Name, then what the model writes. Lists name their token boundaries. */
const TEXTS: Record<string, string | readonly string[]> = {
  nothing: '',
  'a line break': '\n',
  'prose alone': 'Nothing to call here; 2 < 3, and <b>bold</b> is no marker.',
  'a call alone': call('f', '{"a": 1}'),
  'a call glued to prose': `Sure:${call('f', '{}')}Done.`,
  'two calls': `${call('f', '{"a": 1}')}\n${call('g', '{"b": [1, 2, {"c": null}]}')}`,
  'calls without line breaks':
    '<tool_call>{"name":"f","arguments":{}}</tool_call><tool_call>{"name":"g","arguments":{}}</tool_call>',
  'markers in a string': call('f', '{"a": "<tool_call>{}</tool_call> and </think>"}'),
  'escapes in a string': call('f', String.raw`{"a": "\"q\" \\ \/ \b\f\n\r\t \u00e9 \ud83c\udf0d"}`),
  'a pretty call':
    '<tool_call>\n{\n  "name": "f",\n  "arguments": {\n    "a": [\n      1\n    ]\n  }\n}\n</tool_call>',
  'arguments before the name': '<tool_call>\n{"arguments": {"a": 1}, "name": "f"}\n</tool_call>',
  'arguments as a string': call('f', String.raw`"{\"a\": 1}"`),
  'characters of several bytes': `Größe 東京 ${call('ü', '{"ö": "👩‍👩‍👧 🇨🇭 é"}')} नमस्ते`,
  'characters split by hand': [
    '<tool_',
    'call>',
    '{"name": "f", "arg',
    'uments": {"a": "ü',
    '"}}',
    '</to',
    'ol_call',
    '>',
  ],
  'a marker that breaks off': ['2 <', 'tool_', 'cal is not <', 'tool_call'],
  'a missing close before the next call': `<tool_call>\n{"name": "f", "arguments": {}}\n${call('g', '{}')}`,
  'a missing close at the end': '<tool_call>\n{"name": "f", "arguments": {"a": 1}}',
  'a call cut in a string': '<tool_call>\n{"name": "f", "arguments": {"a": "wor',
  'a call cut in its name': '<tool_call>\n{"name": "f',
  'broken JSON': call('f', '{"a": nope}'),
  'broken JSON, then a call': `${call('f', '{"a": }')}\n${call('g', '{"b": 2}')}`,
  'a brace too many': `<tool_call>\n{"name": "f", "arguments": {}}}\n</tool_call> after`,
  'reasoning that talks of calls': `<think>\nI could use <tool_call> here.\n</think>\n${call('f', '{}')}`,
  'reasoning that never ends': '<think>\nHm, let me see. ',
  'a call in code': `Write \`<tool_call>\` like this:\n\`\`\`\n${call('f', '{}')}\n\`\`\`\nDone.`,
  'the end of a turn in the middle': `before <|im_end|> after ${call('f', '{"a": "<|im_end|>"}')}`,
  'another turn': `Hello.<|im_end|>\n<|im_start|>user\n${call('f', '{}')}`,
}

/** Events without what a parser makes up and an adapter adds. */
function lines(events: Iterable<StreamEvent>): string[] {
  return log(
    [...events].flatMap((event): StreamEvent[] => {
      if (event.type === 'stream-start') return []
      return event.type === 'finish' ? [{ type: 'finish', reason: event.reason }] : [event]
    }),
  )
}

function feed(chunks: Iterable<string>, options: ParserOptions): StreamEvent[] {
  const events: StreamEvent[] = []
  const parser = createParser({ ...options, onEvent: (event) => events.push(event) })
  for (const chunk of chunks) parser.feed(chunk)
  parser.end()
  return events
}

/** A message without ids. */
function comparable({ calls, failed, text, reasoning, warnings, finish }: Message) {
  return {
    text,
    reasoning,
    calls: calls.map(({ id: _, ...rest }) => rest),
    failed: failed.map(({ id: _, ...rest }) => rest),
    warnings,
    reason: finish?.reason,
  }
}

describe.skipIf(!engine)('the piano', () => {
  /** Plays a script and checks that live chunks, adapter and whole text agree. Gives the chunks. */
  async function check(
    options: PianoOptions,
    parserOptions: ParserOptions = {},
  ): Promise<string[]> {
    const text = [options.script].flat().join('')
    const piano = await createPiano(engine!, options)
    try {
      const chunks = await all(piano.stream())
      expect(chunks.join('')).toBe(text)
      expect(chunks).not.toContain('')

      const message = parseMessage(text, parserOptions)
      const live = feed(chunks, parserOptions)
      expect(lines(live)).toEqual(lines(feed([text], parserOptions)))
      expect(comparable(collect(live))).toEqual(comparable(message))

      const { sequence, prompt } = piano
      const adapted = await all(fromNodeLlamaCpp({ sequence, prompt, ...parserOptions }))
      expect(lines(adapted)).toEqual(lines(live))
      return chunks
    } finally {
      await piano.dispose()
    }
  }

  test.each(Object.keys(TEXTS))('plays %s', async (name) => {
    await check({ script: TEXTS[name]! })
  })

  test.each(DEMO_SCRIPTS)('plays the demo’s $name', async ({ answer, question, tools }) => {
    const chunks = await check(
      { script: answer, prompt: renderPrompt({ question, tools }) },
      { tools },
    )
    expect(chunks.length).toBeGreaterThan(answer.length / 5)
  })

  test.each([
    ['one byte a token', { merges: 0 }],
    ['tags as control tokens', { tags: 'control' }],
    ['tags as text', { tags: 'text' }],
  ] as const)('plays with %s', async (_, vocabulary) => {
    for (const { answer } of DEMO_SCRIPTS) await check({ script: answer, vocabulary })
    for (const script of Object.values(TEXTS).slice(-6)) await check({ script, vocabulary })
  })

  test('cuts tokens where it is told to', async () => {
    const script = [
      '<to',
      'ol_call>',
      '{"name": "f", "arguments": {"a',
      '": "b"}',
      '}</tool_call',
      '>',
    ]
    const chunks = await check({ script })
    let end = 0
    const ends = new Set(chunks.map((chunk) => (end += chunk.length)))
    end = 0
    for (const piece of script) expect(ends).toContain((end += piece.length))
  })

  test('brings a character of several tokens as one chunk', async () => {
    const chunks = await check({ script: 'ü🌍', vocabulary: { merges: 0 } })
    expect(chunks).toEqual(['ü', '🌍'])
  })

  test('plays at any sampling setting', async () => {
    const script = call('f', '{"a": "ü"}')
    const piano = await createPiano(engine!, { script })
    const generation = {
      temperature: 1.5,
      topK: 0,
      topP: 1,
      seed: 3,
      repeatPenalty: { punishTokens: [...piano.prompt] as never[], penalty: 1.3 },
    }
    let played = ''
    const { sequence, prompt } = piano
    const events = fromNodeLlamaCpp({ sequence, prompt, generation, onText: (t) => (played += t) })
    await all(events)
    await piano.dispose()
    expect(played).toBe(script)
  })

  test('plays again from the start, also after it was left early', async () => {
    const piano = await createPiano(engine!, { script: 'one two three' })
    for await (const chunk of piano.stream()) if (chunk.includes('one')) break
    expect((await all(piano.stream())).join('')).toBe('one two three')
    expect((await all(piano.stream())).join('')).toBe('one two three')
    await piano.dispose()
  })

  test('refuses what no token can hold', async () => {
    await expect(createPiano(engine!, { script: 'half \ud83d' })).rejects.toThrow(
      expect.objectContaining({ code: 'unplayable-script' }),
    )
  })

  test('leaves no file behind', async () => {
    const files = () => readdirSync(tmpdir()).filter((name) => name.startsWith('talaria-model-'))
    const piano = await createPiano(engine!, { script: 'x' })
    expect(files()).toEqual([])
    await piano.dispose()
  })
})

describe('loadNodeLlamaCpp', () => {
  test.each([
    [
      "Cannot find package 'node-llama-cpp' imported from /app/main.js",
      'The package node-llama-cpp is not installed.',
    ],
    [
      "Cannot find package 'semver' imported from /app/node_modules/node-llama-cpp/index.js",
      "node-llama-cpp cannot be loaded: Cannot find package 'semver' imported from /app/node_modules/node-llama-cpp/index.js",
    ],
    ['illegal instruction\nat 0x0', 'node-llama-cpp cannot be loaded: illegal instruction'],
  ])('says in one line why the package cannot be had: %s', async (message, reason) => {
    const load = () => Promise.reject(new Error(message))
    expect(await loadNodeLlamaCpp({ load })).toEqual({ available: false, reason })
  })

  test.skipIf(!engine)(
    'says so where no build runs, and where the package is something else',
    async () => {
      const { NoBinaryFoundError } = await import('node-llama-cpp')
      const getLlama = () => Promise.reject(new NoBinaryFoundError())
      const load = async () => ({ LlamaLogLevel: {}, getLlama })
      expect(await loadNodeLlamaCpp({ load })).toEqual({
        available: false,
        reason: `node-llama-cpp has no build that runs on ${process.platform}-${process.arch}.`,
      })
      const empty = await loadNodeLlamaCpp({ load: async () => ({}) })
      expect(empty).toMatchObject({ available: false, reason: expect.any(String) })
    },
  )

  test.skipIf(!engine)('frees what was forgotten', async () => {
    const own = await loadNodeLlamaCpp()
    if (!own.available) throw new Error(own.reason)
    const forget = async () => {
      const piano = await createPiano(own, { script: 'Hello' })
      await piano.stream().next()
    }
    await forget()
    // node-llama-cpp waits forever for a model that was collected before it was disposed of.
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      collectGarbage()
    }
    await own.dispose()
  })

  test.skipIf(!engine)('gives a second engine beside the first', async () => {
    const second = await loadNodeLlamaCpp()
    if (!second.available) throw new Error(second.reason)
    const piano = await createPiano(second, { script: 'Hello' })
    expect((await all(piano.stream())).join('')).toBe('Hello')
    await piano.dispose()
    await second.dispose()
  })
})

describe.skipIf(!engine)('the chat template', () => {
  test('is rendered as renderPrompt renders it', async () => {
    const { JinjaTemplateChatWrapper } = await import('node-llama-cpp')
    const wrapper = new JinjaTemplateChatWrapper({ template: CHAT_TEMPLATE })
    const system = 'You are a test.'
    const { contextText } = wrapper.generateContextState({
      chatHistory: [
        { type: 'system', text: system },
        { type: 'user', text: 'Hello?' },
        { type: 'model', response: [] },
      ],
    })
    expect(contextText.toString().trimEnd()).toBe(
      renderPrompt({ system, question: 'Hello?' }).trimEnd(),
    )
  })

  test('declares tools and can leave reasoning open', () => {
    const tools = [{ name: 'f' }, { type: 'function', function: { name: 'g' } }] as const
    const prompt = renderPrompt({ question: 'Hello?', tools, reasoning: true })
    expect(prompt).toContain(
      '<tools>\n{"type":"function","function":{"name":"f"}}\n{"type":"function","function":{"name":"g"}}\n</tools>',
    )
    expect(prompt).toMatch(/<\|im_start\|>assistant\n<think>\n$/)
  })
})

/** Prose with `<` in it, calls of every JSON type, escapes and characters of several bytes. */
const GRAMMAR = String.raw`
root ::= prose call (gap call)? (prose call)? tail
prose ::= word (sep word){2,6} "\n"
word ::= [a-z]{1,6} | "<" [a-z]{0,3} | "é" | "🌍" | "2 < 3"
sep ::= " " | ", " | ".\n"
gap ::= "\n" | ""
tail ::= "" | "\n" | " Done."
call ::= "<tool_call>" "\n"? "{\"name\": \"" name "\", \"arguments\": " object "}" "\n"? "</tool_call>"
name ::= "get_weather" | "f" | [a-z]{2,5}
object ::= "{" (pair (", " pair){0,2})? "}"
pair ::= string ":" " "? value
value ::= string | number | "true" | "null" | list | "{" (string ": " number)? "}"
list ::= "[" (number (", " number){0,2})? "]"
number ::= "-"? ("0" | [1-9] [0-9]{0,18}) ("." [0-9]{1,3})?
string ::= "\"" char{0,8} "\""
char ::= [a-z0-9 {}:,] | "\\n" | "\\\"" | "\\\\" | "\\u00e9" | "ü" | "東" | "</" | "🌍"
`

/** What the grammar's texts hold, read with a regular expression and JSON.parse. */
function plainReading(text: string) {
  const calls: { name: string; arguments: string; input: unknown }[] = []
  const prose = text.replace(
    /<tool_call>\s*(\{"name": "([^"]*)", "arguments": (.*?)\})\s*<\/tool_call>/gsu,
    (_, body: string, name: string, args: string) => {
      calls.push({
        name,
        arguments: args,
        input: (JSON.parse(body) as { arguments: unknown }).arguments,
      })
      return '\0'
    },
  )
  const texts = prose.split('\0').filter((part) => part.trim() !== '')
  return { text: texts.join(''), calls }
}

describe.skipIf(!engine)('a model with random weights under a grammar', () => {
  test.each([
    ['user-defined', 'tokens of their own', { tags: 'user-defined' }, 8],
    ['control', 'control tokens', { tags: 'control' }, 4],
    ['bytes', 'single bytes', { merges: 0 }, 2],
  ] as const)(
    'writes calls that are read alike live, whole and plainly: %s',
    async (_, __, vocabulary, seeds) => {
      const { LlamaGrammar, LlamaGrammarEvaluationState } = await import('node-llama-cpp')
      const grammar = new LlamaGrammar(engine!.llama as Llama, { grammar: GRAMMAR })
      const random = await createRandom(engine!, { vocabulary, seed: 5 })
      const { sequence, prompt } = random
      const model = random.model as LlamaModel
      for (let seed = 1; seed <= seeds; seed++) {
        let text = ''
        const grammarEvaluationState = new LlamaGrammarEvaluationState({ model, grammar })
        const live = await all(
          fromNodeLlamaCpp({
            sequence,
            prompt,
            generation: { grammarEvaluationState, temperature: 2, topK: 0, topP: 1, seed },
            onText: (chunk) => (text += chunk),
          }),
        )
        expect(lines(live)).toEqual(lines(feed([text], {})))
        const message = collect(live)
        const plain = plainReading(text)
        expect(plain.calls.length).toBeGreaterThan(0)
        expect(message.text).toBe(plain.text)
        expect(
          message.calls.map(({ name, arguments: args, input }) => ({
            name,
            arguments: args,
            input,
          })),
        ).toEqual(plain.calls)
        expect(message.finish).toMatchObject({ reason: 'tool-calls', rawReason: 'eogToken' })
        expect(text).not.toContain('\ufffd')
      }
      await random.dispose()
    },
  )
})
