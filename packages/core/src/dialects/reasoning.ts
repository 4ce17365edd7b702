/**
 * Plain reasoning: the tags that models of many families think in, and notations of calls that
 * nothing reads. No section holds calls.
 *
 * Source: the chat templates of DeepSeek-R1, QwQ and Qwen3 (`<think>`), of Magistral (`[THINK]`).
 * Sample: `[THINK]The user wants the weather.[/THINK]It rains.`.
 */
import { type Dialect, defineDialect } from '../dialect.ts'

export const reasoning: Dialect = defineDialect({
  name: 'reasoning',
  models: ['DeepSeek-R1', 'QwQ', 'Magistral'],
  sections: [
    { holds: 'reasoning', open: '<think>', close: '</think>' },
    { holds: 'reasoning', open: '<thinking>', close: '</thinking>' },
    { holds: 'reasoning', open: '<reasoning>', close: '</reasoning>' },
    { holds: 'reasoning', open: '[THINK]', close: '[/THINK]' },
  ],
  notations: ['[Calling tool:', '[TOOL_CALL]', '[TOOL_CALLS]', '[TOOL_REQUEST]'].map((literal) => ({
    literal,
    code: 'foreign-dialect',
  })),
})
