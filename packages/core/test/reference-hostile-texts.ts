/** Long texts that would cost more than a look at each character, were anything read again. */
import type { DriveOptions } from './drive.ts'

export interface HostileText {
  readonly text: string
  readonly options?: DriveOptions
}

const OPEN = '<tool_call>{"name":"f","arguments":{"a":'
const CALL = '<tool_call>{"name":"f"}</tool_call>'
const BARE = '{"name":"f","arguments":{}}'

/** Each some thousand characters long. */
export function hostileTexts(times: number): Readonly<Record<string, HostileText>> {
  return { ...inMarkers(times), ...inJson(times), ...inOptions(times) }
}

function inMarkers(times: number): Record<string, HostileText> {
  return {
    'end-of-turn tokens': { text: '<|im_end|>'.repeat(times) },
    'end-of-turn tokens in prose': { text: 'so <|im_end|>  \n'.repeat(times) },
    'end-of-turn tokens in a failed call': {
      text: `<tool_call>{"name":no${' <|im_end|>'.repeat(times)} x`,
    },
    'the beginning of a turn, again and again': { text: '<|im_end|>\n<|im_st'.repeat(times) },
    'results without an end': { text: '<tool_response>'.repeat(times) },
    'results with calls': { text: `<tool_result>${CALL}</tool_result>`.repeat(times) },
    'an object that is no call in the end': {
      text: `{"name":"f","arguments":{"a":"${'b`'.repeat(4 * times)}"}} so`,
    },
    'an object without an end': { text: `{"arguments":{"a":"${'<tool_call>'.repeat(times)}` },
    'code blocks that begin': { text: '```json\n{"name":'.repeat(times) },
    'one code block without an end': { text: `\`\`\`json\n{"name":"${'f'.repeat(9 * times)}` },
    'calls in inline code': { text: '`<tool_call>{'.repeat(times) },
    'calls in reasoning': { text: `<think>${`${CALL} so `.repeat(times)}` },
    'fences inside tags': { text: '<tool_call>\n```json\n{'.repeat(times) },
    'notations that are not read': { text: '<tool-call>[Calling tool:'.repeat(times) },
  }
}

function inJson(times: number): Record<string, HostileText> {
  return {
    'backslashes that escape nothing': { text: `${OPEN}"${'\\x\\u12'.repeat(times)}"}}` },
    'control characters': { text: `${OPEN}"${'\n\ta'.repeat(3 * times)}"}}` },
    'a string in single quotes': { text: `${OPEN}'${'"\\\'b'.repeat(2 * times)}'}}` },
    'commas and blanks': { text: `${OPEN}[${'1,   \n '.repeat(times)}2]}}` },
    'commas behind commas': { text: `${OPEN}[1,,${'2,,'.repeat(3 * times)}` },
    'commas that are missing': { text: `${OPEN}[${'{}[]'.repeat(2 * times)}]}}` },
    'comments behind commas': { text: `${OPEN}[1${',/*c*/ //c\n2'.repeat(times)}]}}` },
    'one long comment': { text: `${OPEN}/*${'* <tool_call>'.repeat(times)}` },
    'markers in a line comment': { text: `${OPEN}//${'<tool_call></function>'.repeat(times)}` },
    'literals of another language': { text: `${OPEN}[${'True,None,'.repeat(times)}` },
    'keys without quotes': { text: `${OPEN}{${'a:1,b$:2,'.repeat(times)}` },
    'doubled braces': { text: `<tool_call>{{"name":"f","arguments":${'{{"a":'.repeat(times)}` },
    'arguments in a string': {
      text: `<tool_call>{"name":"f","arguments":${JSON.stringify(JSON.stringify({ a: '\n"'.repeat(times) }))}}`,
    },
    'arguments in a string in a string': {
      text: `<tool_call>{"name":"f","arguments":${JSON.stringify(JSON.stringify(JSON.stringify({ a: '"'.repeat(times) })))}}`,
    },
    'keys beside the name': { text: `<tool_call>{"name":"f"${',"a":[1,2]'.repeat(times)}}` },
    'surplus braces': { text: `<tool_call>{{"name":"f"}}${'}'.repeat(9 * times)}` },
  }
}

function inOptions(times: number): Record<string, HostileText> {
  const tools = [{ name: 'f', parameters: { properties: { a: {} } } }]
  return {
    'quotes to guess': {
      text: `${OPEN}"${'b" c'.repeat(2 * times)}`,
      options: { guessQuotes: true },
    },
    'quotes and blanks to guess': {
      text: `${OPEN}"${`b"${' '.repeat(9)}`.repeat(times)}`,
      options: { guessQuotes: true },
    },
    'quotes to guess in keys': {
      text: `${OPEN}{"${'b", '.repeat(2 * times)}`,
      options: { guessQuotes: true },
    },
    'keys that become the arguments': {
      text: `<tool_call>{"name":"f"${',"a":[1,2]'.repeat(times)}}`,
      options: { tools },
    },
    'calls and words at the end of reasoning': {
      text: `<think>${`${CALL}so `.repeat(times)}`,
      options: { callsInReasoning: 'at-end' },
    },
    'openers at the end of reasoning': {
      text: `<think>${'<tool_call>{"name":"f"'.repeat(times)}`,
      options: { callsInReasoning: 'at-end' },
    },
    'calls in reasoning that count': {
      text: `<think>${`${CALL}so `.repeat(times)}`,
      options: { callsInReasoning: 'on' },
    },
    'reasoning that waits': {
      text: `<think>${'so it is '.repeat(times)}`,
      options: { unclosedReasoning: 'text' },
    },
    'lines of call objects': {
      text: `${BARE}\n`.repeat(times),
      options: { bareJson: 'last-line' },
    },
    'lines that begin call objects': {
      text: '{"name":"f",\n'.repeat(times),
      options: { bareJson: 'last-line' },
    },
    'a list of call objects': {
      text: `[${`${BARE}, `.repeat(times)}so`,
      options: { bareJson: 'whole-message' },
    },
    'a block of call objects': {
      text: `\`\`\`json\n${`${BARE}\n`.repeat(times)}\`\`\` so`,
      options: { fencedCall: 'whole-message' },
    },
    'tags that are stripped': {
      text: '<tool_call></function><tool_call x="1">'.repeat(times),
      options: { stripOrphanTags: true },
    },
    'failed calls shown': {
      text: '<tool_call>{"name":no}</tool_call>'.repeat(times),
      options: { failedAsText: true },
    },
  }
}
