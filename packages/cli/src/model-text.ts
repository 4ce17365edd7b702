/**
 * The text that the parser reads, as the offsets of its warnings and spans count it.
 *
 * Of raw text that is the input. What a server's answer carries only its reader knows, which gives
 * it to a parser and to nobody else. So the answer is read a second time with another character in
 * the place of each “<”: no marker begins, and all text comes out as it went in.
 */
import { createLlamaServerReader } from '@talaria/llamacpp'
import type { Form } from './detect.ts'
import { EXIT, Failure } from './failure.ts'

export class ModelText {
  private readonly pieces: string[] = []
  private form: Form = 'text'
  private choice: number | undefined
  private isWhole = false
  private text: string | undefined

  /** What the input is. Throws a `Failure` for events, which hold no text with markers. */
  begin(form: Form, choice: number | undefined): void {
    this.form = form
    this.choice = choice
    if (form === 'events') {
      throw new Failure(
        EXIT.usage,
        '--explain needs what the model wrote; a recording of events holds no markers',
      )
    }
  }

  add(piece: string): void {
    this.pieces.push(piece)
  }

  /** The input has ended by itself, so that what is open in it counts. */
  end(): void {
    this.isWhole = true
  }

  /** All of it, once nothing more comes. */
  toString(): string {
    if (this.text === undefined) {
      const input = this.pieces.join('')
      this.pieces.length = 0
      this.text = this.form === 'server' ? textOf(input, this.isWhole, this.choice) : input
    }
    return this.text
  }
}

/** The text in a server's answer. */
function textOf(answer: string, isWhole: boolean, choice = 0): string {
  const other = unusedCharacter(answer)
  // Backslashes stand in JSON strings only, each with what it escapes.
  const harmless = answer.replace(/<|\\(u003c|[^])/gi, (found: string, escaped?: string) =>
    escaped === undefined || escaped.length > 1 ? other : found,
  )
  const pieces: string[] = []
  const reader = createLlamaServerReader({
    dialect: 'hermes',
    tools: [],
    whitespace: 'exact',
    limits: { whitespace: Infinity },
    choice,
    onEvent(event) {
      if (event.type === 'text-delta') pieces.push(event.delta)
    },
  })
  reader.feed(harmless)
  if (isWhole) reader.end()
  else reader.abort()
  return pieces.join('').replaceAll(other, '<')
}

/** A character for private use that the answer does not hold, not even escaped. */
function unusedCharacter(answer: string): string {
  for (let code = 0xe000; code <= 0xf8ff; code++) {
    const character = String.fromCharCode(code)
    const isUsed = new RegExp(`${character}|\\\\u${code.toString(16)}`, 'i').test(answer)
    if (!isUsed) return character
  }
  throw new Failure(EXIT.io, 'the answer holds every character for private use')
}
