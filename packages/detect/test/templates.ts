/**
 * Chat templates in the shapes that model families use: how turns are framed, how a call is written,
 * what the prompt ends in. All are written for these tests; only the shapes are the families'.
 */

/** A turn in ChatML. */
const chatml = (body: string): string =>
  `{{- '<|im_start|>' + m.role + '\\n' }}${body}{{- '<|im_end|>\\n' }}`

const CHATML_PROMPT = `{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`

const TOOLS_IN_SYSTEM = `
{%- if tools %}
  {{- '<|im_start|>system\\nTools:\\n<tools>\\n' }}
  {%- for tool in tools %}{{- tool | tojson }}{{- '\\n' }}{%- endfor %}
  {{- '</tools>\\nAnswer with <tool_call>{"name": NAME, "arguments": {}}</tool_call>.<|im_end|>\\n' }}
{%- endif %}`

/** Hermes 2 Pro and Hermes 3: the object is written key by key, the arguments as JSON. */
export const HERMES = `{{- bos_token }}${TOOLS_IN_SYSTEM}
{%- for m in messages %}
  {%- if m.role == 'assistant' and m.tool_calls is defined and m.tool_calls %}
    {{- '<|im_start|>assistant' }}
    {%- for call in m.tool_calls %}
      {%- if call.function is defined %}{%- set call = call.function %}{%- endif %}
      {{- '\\n<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
      {{- call.arguments | tojson }}
      {{- '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- else %}
    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
${CHATML_PROMPT}`

/** Qwen2.5: a default system turn, the arguments first or last in an object made by a filter. */
export const QWEN2_5 = `
{%- if messages[0].role == 'system' %}{%- set first = messages[0].content %}
{%- else %}{%- set first = 'You are a helper.' %}{%- endif %}
{{- '<|im_start|>system\\n' + first }}
{%- if tools %}{{- '\\n<tools>' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>' }}{%- endif %}{{- '<|im_end|>\\n' }}
{%- for m in messages %}
  {%- if m.role == 'user' or (m.role == 'system' and not loop.first) or (m.role == 'assistant' and not m.tool_calls) %}
    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}
  {%- elif m.role == 'assistant' %}
    {{- '<|im_start|>' + m.role }}
    {%- if m.content %}{{- '\\n' + m.content }}{%- endif %}
    {%- for tool_call in m.tool_calls %}
      {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
      {{- '\\n<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
      {{- tool_call.arguments | tojson }}{{- '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- elif m.role == 'tool' %}
    {{- '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
${CHATML_PROMPT}`

/** Qwen3: the last turns carry a block of reasoning, empty or not; it can be switched off. */
export const QWEN3 = `${TOOLS_IN_SYSTEM}
{%- set ns = namespace(searching=true, last=messages|length - 1) %}
{%- for m in messages[::-1] %}
  {%- set index = (messages|length - 1) - loop.index0 %}
  {%- if ns.searching and m.role == 'user' and m.content is string and not (m.content.startswith('<tool_response>') and m.content.endswith('</tool_response>')) %}
    {%- set ns.searching = false %}{%- set ns.last = index %}
  {%- endif %}
{%- endfor %}
{%- for m in messages %}
  {%- set content = m.content if m.content is string else '' %}
  {%- if m.role != 'assistant' %}
    {{- '<|im_start|>' + m.role + '\\n' + content + '<|im_end|>\\n' }}
  {%- else %}
    {%- set thoughts = '' %}
    {%- if m.reasoning_content is string %}{%- set thoughts = m.reasoning_content %}
    {%- elif '</think>' in content %}
      {%- set thoughts = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
      {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if loop.index0 > ns.last and (loop.last or thoughts) %}
      {{- '<think>\\n' + thoughts.strip('\\n') + '\\n</think>\\n\\n' }}
    {%- endif %}
    {{- content.lstrip('\\n') }}
    {%- for call in m.tool_calls or [] %}
      {%- if not loop.first or content %}{{- '\\n' }}{%- endif %}
      {%- if call.function %}{%- set call = call.function %}{%- endif %}
      {{- '<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
      {%- if call.arguments is string %}{{- call.arguments }}{%- else %}{{- call.arguments | tojson }}{%- endif %}
      {{- '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- '<|im_start|>assistant\\n' }}
  {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}`

