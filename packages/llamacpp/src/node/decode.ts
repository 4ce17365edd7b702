/**
 * A generation's tokens as text. Answer and thoughts are decoded apart, as the engine told them
 * apart, so a character that one leaves unfinished never joins the other.
 */
import { createDetokenizer } from './detokenizer.ts'
import type { NodeLlamaModel } from './engine-types.ts'
import { type Generation, NO_OUTCOME, type Outcome } from './generation.ts'

export interface Decoded {
  readonly type: 'text'
  /** May be empty: a token in the middle of a character. */
  readonly text: string
  readonly isThought: boolean
  /** How many tokens this came from. */
  readonly tokens: number
}

export async function* decode(
  model: NodeLlamaModel,
  generation: Generation,
): AsyncGenerator<Decoded, Outcome, void> {
  const answer = createDetokenizer(model)
  const thoughts = createDetokenizer(model)
  try {
    let step = await generation.next()
    while (!step.done) {
      const { tokens, isThought } = step.value
      const text = (isThought ? thoughts : answer).push(tokens)
      yield { type: 'text', text, isThought, tokens: tokens.length }
      step = await generation.next()
    }
    // A cut may have come in the middle of a character; only what the model itself leaves
    // unfinished is shown as U+FFFD.
    if (step.value.ending === 'natural') {
      yield { type: 'text', text: thoughts.end(), isThought: true, tokens: 0 }
      yield { type: 'text', text: answer.end(), isThought: false, tokens: 0 }
    }
    return step.value
  } finally {
    await generation.return(NO_OUTCOME)
  }
}
