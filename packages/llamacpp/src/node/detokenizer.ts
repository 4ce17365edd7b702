/**
 * Tokens to text, one step at a time, without breaking a character.
 *
 * A byte-level vocabulary cuts characters: "ü" may be two tokens, and the engine turns each alone
 * into U+FFFD. So the tokens since the last whole character are kept and turned into text again
 * together; what ends in U+FFFD may still become a character and is held back, one unit at most.
 * Special tokens are written out, so that markers which are control tokens reach the parser.
 */
import type { NodeLlamaModel, NodeLlamaToken } from './engine-types.ts'

export interface Detokenizer {
  /** The text that these tokens complete; `''` in the middle of a character. */
  push(tokens: readonly NodeLlamaToken[]): string
  /** What is left when the model has ended: U+FFFD for bytes that were no character. */
  end(): string
}

const REPLACEMENT = '\uFFFD'
/** How many tokens before a piece the engine wants to see, to place blanks as its tokenizer does. */
const CONTEXT_TOKENS = 3
/** An unfinished character has at most three bytes, so at most three tokens. */
const UNFINISHED_TOKENS = 3

export function createDetokenizer(model: NodeLlamaModel): Detokenizer {
  let before: readonly NodeLlamaToken[] = []
  // Tokens whose text is not settled, and how much of that text has been given out.
  let open: readonly NodeLlamaToken[] = []
  let given = 0

  const textOf = (tokens: readonly NodeLlamaToken[]): string =>
    tokens.length === 0 ? '' : model.detokenize(tokens, true, before)

  /** Moves the first `count` open tokens out of the way. */
  const settle = (count: number, length: number): void => {
    before = [...before, ...open.slice(0, count)].slice(-CONTEXT_TOKENS)
    open = open.slice(count)
    given = Math.max(0, given - length)
  }

  /** Settles what comes before the unfinished character, where a token begins with it. */
  const shorten = (text: string): void => {
    for (let count = open.length - UNFINISHED_TOKENS; count < open.length; count++) {
      const head = textOf(open.slice(0, count))
      if (head + model.detokenize(open.slice(count), true, open.slice(0, count)) !== text) continue
      settle(count, head.length)
      return
    }
  }

  return {
    push(tokens) {
      open = open.length === 0 ? tokens : [...open, ...tokens]
      const text = textOf(open)
      const end = text.endsWith(REPLACEMENT) ? text.length - 1 : text.length
      const fresh = text.slice(given, end)
      given = Math.max(given, end)
      if (end === text.length) settle(open.length, text.length)
      else if (open.length > UNFINISHED_TOKENS) shorten(text)
      return fresh
    },
    end() {
      const text = textOf(open).slice(given)
      settle(open.length, given + text.length)
      return text
    },
  }
}
