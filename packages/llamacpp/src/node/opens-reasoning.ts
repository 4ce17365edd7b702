/** Whether a prompt ends in the opener of a reasoning block, so that the answer begins inside it. */

/** Openers that chat templates end a prompt with, and the white space that they put after them. */
const OPENER_AT_END = /(?:<think>|<thinking>|<reasoning>|\[THINK\])\s*$/

export function opensReasoning(prompt: string): boolean {
  return OPENER_AT_END.test(prompt.slice(-MAX_TAIL))
}

/** Longer white space than this after an opener is nobody's; so a long prompt is not searched. */
const MAX_TAIL = 64
