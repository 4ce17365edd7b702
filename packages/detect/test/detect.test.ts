/** What is found in templates of the families' shapes, and why nothing is found in others. */
import { CHAT_TEMPLATE } from '@talaria/llamacpp/piano'
import { parseMessage } from '@talaria/core'
import { describe, expect, test } from 'vitest'
import { type DetectOptions, detectDialect } from '../src/index.ts'
import * as templates from './templates.ts'

const CALL = '{"name": "zq_probe_tool", "arguments": {"place": "zq harbour", "count": 7319}}'
const TAGGED = `<tool_call>\n${CALL}\n</tool_call>`

describe('templates whose calls are read', () => {
  const plain = { dialect: 'hermes', options: { dialect: 'hermes' }, reasoning: false }

  test.each([
    ['keys written one by one', templates.HERMES],
    ['the name alone written by hand', templates.QWEN2_5],
    ['macros, namespaces and blocks', templates.MACROS],
  ])('%s', (_, template) => {
    expect(detectDialect(template)).toEqual({
      ...{ found: true, ...plain, endTokens: ['<|im_end|>'], evidence: TAGGED },
    })
  })

  test('the template that the project gives to its own models', () => {
    expect(detectDialect(CHAT_TEMPLATE)).toEqual({
      ...{ found: true, ...plain, endTokens: ['<|im_end|>'], evidence: TAGGED },
    })
  })

  test('turns between role tokens, ended by a token of their own', () => {
    expect(detectDialect(templates.GRANITE)).toEqual({
      ...{ found: true, ...plain, endTokens: ['<|end_of_text|>'], evidence: TAGGED },
    })
  })

  test('a name in the tag, arguments as text, another token behind calls', () => {
    expect(detectDialect(templates.FUNCTIONARY)).toEqual({
      found: true,
      ...plain,
      endTokens: ['<|eot_id|>', '<|eom_id|>'],
      evidence: '<function=zq_probe_tool>{"place":"zq harbour","count":7319}</function>',
    })
  })

  test('a template that wants a system turn, bare tools and no content', () => {
    expect(detectDialect(templates.PARTICULAR)).toMatchObject({ found: true, ...plain })
  })
})

describe('reasoning', () => {
  test('written by the template, opened by the model', () => {
    const detection = detectDialect(templates.QWEN3)
    expect(detection).toMatchObject({ found: true, reasoning: true, evidence: TAGGED })
    expect(detection.options).toEqual({ dialect: 'hermes' })
  })

  test('closed in the prompt where a variable switches it off', () => {
    const off = detectDialect(templates.QWEN3, { variables: { enable_thinking: false } })
    expect(off.options).toEqual({ dialect: 'hermes' })
  })

  test('opened by the prompt', () => {
    const detection = detectDialect(templates.QWQ)
    expect(detection.options).toEqual({ dialect: 'hermes', startIn: 'reasoning' })
    expect(detection.reasoning).toBe(true)
    const message = parseMessage(`Hm.\n</think>\n\n${TAGGED}`, detection.options)
    expect([message.reasoning.trim(), message.text.trim()]).toEqual(['Hm.', ''])
    expect(message.calls).toHaveLength(1)
  })

  test('opened by the prompt of a template without tools', () => {
    expect(detectDialect(templates.R1)).toMatchObject({
      ...{ found: false, reason: 'no-call', reasoning: true, options: { startIn: 'reasoning' } },
      endTokens: ['<｜end▁of▁sentence｜>'],
    })
  })

  test('in markers of another family than the calls', () => {
    const { options } = detectDialect(templates.TWO_FAMILIES)
    expect(options).toEqual({ dialect: ['hermes', 'reasoning'], startIn: 'reasoning' })
    const message = parseMessage(`Hm.[/THINK]${TAGGED}`, options)
    expect([message.reasoning, message.text.trim(), message.calls.length]).toEqual(['Hm.', '', 1])
  })

  test('not where a template leaves it out', () => {
    expect(detectDialect(templates.HERMES).reasoning).toBe(false)
  })
})

test('a prompt that opens the call', () => {
  const { options } = detectDialect(templates.FORCED)
  expect(options).toEqual({ dialect: 'hermes', startIn: 'call' })
  expect(parseMessage(`${CALL}\n</tool_call>`, options).calls).toHaveLength(1)
})