/** QwQ: history loses its reasoning, and the prompt opens it. */
export const QWQ = `${TOOLS_IN_SYSTEM}
{%- for m in messages %}
  {%- if m.role == 'assistant' and m.tool_calls %}
    {{- '<|im_start|>assistant' }}
    {%- for call in m.tool_calls %}{{- '\\n<tool_call>\\n' + ({'name': call.function.name, 'arguments': call.function.arguments} | tojson) + '\\n</tool_call>' }}{%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- else %}
    {%- set content = m.content %}
    {%- if m.role == 'assistant' %}{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}
    {{- '<|im_start|>' + m.role + '\\n' + content + '<|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{%- endif %}`

/** Granite 4: turns between role tokens, ended by one of its own; JSON straight from a filter. */
export const GRANITE = `
{%- if tools %}{{- '<|start_of_role|>system<|end_of_role|>' + (tools | tojson(indent=4)) + '<|end_of_text|>\\n' }}{%- endif %}
{%- for m in messages %}
  {{- '<|start_of_role|>' + m.role + '<|end_of_role|>' + (m.content or '') }}
  {%- for call in m.tool_calls or [] %}
    {{- '\\n<tool_call>\\n' + ({'name': call.function.name, 'arguments': call.function.arguments} | tojson) + '\\n</tool_call>' }}
  {%- endfor %}
  {{- '<|end_of_text|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_of_role|>assistant<|end_of_role|>' }}{%- endif %}`

/** Functionary 3.1 and Llama 3.1's custom tools: the name in the tag, another token behind calls. */
export const FUNCTIONARY = `{{- bos_token }}
{%- for m in messages %}
  {{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' }}
  {%- if m.content %}{{- m.content }}{%- endif %}
  {%- if m.tool_calls %}
    {%- for call in m.tool_calls %}{{- '<function=' + call.function.name + '>' + call.function.arguments + '</function>' }}{%- endfor %}
    {{- '<|eom_id|>' }}
  {%- else %}{{- '<|eot_id|>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`

/** Llama 3.1 with JSON: the bare object, with \`parameters\`, today's date in the system turn. */
export const LLAMA3_JSON = `{{- bos_token }}
{%- if not date_string is defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday: ' + date_string + '<|eot_id|>' }}
{%- for m in messages %}
  {%- if m.tool_calls is defined %}
    {%- if not m.tool_calls|length == 1 %}{{- raise_exception('One call at a time!') }}{%- endif %}
    {%- set call = m.tool_calls[0].function %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n{"name": "' + call.name + '", "parameters": ' }}
    {{- call.arguments | tojson }}{{- '}<|eot_id|>' }}
  {%- else %}
    {{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`

/** Mistral: turns must alternate, ids have nine characters, calls are a list behind a marker. */
export const MISTRAL = `{{- bos_token }}
{%- for m in messages %}
  {%- if m.role == 'system' %}{{- raise_exception('No system turn!') }}{%- endif %}
  {%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('Turns must alternate!') }}{%- endif %}
  {%- if m.role == 'user' %}
    {%- if tools and loop.last or not loop.last %}{{- '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{%- endif %}
    {{- '[INST]' + m.content + '[/INST]' }}
  {%- elif m.tool_calls is defined and m.tool_calls %}
    {{- '[TOOL_CALLS][' }}
    {%- for call in m.tool_calls %}
      {%- if call.id is not defined or call.id|length != 9 %}{{- raise_exception('Ids have nine characters!') }}{%- endif %}
      {{- '{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + ', "id": "' + call.id + '"}' }}
      {%- if not loop.last %}{{- ', ' }}{%- endif %}
    {%- endfor %}
    {{- ']' + eos_token }}
  {%- else %}{{- m.content + eos_token }}{%- endif %}
{%- endfor %}`

