/**
 * What the work costs at the least in plain JavaScript on the machine at hand.
 *
 * Four floors that parse nothing, and a minimal Hermes machine: strict, without recovery, positions,
 * quoting, reasoning, repair or limits, wrong on anything but calls as the prompt asks for. It is
 * what the core's time is divided by, so a change to it moves every ratio of every date: it stays
 * as it is, on the plainest way to do each thing, even where a faster one is known.
 */

/** What the minimal machine emits. */
export type MinimalEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'start'; readonly name: string }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'end'; readonly name: string; readonly arguments: unknown }

/** Looks for `<` in every chunk. Returns a sum that depends on all of them. */
export function searchChunks(chunks: readonly string[]): number {
  let sum = 0
  for (const chunk of chunks) sum += chunk.indexOf('<')
  return sum
}

/** Looks at every character. Returns their sum. */
export function sumCharacters(chunks: readonly string[]): number {
  let sum = 0
  for (const chunk of chunks) {
    for (let index = 0; index < chunk.length; index++) sum += chunk.charCodeAt(index)
  }
  return sum
}

/** Hands on every chunk in an event of its own. */
export function passChunks(
  chunks: readonly string[],
  onEvent: (event: MinimalEvent) => void,
): void {
  for (const chunk of chunks) onEvent({ type: 'text', text: chunk })
}

/** Parses the finished arguments of all calls, as every parser must in the end. */
export function parseArguments(texts: readonly string[], onValue: (value: unknown) => void): void {
  for (const text of texts) onValue(JSON.parse(text))
}

const OPENER = '<tool_call>'
const CLOSER = '</tool_call>'
const ARGUMENTS_KEY = '"arguments":'
const NAME = /"name":\s*"([^"]*)"/

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

// Where the minimal machine stands, `|` being the place.
const PROSE = 0 // te|xt
const HEAD = 1 // <tool_call>{"na|me":"f","arguments":
const ARGUMENTS = 2 // {|"a":"b"}
const STRING = 3 // {"a":"b|"}
const TAIL = 4 // }|</tool_call>
type Place = 0 | 1 | 2 | 3 | 4

/** The least that turns Hermes text into deltas. Broken input gives wrong events or throws. */
export class MinimalMachine {
  private place: Place = PROSE
  /** The beginning of an opener at the end of a chunk. */
  private held = ''
  /** What was read of the head or the tail. */
  private around = ''
  private name = ''
  private text = ''
  private depth = 0
  private escaped = false
  private readonly onEvent: (event: MinimalEvent) => void

  constructor(onEvent: (event: MinimalEvent) => void) {
    this.onEvent = onEvent
  }

  feed(chunk: string): void {
    if (this.held) {
      chunk = this.held + chunk
      this.held = ''
    }
    let index = 0
    let size = chunk.length
    while (index < size) {
      if (this.place === PROSE) {
        const at = chunk.indexOf('<', index)
        if (at < 0) {
          this.onEvent({ type: 'text', text: index > 0 ? chunk.slice(index) : chunk })
          return
        }
        if (at > index) this.onEvent({ type: 'text', text: chunk.slice(index, at) })
        if (chunk.startsWith(OPENER, at)) {
          this.place = HEAD
          index = at + OPENER.length
        } else if (size - at < OPENER.length && OPENER.startsWith(chunk.slice(at))) {
          this.held = chunk.slice(at)
          return
        } else {
          this.onEvent({ type: 'text', text: '<' })
          index = at + 1
        }
      } else if (this.place === ARGUMENTS || this.place === STRING) {
        let inside = this.place === STRING
        let closed = false
        let at = index
        for (; at < size; at++) {
          const code = chunk.charCodeAt(at)
          if (inside) {
            if (this.escaped) this.escaped = false
            else if (code === BACKSLASH) this.escaped = true
            else if (code === QUOTE) inside = false
          } else if (code === QUOTE) inside = true
          else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.depth++
          else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --this.depth === 0) {
            closed = true
            at++
            break
          }
        }
        this.place = inside ? STRING : ARGUMENTS
        const delta = chunk.slice(index, at)
        index = at
        this.text += delta
        this.onEvent({ type: 'delta', text: delta })
        if (closed) {
          this.onEvent({ type: 'end', name: this.name, arguments: JSON.parse(this.text) })
          this.place = TAIL
        }
      } else {
        const wanted = this.place === HEAD ? ARGUMENTS_KEY : CLOSER
        this.around += index > 0 ? chunk.slice(index) : chunk
        const at = this.around.indexOf(wanted)
        if (at < 0) return
        if (this.place === HEAD) {
          this.name = NAME.exec(this.around)![1]!
          this.onEvent({ type: 'start', name: this.name })
          this.text = ''
        }
        this.place = this.place === HEAD ? ARGUMENTS : PROSE
        chunk = this.around.slice(at + wanted.length)
        this.around = ''
        index = 0
        size = chunk.length
      }
    }
  }

  end(): void {
    if (this.held) this.onEvent({ type: 'text', text: this.held })
  }
}
