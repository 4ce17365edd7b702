/**
 * What the tables show: one input for each code and each rule, one for each value of an option. The
 * tables are made by reading them, so they say what the parser does. A code without an example
 * does not compile; `undefined` stands for those that nothing emits yet.
 */
import type {
  ParserOptions,
  RepairCode,
  RuleCode,
  WarningCode,
} from '../../packages/core/src/index.ts'

export interface Example {
  readonly input: string
  readonly options?: ParserOptions
}

const CALL = '<tool_call>{"name": "f"}</tool_call>'
const BARE = '{"name": "f", "args": {}}'
const TOOLS: ParserOptions = { tools: [{ name: 'f' }] }

/** Call objects, as they stand in `<tool_call>`, that are repaired. */
export const REPAIRED: Readonly<Record<RepairCode, Example>> = {
  'control-character': { input: '{"name": "f", "args": {"a": "x\ty"}}' },
  'invalid-escape': { input: String.raw`{"name": "f", "args": {"a": "\d+"}}` },
  'trailing-comma': { input: '{"name": "f", "args": {"a": [1, ], }, }' },
  'missing-comma': { input: '{"name": "f", "args": {"a": 1 "b": [{} {}]}}' },
  comment: { input: '{"name": "f", "args": {"a": 1 /* one */}}' },
  'single-quotes': { input: String.raw`{'name': 'f', 'args': {'a': 'it\'s "x"'}}` },
  'curly-quotes': { input: '{“name”: “f”, “args”: {“a”: “x”}}', options: { curlyQuotes: true } },
  'inner-quotes': {
    input: '{"name": "f", "args": {"a": "the "x" key"}}',
    options: { guessQuotes: true },
  },
  'unquoted-key': { input: '{name: "f", args: {a-b: 1}}' },
  'python-literal': { input: '{"name": "f", "args": {"a": [True, None]}}' },
  'byte-order-mark': { input: '\ufeff{"name": "f", "args": {"a": \ufeff1}}' },
  'missing-brace': { input: '{"name": "f", "args": {"a": 1}' },
  'doubled-braces': { input: '{{"name": "f", "args": {{"a": {{}}}}}}' },
  'code-fence': { input: '```json\n{"name": "f", "args": {"a": 1}}\n```' },
  'decoded-arguments': { input: String.raw`{"name": "f", "args": "{\"a\": 1}"}` },
  'empty-arguments': { input: '{"name": "f", "args": null}' },
  'lifted-arguments': {
    input: '{"name": "f", "city": "Oslo"}',
    options: { tools: [{ name: 'f', parameters: { properties: { city: {} } } }] },
  },
  'first-arguments': {
    input: String.raw`{"name": "f", "args": "{\"a\": 1} {\"b\": 2}"}`,
    options: { gluedArguments: 'first' },
  },
  'function-key': { input: '{"function=f", "args": {"a": 1}}' },
}

/** Call objects, as they stand in `<tool_call>`, that fail. */
export const REFUSED: readonly string[] = [
  '{"name": "f", "args": {"a": NaN}}',
  '{"name": "f", "args": {"a": yes}}',
  '{"name": "f", "args": {"a": 01}}',
  '{"name": "f", "args": {"a": 1,, "b": 2}}',
  '{"name": "f", "args": {,}}',
  '{"name": "f", "args": {"a": [1 2]}}',
  '{"name": "f", "args": {"a": 1 b: 2}}',
  '{"name": "f", "args": {"a": "the "x" key"}}',
  '{"name": "f", "args": {"a": 1]}',
  '{"name": "f", "args": [1]}',
  '{"name": "f", "args": 7}',
  '{"name": "f", "args": "Oslo"}',
  '{"name": "f", "args": {}, "input": {}}',
  '{"name": "f", "tool": "g"}',
  '{"args": {"a": 1}}',
  '{"name": "f", "city": "Oslo"}',
]

