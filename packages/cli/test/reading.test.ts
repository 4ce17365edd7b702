/** The flags that say how the text is read: each is the parser's option of that meaning. */
import {
  type ParserOptions,
  type StreamEvent,
  PRESETS,
  createParser,
  log,
  parseMessage,
} from '@talaria/core'
import { describe, expect, it } from 'vitest'
import { talaria } from './harness.ts'

const call = (body: string): string => `<tool_call>${body}</tool_call>`
const CALL = call('{"name":"f","arguments":{"a":1}}')
const QUOTES = call('{"name":"f","arguments":{"a":"say "hi" to"}}')

/** Each flag, the option that it is, and a text that the option reads differently. */
const FLAGS: readonly (readonly [flags: string[], options: ParserOptions, text: string])[] = [
  [['--preset', 'deepseek-r1'], { preset: 'deepseek-r1' }, 'Hm.</think>Hi'],
  [['--strict-json'], { strict: true }, call('{"name":"f","arguments":{"a":1,}}')],
  [['--guess-quotes'], { guessQuotes: true }, QUOTES],
  [['--curly-quotes'], { curlyQuotes: true }, call('{“name”:“f”,“arguments”:{}}')],
  [
    ['--glued-arguments', 'first'],
    { gluedArguments: 'first' },
    call('{"name":"f","arguments":"{\\"a\\":1}{\\"a\\":2}"}'),
  ],
  [['--calls-in-reasoning=on'], { callsInReasoning: 'on' }, `<think>${CALL}</think>`],
  [['--calls-in-reasoning', 'at-end'], { callsInReasoning: 'at-end' }, `<think>\n${CALL}`],
  [['--calls-in-fences'], { callsInFences: true }, `Hi\n\`\`\`\n${CALL}\n\`\`\``],
  [['--bare-json', 'whole-message'], { bareJson: 'whole-message' }, '{"name":"f","arguments":{}}'],
  [['--bare-json', 'last-line'], { bareJson: 'last-line' }, 'Hi\n{"name":"f","arguments":{}}'],
  [
    ['--fenced-call', 'whole-message'],
    { fencedCall: 'whole-message' },
    '```json\n{"name":"f","arguments":{}}\n```',
  ],
  [['--failed-as-text'], { failedAsText: true }, call('{"name":"f","arguments":{"a":nope}}')],
  [['--strip-orphan-tags'], { stripOrphanTags: true }, 'a </tool_call> b'],
  [
    ['--tag-alias', '<call>,</call>', '--tag-alias', '{"open":"<a,b>","close":"</a,b>"}'],
    {
      tagAliases: [
        { open: '<call>', close: '</call>' },
        { open: '<a,b>', close: '</a,b>' },
      ],
    },
    CALL.replaceAll('tool_call', 'call') + CALL.replaceAll('tool_call', 'a,b'),
  ],
  [['--special-tokens', 'keep'], { specialTokens: 'keep' }, 'Hi<|im_end|>'],
  [
    ['--drop-after-fabricated'],
    { dropAfterFabricated: true },
    `${CALL}<tool_response>1</tool_response>Fine.`,
  ],
  [['--quoted-closers', 'close'], { quotedClosers: 'close' }, '<think>a `</think>` b'],
  [['--unclosed-reasoning', 'text'], { unclosedReasoning: 'text' }, '<think>It rains.'],
]

function lines(text: string, options: ParserOptions): string[] {
  const events: StreamEvent[] = []
  const parser = createParser({ ...options, onEvent: (event) => events.push(event) })
  parser.feed(text)
  parser.end()
  return log(events)
}

