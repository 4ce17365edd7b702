/** What random inputs are put together from: markers and their pieces, words, blanks, any units. */
import { fc } from './random.ts'

export const MARKERS: readonly string[] = [
  '<tool_call>',
  '</tool_call>',
  '<function_call>',
  '</function_call>',
  '<function>',
  '</function>',
  '<function=f>',
  '<tool_call name="f">',
  "<tool_call name='f' >",
  '<tool_call >',
  '</tool_call >',
  '<think>',
  '</think>',
  '<thinking>',
  '</thinking>',
  '<reasoning>',
  '</reasoning>',
]

/** Pieces that markers are made of, so that soup comes close to them. */
export const FRAGMENTS: readonly string[] = [
  '<',
  '</',
  '<tool',
  '<tool_cal',
  '<tool_call',
  '</tool_call',
  '<function',
  '<function=',
  '<function_',
  '<function= f>',
  '<function=>',
  '<tool_call name',
  '<tool_call name="',
  '<tool_call id="7">',
  '<think',
  '</thin',
  '>',
  '=',
  '{',
  '}',
  '[',
  ']',
  ',',
  ';',
  ':',
  '"',
  '\\',
  '`',
  '```',
  '~~~',
  '\n```\n',
  '\n> ',
  '{"name"',
  '{"name":"f"',
  '"arguments":{',
  '"parameters":',
  '"description":"d",',
  '{"a":1}',
  '{}',
  '[{',
]

/** Markers that are neither of calls nor of plain reasoning, and their pieces. */
export const OTHER_MARKERS: readonly string[] = [
  '[THINK]',
  '[/THINK]',
  '</invoke>',
  '</parameter >',
  '<tool_response>',
  '</tool_response>',
  '<function_results>',
  '</function_results>',
  '<tool_resp',
  '<tool-call>',
  '[Calling tool:',
  '[TOOL_CALLS]',
  '[TOOL_REQUEST',
  '<toolcall>',
  '<|tool_call|>',
  '< tool_call >',
  '[THIN',
]
export const TOKENS: readonly string[] = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|eot_id|>',
  '<|eom_id|>',
]
export const ROLES: readonly string[] = ['<|im_start|>', '<|start_header_id|>', '<start_of_turn>']
export const TOKEN_PIECES: readonly string[] = ['<|', '<|im_end|', '<|im_', '<start_of_', '|>']

const BLANKS: readonly string[] = ['', '', '', ' ', '\n', '  ', '\t', '\r\n', '\n\n']

/** Any UTF-16 units, halves of pairs included. */
export const anyUnits: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.integer({ max: 0xffff, min: 0 }), fc.integer({ max: 0xdfff, min: 0xd800 })), {
    maxLength: 6,
  })
  .map((units) => String.fromCharCode(...units))

export const word: fc.Arbitrary<string> = fc.constantFrom(
  ...['a', 'So', 'it is', 'naïve', '東京', '👍🏽', 'x < y', 'é', '1.', '-'],
)
export const blank: fc.Arbitrary<string> = fc.constantFrom(...BLANKS)

export function joined(pieces: readonly string[]): string {
  return pieces.join('')
}
