/**
 * Hermes 2 and later and the many models tuned on its prompts: a JSON object with name and
 * arguments inside `<tool_call>`. Its neighbours `<function_call>`, `<function>` and
 * `<function=NAME>` (Functionary 3.1, Llama 3.1's custom format) hold the same JSON.
 *
 * Source: the tool-use templates of NousResearch/Hermes-2-Pro and Hermes-3, of Qwen2.5 and Qwen3.
 * Sample: `<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>`.
 */
import { elementCall, nameFirst } from '../bodies/element-call.ts'
import { jsonArguments } from '../bodies/json-arguments.ts'
import { jsonCall } from '../bodies/json-call.ts'
import { type Dialect, defineDialect } from '../dialect.ts'

export const hermes: Dialect = defineDialect({
  name: 'hermes',
  models: ['Hermes 2 Pro', 'Hermes 3', 'Qwen2.5', 'Qwen3', 'QwQ', 'Granite 4', 'Functionary 3.1'],
  sections: [
    {
      holds: 'calls',
      open: '<tool_call>',
      close: '</tool_call>',
      bodies: [jsonCall],
      wraps: ['<function={name}>', '<function name="{name}">', '<function_call>', '<function>'],
    },
    {
      holds: 'calls',
      open: '<tool_call name="{name}">',
      close: '</tool_call>',
      bodies: [jsonArguments],
    },
    {
      holds: 'calls',
      open: '<function_call>',
      close: '</function_call>',
      bodies: [jsonCall],
      wraps: ['<function={name}>', '<function name="{name}">'],
    },
    {
      holds: 'calls',
      open: '<function>',
      close: '</function>',
      bodies: [jsonCall, elementCall, nameFirst],
    },
    {
      holds: 'calls',
      open: '<function={name}>',
      close: '</function>',
      bodies: [jsonArguments],
      placement: 'line-start',
    },
    {
      holds: 'calls',
      open: '<function name="{name}">',
      close: '</function>',
      bodies: [jsonArguments],
      placement: 'line-start',
    },
    { holds: 'reasoning', open: '<think>', close: '</think>' },
    { holds: 'reasoning', open: '<thinking>', close: '</thinking>' },
    { holds: 'reasoning', open: '<reasoning>', close: '</reasoning>' },
  ],
  // ChatML, Qwen's and Llama 3's.
  turnEnds: ['<|im_end|>', '<|endoftext|>', '<|end_of_text|>', '<|eot_id|>', '<|eom_id|>'],
  turnStarts: ['<|im_start|>', '<|start_header_id|>', '<start_of_turn>'],
  results: ['tool_response', 'tool_result', 'function_result', 'function_results'].map((name) => ({
    open: `<${name}>`,
    close: `</${name}>`,
  })),
  closers: [
    'parameter',
    'param',
    'invoke',
    'function_calls',
    'tool_calls',
    'arg_key',
    'arg_value',
  ].map((name) => `</${name}>`),
  notations: [
    { literal: '<tool-call>', code: 'foreign-dialect' },
    { literal: '<toolcall>', code: 'foreign-dialect' },
    { literal: '< tool_call >', code: 'possible-call' },
    { literal: '<|tool_call|>', code: 'possible-call' },
  ],
})