describe('templates whose calls are not read', () => {
  test('bare JSON, with today’s date in the prompt', () => {
    const detection = detectDialect(templates.LLAMA3_JSON)
    expect(detection).toMatchObject({
      ...{ found: false, reason: 'unread-notation', endTokens: ['<|eot_id|>'] },
      rendered: '{"name": "zq_probe_tool", "parameters": {"place": "zq harbour", "count": 7319}}',
    })
    expect(detection.options).toEqual({})
  })

  test('a list behind a marker, in a template that is particular about turns and ids', () => {
    expect(detectDialect(templates.MISTRAL, { eosToken: '</s>' })).toMatchObject({
      ...{ found: false, reason: 'unread-notation', endTokens: ['</s>'] },
      rendered: `[TOOL_CALLS][${CALL.slice(0, -1)}, "id": "zq7319abc"}]`,
    })
  })

  test('markers in a comment and in the system turn are not calls', () => {
    expect(detectDialect(templates.MENTIONS)).toMatchObject({
      ...{ found: false, reason: 'unread-notation' },
      rendered: '<<call zq_probe_tool {"place": "zq harbour", "count": 7319}>>',
    })
  })

  test('a call that is rendered wrongly', () => {
    const broken = templates.HERMES.replace('"name": "', '"name": ')
    expect(detectDialect(broken)).toMatchObject({ found: false, reason: 'unread-notation' })
  })

  test('a call beside words that no model is asked for', () => {
    const chatty = templates.FORCED.replace("{{- '<tool_call>", "{{- 'I call: <tool_call>")
    expect(detectDialect(chatty)).toMatchObject({ found: false, reason: 'unread-notation' })
  })

  test('a long one is cut', () => {
    const long = `{%- for m in messages %}{{ m.content or m.tool_calls | tojson }}${'z'.repeat(5_000)}{%- endfor %}`
    const detection = detectDialect(
      long
        .replace('{{ m.content', "{{ '' if m.content else 'y' }}{{ m.content")
        .replace('z{%', 'z{{ loop.index }}{%'),
    )
    expect(detection).toMatchObject({ reason: 'unread-notation' })
    expect(detection.found || detection.rendered?.length).toBeLessThanOrEqual(2_001)
  })
})

describe('templates without calls', () => {
  test('none for tools', () => {
    expect(detectDialect(templates.PLAIN)).toEqual({
      found: false,
      reason: 'no-call',
      message: 'The template renders no tool call.',
      options: {},
      reasoning: false,
      endTokens: ['<|im_end|>'],
    })
  })

  test('no variables at all', () => {
    expect(detectDialect('Hello!')).toMatchObject({ found: false, reason: 'no-call' })
  })

  test.each([[undefined], [null], [''], [[]], [[{ name: 'x' }]], [7]])(
    '%j is no template',
    (value) => {
      expect(detectDialect(value as unknown as string)).toEqual({
        found: false,
        reason: 'no-template',
        message: 'There is no chat template.',
        options: {},
        reasoning: false,
        endTokens: [],
      })
    },
  )
})

