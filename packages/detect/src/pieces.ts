/** Pieces of rendered conversations: what one has and the other has not, and how turns end. */

/** Tokens such as `<|im_end|>`, `</s>` and `[/INST]`: brackets around no white space. */
const TOKEN = String.raw`<[^<>\s]{1,62}>|\[[^[\]\s]{1,62}\]`
const FIRST_TOKEN = new RegExp(String.raw`^\s*(${TOKEN}|\S{1,64})`)
const LAST_TOKEN = new RegExp(String.raw`(?:${TOKEN})$`)
/** What may stand between a token's first character and a place within it. */
const WITHIN = /^[<[][^<>[\]\s]{0,62}$/

/** What `text` has in the place of what `base` has there. No special token is cut. */
export function differenceOf(base: string, text: string): string {
  const shorter = Math.min(base.length, text.length)
  let start = 0
  while (start < shorter && base[start] === text[start]) start++
  start = tokenStart(text, start) ?? start
  let end = 0
  while (end < shorter - start && base.at(-1 - end) === text.at(-1 - end)) end++
  let stop = text.length - end
  if (stop > start && tokenStart(text, stop) !== undefined) stop = tokenEnd(text, stop)
  return text.slice(start, stop)
}

/** Where the token begins that goes on at `at`. */
function tokenStart(text: string, at: number): number | undefined {
  const start = Math.max(text.lastIndexOf('<', at - 1), text.lastIndexOf('[', at - 1))
  return at > 0 && start >= 0 && WITHIN.test(text.slice(start, at)) ? start : undefined
}

function tokenEnd(text: string, at: number): number {
  const rest = /^[^<>[\]\s]*[>\]]/.exec(text.slice(at))
  return at + (rest?.[0].length ?? 0)
}

/** The first special token of a text, or its first word if there is none. */
export function firstToken(text: string): string | undefined {
  return FIRST_TOKEN.exec(text)?.[1]
}

/** The special token that a text ends in, white space aside. */
export function lastToken(text: string): string | undefined {
  return LAST_TOKEN.exec(text.trimEnd())?.[0]
}
