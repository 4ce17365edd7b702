/**
 * How the tiny models are prompted: ChatML turns with the tools in the system turn, as Hermes has it.
 *
 * `CHAT_TEMPLATE` goes into the models' files, for servers and libraries that render it themselves;
 * `renderPrompt` writes the same layout without a template engine.
 */
import type { Tool } from '@talaria/core'

export interface PromptOptions {
  /** Default: a short greeting. */
  readonly system?: string
  readonly tools?: readonly Tool[]
  /** What the user asks. */
  readonly question: string
  /** Ends the prompt in an open reasoning block. Default false. */
  readonly reasoning?: boolean
}

const DEFAULT_SYSTEM = 'You are a helpful assistant.'
const TOOLS_INTRO = 'You may call these functions:'
const CALL_INTRO = 'For each call write its name and arguments as JSON:'
const CALL_SHAPE = '<tool_call>\n{"name": NAME, "arguments": {…}}\n</tool_call>'

export const CHAT_TEMPLATE: string = `{%- if messages[0].role == 'system' -%}
{%- set system = messages[0].content -%}
{%- set turns = messages[1:] -%}
{%- else -%}
{%- set system = '${DEFAULT_SYSTEM}' -%}
{%- set turns = messages -%}
{%- endif -%}
{{- '<|im_start|>system\\n' + system -}}
{%- if tools -%}
{{- '\\n\\n${TOOLS_INTRO}\\n<tools>\\n' -}}
{%- for tool in tools -%}
{{- (tool | tojson) + '\\n' -}}
{%- endfor -%}
{{- '</tools>\\n${CALL_INTRO}\\n${CALL_SHAPE.replaceAll('\n', '\\n')}' -}}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- for message in turns -%}
{%- if message.role == 'tool' -%}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' -}}
{%- else -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- for call in message.tool_calls or [] -%}
{{- '\\n<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
`

/** The prompt for one question, ready to be tokenized with special tokens. */
export function renderPrompt(options: PromptOptions): string {
  const { tools = [] } = options
  const lines = tools.map((tool) =>
    JSON.stringify('function' in tool ? tool : { type: 'function', function: tool }),
  )
  const declared = lines.length
    ? `\n\n${TOOLS_INTRO}\n<tools>\n${lines.join('\n')}\n</tools>\n${CALL_INTRO}\n${CALL_SHAPE}`
    : ''
  return (
    `<|im_start|>system\n${options.system ?? DEFAULT_SYSTEM}${declared}<|im_end|>\n` +
    `<|im_start|>user\n${options.question}<|im_end|>\n` +
    `<|im_start|>assistant\n${options.reasoning ? '<think>\n' : ''}`
  )
}