export const WARNED: Readonly<Record<WarningCode, Example | undefined>> = {
  'unclosed-tag': { input: '<tool_call>{"name": "f"} ' },
  'mismatched-close-tag': { input: '<tool_call>{"name": "f"}</invoke></tool_call>' },
  'missing-open-tag': { input: '<function=f>{}</function>' },
  'orphan-close-tag': { input: 'Hi.</tool_call>' },
  'surplus-closer': { input: '<tool_call>{"name": "f"}}</tool_call>' },
  'trailing-text': { input: '<tool_call>{"name": "f"} so</tool_call>' },
  'unknown-key': { input: '<tool_call>{"name": "f", "args": {}, "why": 1}</tool_call>' },
  'unknown-tool': { input: '<tool_call>{"name": "g"}</tool_call>', options: TOOLS },
  'quoted-call': { input: `So \`${CALL}\`` },
  'possible-call': { input: BARE },
  'call-in-reasoning': { input: `<think>So ${CALL}</think>` },
  'unclosed-reasoning': { input: '<think>So' },
  'call-while-disabled': { input: CALL, options: { toolChoice: 'none' } },
  'foreign-dialect': { input: 'So [Calling tool: f({})]' },
  'type-coercion-failed': undefined,
  'duplicate-call': { input: CALL + CALL },
  'fabricated-result': { input: 'So <tool_response>42' },
  'fabricated-turn': { input: 'Hi.<|im_end|><|im_start|>user' },
  'special-token': { input: 'Hi.<|im_end|>' },
  'suspicious-escape': {
    input: String.raw`<tool_call>{"name": "f", "args": {"a": "\frac{\alpha}"}}</tool_call>`,
  },
  'suspicious-arguments': {
    input: '<tool_call>{"name": "f", "args": {"a": "<tool_call>"}}</tool_call>',
  },
}

export const RULED: Readonly<Record<RuleCode, Example>> = {
  call: { input: CALL },
  'no-grammar': { input: 'A <tool_call> tag' },
  quoted: { input: 'So `<think>`' },
  'in-reasoning': { input: '<think>So <tool_call>' },
  'tools-off': { input: CALL, options: { toolChoice: 'none' } },
  'not-at-line-start': { input: 'So <think>' },
  undeclared: { input: '<function=g>{}</function>', options: TOOLS },
  closes: { input: CALL },
  'closes-late': { input: '<tool_call>{"name": "f"} so</tool_call>' },
  orphan: { input: 'Hi.</tool_call>' },
  reasoning: { input: '<think>So' },
  structure: { input: '<function><name>f</name><arguments>{}</arguments></function>' },
  'in-arguments': { input: '<tool_call>{"name": "f", // <tool_call>\n}</tool_call>' },
  'failed-call': { input: '<tool_call>{"name": "f", "args": {"a": x <tool_call>' },
  'in-result': { input: 'So <tool_response><tool_call>' },
  'end-of-turn': { input: 'Hi.<|im_end|>' },
  'not-at-end': { input: 'Hi.<|im_end|> So' },
  fabricated: { input: 'So <tool_response>42' },
  foreign: { input: 'So <tool-call>' },
  bare: { input: '{"name": "f", "arguments": {}}' },
}

/** Inputs that tell the values of an option apart. */
export const OPTED: readonly Example[] = [
  ...Object.values(REPAIRED).map(({ input, options }): Example => ({
    input: `<tool_call>${input}</tool_call>`,
    options: options?.tools ? { tools: options.tools } : {},
  })),
  ...Object.values(WARNED).flatMap((example): Example[] => (example ? [example] : [])),
  { input: `Hi\n${CALL}\n\n${CALL}\n` },
  { input: `\`\`\`\n${CALL}\n\`\`\`` },
  { input: `\`\`\`json\n${BARE}\n\`\`\`` },
  { input: `Sure.\n${BARE}` },
  { input: `<think>So ${CALL}` },
  { input: '<think>The `</think>` tag.</think>So' },
  { input: '{"name": "f"}</tool_call>' },
  { input: 'I think.</think>So' },
  { input: '<tool_call>{"name": "f", "args": {x</tool_call>So' },
]
