/**
 * What `talaria demo` plays: short answers of a Hermes model, each with something that a parser can
 * get wrong. They are models' habits, written out by hand: markers glued to prose, calls side by
 * side, a marker inside an argument, characters of several bytes, a call that must not be run.
 */
import type { ToolDefinition } from '@talaria/core'

export interface DemoScript {
  /** Kebab-case, stable. */
  readonly name: string
  readonly title: string
  /** What the user asked. */
  readonly question: string
  readonly tools: readonly ToolDefinition[]
  /** What the model answers, letter by letter. */
  readonly answer: string
}

const GET_WEATHER: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['city'],
  },
}

const WRITE_FILE: ToolDefinition = {
  name: 'write_file',
  description: 'Writes a text file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
  },
}

const SEND_MESSAGE: ToolDefinition = {
  name: 'send_message',
  description: 'Sends a message to a person.',
  parameters: {
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to', 'text'],
  },
}

const FIND_TRAINS: ToolDefinition = {
  name: 'find_trains',
  description: 'Trains between two stations.',
  parameters: {
    type: 'object',
    properties: {
      from: { type: 'string' },
      to: { type: 'string' },
      passengers: { type: 'integer' },
      direct: { type: 'boolean' },
    },
    required: ['from', 'to'],
  },
}

export const DEMO_SCRIPTS: readonly DemoScript[] = [
  {
    name: 'one-call',
    title: 'A sentence, then a call',
    question: 'Do I need an umbrella in Lisbon today?',
    tools: [GET_WEATHER],
    answer: `Let me check the weather in Lisbon.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius"}}
</tool_call>`,
  },
  {
    name: 'parallel-calls',
    title: 'Reasoning, then two calls at once',
    question: 'Which is warmer now, Oslo or Rome?',
    tools: [GET_WEATHER],
    answer: `<think>
I need the weather of both. Neither call needs the other one, so both can go at once.
</think>

I will look up both.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Oslo"}}
</tool_call>
<tool_call>
{"name": "get_weather", "arguments": {"city": "Rome"}}
</tool_call>`,
  },
  {
    name: 'marker-in-argument',
    title: 'An argument that holds the markers themselves',
    question: 'Write a test: a close tag in a string is data.',
    tools: [WRITE_FILE],
    answer: `Here is the test.
<tool_call>
{"name": "write_file", "arguments": {"path": "data.test.ts", "content": "test('a close tag in a string is data', () => {\\n  const text = '<tool_call>{\\"name\\": \\"f\\"}</tool_call>'\\n  expect(parse(text).calls).toHaveLength(1)\\n})\\n"}}
</tool_call>`,
  },
  {
    name: 'unicode',
    title: 'Characters that take several tokens',
    question: 'Sag Zoë, dass wir uns in 東京 treffen.',
    tools: [SEND_MESSAGE],
    answer: `Mach ich – schöne Grüße! ✈️
<tool_call>
{"name": "send_message", "arguments": {"to": "Zoë", "text": "Grüß dich! 東京で会いましょう 🗼👋🏽"}}
</tool_call>`,
  },
  {
    name: 'broken-call',
    title: 'A broken call, then a good one',
    question: 'Find direct trains from Bern to Wien for two.',
    tools: [FIND_TRAINS],
    answer: `<tool_call>
{"name": "find_trains", "arguments": {"from": "Bern", "to": "Wien", "passengers": two}}
</tool_call>
That was not valid JSON. Let me try again.
<tool_call>
{"name": "find_trains", "arguments": {"from": "Bern", "to": "Wien", "passengers": 2, "direct": true}}
</tool_call>`,
  },
]
