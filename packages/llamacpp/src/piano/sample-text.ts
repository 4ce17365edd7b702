/**
 * What the tiny vocabulary's merges are learned from: prompts, prose, code and calls, in the words
 * that such texts use most. Every word that comes twice may become a token.
 */
export const SAMPLE_TEXT = `You may call these functions:
<tools>
{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city."}, "unit": {"type": "string"}}, "required": ["city"]}}}
{"type": "function", "function": {"name": "write_file", "description": "Writes a text file.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path", "content"]}}}
{"type": "function", "function": {"name": "search", "description": "Searches for a query.", "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["query"]}}}
</tools>
For each call write its name and arguments as JSON:
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}
</tool_call>
<tool_call>
{"name": "write_file", "arguments": {"path": "notes.txt", "content": "line one\\nline two\\n"}}
</tool_call>
<tool_call>
{"name": "search", "arguments": {"query": "train times", "limit": 10}}
</tool_call>
<tool_call>
{"name": "list_files", "arguments": {}}
</tool_call>
<think>
The user wants to know what the weather is like in the city, so the tool to use is the weather tool.
The first call needs the name of the city, and the second one needs the same. There is no reason to wait
for the other: both can go at once, and then I will have what I need to answer. Let me think about it again.
</think>
Let me check that for you. I will look up the weather and then write the file with the text that you want.
This is not what I was looking for, so I will try again with the right name. One more time, please.
Sure, here are the results. The weather in the city is good, but it may rain later in the day.
It is done: the file has been written, and all of the tests pass now. If you want, I can send them a message.
She said that they would meet at the station at ten, and that we should not be late for the train.
const text = 'the close tag is data'
const calls = parse(text).calls
export function parse(text: string): string[] {
  return text.split('\\n').map((line) => line.trim())
}
test('a string is data', () => {
  expect(parse(text)).toEqual(['one', 'two'])
  expect(calls).toHaveLength(1)
})
`
