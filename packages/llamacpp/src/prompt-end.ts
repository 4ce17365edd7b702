/**
 * Whether a prompt, or what a chat template puts at its end, opens reasoning: then the answer begins
 * inside it.
 */

/** What chat templates open reasoning with. */
const OPENERS = String.raw`<think>|<thinking>|<reasoning>|\[THINK\]`
const OPENER = new RegExp(OPENERS)
/** With the white space that templates put after it. */
const OPENER_AT_END = new RegExp(String.raw`(?:${OPENERS})\s*$`)

/** Longer white space than this after an opener is nobody's; so a long prompt is not searched. */
const MAX_TAIL = 64

/** Whether a prompt's text ends in an opener. */
export function opensReasoning(prompt: string): boolean {
  return OPENER_AT_END.test(prompt.slice(-MAX_TAIL))
}

/** The prompt whose answer is read, if its end is text. */
export function promptOpensReasoning(
  prompt: string | readonly (string | number)[],
  choice: number,
): boolean {
  if (typeof prompt === 'string') return opensReasoning(prompt)
  const isSeveral = prompt.every((item) => typeof item === 'string')
  const end = isSeveral ? prompt[choice] : prompt.at(-1)
  return typeof end === 'string' && opensReasoning(end)
}

/** Whether a chat template speaks of reasoning at all. */
export function mentionsReasoning(template: string): boolean {
  return OPENER.test(template)
}

/** The end of a Jinja output: `…\n' }}`, and the block tags after it. */
const OUTPUT_END = /['"]?\s*-?\}\}\s*$/
const BLOCK_END = /\{%-?\s*endif\s*-?%\}\s*$/

/**
 * Whether the last thing that a template writes opens reasoning. A guess from the template's text,
 * for servers that can't render: a condition around the last output is not read.
 */
export function templateOpensReasoning(template: string): boolean {
  let text = template.trimEnd()
  while (BLOCK_END.test(text)) text = text.replace(BLOCK_END, '').trimEnd()
  text = text.replace(OUTPUT_END, '').replaceAll('\\n', '\n')
  return opensReasoning(text)
}