describe('templates that fail', () => {
  test('one that refuses', () => {
    expect(detectDialect(templates.RAISES)).toMatchObject({
      ...{ found: false, reason: 'raised', line: 3 },
      message: 'The template refuses the conversation in line 3: Not today.',
    })
  })

  test.each([
    ['an unclosed block', 'a\n{% if x %}\n{{ y }}\n', 'syntax', 3],
    ['an unclosed tag', 'a\n{{ x }}\n\n{{ y ', 'syntax', 4],
    ['a character that means nothing', '{{ x }}\n{% if a %}\n{{ ? }}\n{% endif %}', 'syntax', 3],
    [
      'a word that is no statement',
      '{{ x }}\n{%- generation %}{% endgeneration -%}\n{% nonsense %}',
      'syntax',
      3,
    ],
    ['an end without a beginning', 'a\nb\n{% endif %}', 'syntax', 3],
    ['a filter that is none', '{% if true %}\n{{ "x" | frobnicate }}\n{% endif %}', 'failed', 2],
    [
      'a sum with nothing',
      '{% for m in messages %}\n{# {{ #}\n{{ "a" + m.nothing }}{% endfor %}',
      'failed',
      3,
    ],
    [
      'a fault in a macro',
      '{% macro f() %}\n{{ none + 1 }}{% endmacro %}\n\n{{ f() }}',
      'failed',
      2,
    ],
    [
      'a fault behind others',
      '{% set x %}\n"}}"\n{% endset %}{{ "%}" }}\n{{ {"a": {}}.b.c }}\n{{ 1() }}',
      'failed',
      5,
    ],
    [
      'a fault in elif',
      '{% if false %}\n{% elif 1() %}\n{% else %}{% if true %}{% endif %}{% endif %}',
      'failed',
      2,
    ],
    ['a fault in else', '{% for x in [] %}\n{% else %}\n{{ 1() }}{% endfor %}', 'failed', 3],
    [
      'a fault behind elif',
      '{% if false %}{% elif true %}\n{% else %}{% endif %}\n{{ 1() }}',
      'failed',
      3,
    ],
    ['a break outside of loops', 'a\n{% break %}', 'failed', 2],
  ])('%s', (_, template, reason, line) => {
    expect(detectDialect(template)).toMatchObject({ found: false, reason, line })
  })

  test('one that only some conversations upset', () => {
    const template = templates.HERMES.replace('{{- bos_token }}', "{{- messages[1].role + '' }}")
    expect(detectDialect(template)).toMatchObject({ found: true, dialect: 'hermes' })
  })
})

describe('several templates', () => {
  const { HERMES, PLAIN, MISTRAL } = templates

  test('`tool_use` comes first, then `default`, then the first', () => {
    const named = (...entries: [string, string][]): { name: string; template: string }[] =>
      entries.map(([name, template]) => ({ name, template }))
    expect(detectDialect(named(['default', PLAIN], ['tool_use', HERMES])).found).toBe(true)
    expect(detectDialect(named(['rag', PLAIN], ['default', HERMES])).found).toBe(true)
    expect(detectDialect(named(['rag', HERMES], ['other', MISTRAL])).found).toBe(true)
    expect(detectDialect(named(['rag', PLAIN], ['default', MISTRAL])).found).toBe(false)
  })
})

describe('options', () => {
  test('an end token is only told if it is known', () => {
    const template = templates.FORCED.replaceAll("'<|im_end|>\\n'", 'eos_token')
    expect(detectDialect(template).endTokens).toEqual([])
    expect(detectDialect(template, { eosToken: '<|end|>' }).endTokens).toEqual(['<|end|>'])
    expect(detectDialect(template, { eosToken: { content: '</s>' } }).endTokens).toEqual(['</s>'])
    expect(detectDialect(template)).toMatchObject({ found: true })
  })

  test('variables reach the template, and do not replace the conversation', () => {
    const template = `{% if mode != 'x' %}{{ raise_exception(mode) }}{% endif %}${templates.FORCED}`
    const variables = { mode: 'x', messages: [], range: 1, raise_exception: 2, namespace: 3 }
    expect(detectDialect(template, { variables }).found).toBe(true)
    expect(detectDialect(template)).toMatchObject({
      ...{ reason: 'raised', message: 'The template refuses the conversation in line 1.' },
    })
  })

  test('a variable that fails is the template’s failure', () => {
    const variables = {
      f(): never {
        throw new Error('no')
      },
    }
    expect(detectDialect('\n{{ f() }}', { variables })).toMatchObject({
      ...{ reason: 'failed', line: 2, message: 'The template fails in line 2: no' },
    })
    expect(detectDialect('{{ x }}', { variables: { x: Symbol('x') } }).found).toBe(false)
  })

  test.each([
    [null, 'invalid-option', 'Expected an object in the options.'],
    [{ eos: '</s>' }, 'unknown-option', 'Unknown option “eos”.'],
    [{ eosToken: 2 }, 'invalid-option', 'text in `eosToken`.'],
    [{ bosToken: {}, eosToken: [] }, 'invalid-option', ''],
    [{ variables: [] }, 'invalid-option', 'Expected an object in `variables`.'],
  ])('%j is misuse', (options, code, message) => {
    let thrown: unknown
    try {
      detectDialect(templates.HERMES, options as unknown as DetectOptions)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ name: 'MisuseError', code })
    expect((thrown as Error).message).toContain(message)
  })
})