/** Speaks of \`<tool_call>\` in a comment and to the model, and writes calls otherwise. */
export const MENTIONS = `{# Calls are written as <tool_call>{"name": "f", "arguments": {}}</tool_call>. #}
{{- '<|im_start|>system\\nNever write <tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>!<|im_end|>\\n' }}
{%- for m in messages %}${chatml(`{{- m.content or '' }}
  {%- for call in m.tool_calls or [] %}{{- '<<call ' + call.function.name + ' ' + (call.function.arguments | tojson) + '>>' }}{%- endfor %}`)}{%- endfor %}
${CHATML_PROMPT}`

/** Knows no tools. */
export const PLAIN = `{%- for m in messages %}${chatml(`{{- m.content }}`)}{%- endfor %}${CHATML_PROMPT}`

/** Knows no tools, but thinks: the prompt opens reasoning right behind the role. */
export const R1 = `{{- bos_token }}
{%- for m in messages %}
  {%- if m.role == 'user' %}{{- '<｜User｜>' + m.content }}
  {%- else %}{{- '<｜Assistant｜>' + m.content.split('</think>')[-1] + '<｜end▁of▁sentence｜>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<｜Assistant｜><think>\\n' }}{%- endif %}`

/** Calls in \`<tool_call>\`, reasoning in brackets: markers of two families. */
export const TWO_FAMILIES = `
{%- for m in messages %}
  {{- '<|im_start|>' + m.role + '\\n' }}
  {%- if m.thinking %}{{- '[THINK]' + m.thinking + '[/THINK]' }}{%- endif %}
  {{- m.content or '' }}
  {%- for call in m.tool_calls or [] %}{{- '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{%- endfor %}
  {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n[THINK]' }}{%- endif %}`

/** Macros that call themselves and one another, namespaces, call blocks, filter blocks. */
export const MACROS = `
{%- macro kind(schema) %}
  {%- if schema.type == 'object' %}{
    {%- for key, value in schema.properties | items %}{{- key + ': ' + kind(value) }}{%- if not loop.last %}, {% endif %}{%- endfor -%}
  }{%- else %}{{- schema.type }}{%- endif %}
{%- endmacro %}
{%- macro turn(role) %}{{- '<|im_start|>' ~ role ~ '\\n' ~ caller() ~ '<|im_end|>\\n' }}{%- endmacro %}
{%- macro write(call) %}{{- '<tool_call>\\n' + (call | tojson) + '\\n</tool_call>' }}{%- endmacro %}
{%- set ns = namespace(count=0) %}
{%- call turn('system') %}{%- for tool in tools or [] %}{{- kind(tool.function.parameters) | trim }}{%- endfor %}{%- endcall %}
{%- for m in messages %}
  {%- set ns.count = ns.count + 1 %}
  {%- call turn(m.role) %}
    {%- filter trim %}{{- m.content or '' }}{%- for call in m.tool_calls or [] %}{{- write(call.function) }}{%- endfor %}{%- endfilter %}
  {%- endcall %}
{%- endfor %}
${CHATML_PROMPT}`

/** Refuses a conversation that does not begin with a system turn, and tools that are wrapped. */
export const PARTICULAR = `
{%- if messages[0].role != 'system' %}{{- raise_exception('Say who I am!') }}{%- endif %}
{%- for tool in tools or [] %}{{- tool.name + '\\n' }}{%- endfor %}
{%- for m in messages %}${chatml(`
  {%- if m.content is not none %}{{- m.content }}{%- endif %}
  {%- if m.tool_calls and m.content is none %}{%- for call in m.tool_calls %}
    {{- '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments + '}</tool_call>' }}
  {%- endfor %}{%- endif %}`)}{%- endfor %}
${CHATML_PROMPT}`

/** The prompt opens the call, as when an answer must be one. */
export const FORCED = `
{%- for m in messages %}${chatml(`{{- m.content or '' }}
  {%- for call in m.tool_calls or [] %}{{- '<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' }}{%- endfor %}`)}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<tool_call>\\n' }}{%- endif %}`

/** Refuses every conversation, in line 3. */
export const RAISES = `{%- for m in messages %}
  {%- if m.role == 'user' %}
    {{- raise_exception('Not today.') }}
  {%- endif %}
{%- endfor %}`