describe('parse', () => {
  it.each(FLAGS)('%j', async (flags, options, stdin) => {
    const argv = ['parse', '--to', 'log', '--input', 'text']
    const asked = await talaria([...argv, ...flags], { stdin })
    const plain = await talaria(argv, { stdin })
    expect(asked.stderr).toBe('')
    expect(asked.stdout.split('\n').slice(0, -1)).toEqual(lines(stdin, options))
    expect(asked.stdout).not.toBe(plain.stdout)
  })

  it('takes all presets', async () => {
    for (const preset of Object.keys(PRESETS)) {
      const { stdout } = await talaria(['parse', '-t', 'message', '--preset', preset], {
        stdin: `a</think>${CALL}`,
      })
      const { text, reasoning, calls } = parseMessage(`a</think>${CALL}`, { preset })
      expect(JSON.parse(stdout)).toMatchObject({ text, reasoning, calls: calls.map(() => ({})) })
    }
  })

  it('lets options win over their preset', async () => {
    const flags = ['--preset', 'qwen3-thinking', '--start-in', 'text', '--dialect', 'auto']
    const stdin = '[THINK]Hm.[/THINK]Hi'
    const { stdout } = await talaria(['parse', '-t', 'message', ...flags], { stdin })
    expect(JSON.parse(stdout)).toMatchObject({ reasoning: 'Hm.', text: 'Hi' })
  })

  it('reads a server’s answer by them, too', async () => {
    const frame = { index: 0, content: 'Hm.</think>Hi', stop: true, stop_type: 'eos' }
    const { stdout } = await talaria(['parse', '-t', 'message', '--preset', 'qwen3-thinking'], {
      stdin: `data: ${JSON.stringify(frame)}\n\n`,
    })
    expect(JSON.parse(stdout)).toMatchObject({ reasoning: 'Hm.', text: 'Hi' })
  })

  it.each<[string[], string | RegExp]>([
    [
      ['--preset', 'qwen33'],
      /^--preset must be hermes, .* or .*, not 'qwen33', did you mean 'qwen3'\?$/,
    ],
    [['--bare-jsn'], "unknown option '--bare-jsn', did you mean '--bare-json'?"],
    [['--bare-json'], '--bare-json needs a value: off, whole-message or last-line'],
    [
      ['--bare-json', 'lastline'],
      "--bare-json must be off, whole-message or last-line, not 'lastline', did you mean 'last-line'?",
    ],
    [['--guess-quotes=yes'], "--guess-quotes takes no value, found 'yes'"],
    [
      ['--tag-alias', '<call>'],
      `--tag-alias must be OPEN,CLOSE or {"open":OPEN,"close":CLOSE}, not '<call>'`,
    ],
    [
      ['--tag-alias', '{"open":'],
      `--tag-alias must be OPEN,CLOSE or {"open":OPEN,"close":CLOSE}, not '{"open":'`,
    ],
    [
      ['--tag-alias', 'a,b,c'],
      `--tag-alias must be OPEN,CLOSE or {"open":OPEN,"close":CLOSE}, not 'a,b,c'`,
    ],
    [['--tag-alias', '<call>,c'], "--tag-alias: expected markers of 2 to 64 characters, found 'c'"],
    [['--tag-alias', '<think>,</x>'], 'The dialects use "<think>" in two ways.'],
    [['--dialect', 'reasoning', '--start-in', 'call'], 'No dialect in use has calls.'],
  ])('says what is wrong: %j', async (flags, message) => {
    const { stdout, stderr, code } = await talaria(['parse', ...flags], { stdin: CALL })
    expect(stderr.replace(/^talaria: /, '').trimEnd()).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 })
  })

  it('lists them in its help', async () => {
    const { stdout } = await talaria(['parse', '--help'])
    const [, group = ''] = stdout.split('\nHow the text is read\n')
    for (const [[flag = '']] of FLAGS) expect(group).toContain(`  ${flag.replace(/=.*/, '')}`)
  })
})

describe('repairs', () => {
  const stdin = call("{'name':'f','arguments':{'a':1,}}")

  it.each([
    ['log', 'tool-call-end 0 repairs=single-quotes,trailing-comma\n'],
    ['events', '"repairs":["single-quotes","trailing-comma"]'],
    ['view', '✓ f  repaired: single-quotes, trailing-comma\n'],
    ['message', '"single-quotes",\n'],
  ])('show in --to %s', async (to, expected) => {
    expect((await talaria(['parse', '--to', to], { stdin })).stdout).toContain(expected)
    expect((await talaria(['parse', '--to', to], { stdin: CALL })).stdout).not.toContain('repair')
  })
})
