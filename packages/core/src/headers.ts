/**
 * Reads the part of an opening or closing tag that is no literal: blanks before “>”, attributes, a
 * name behind “=”. The text is kept, since it may turn out to be no tag; limits bound it.
 */
import * as char from './chars.ts'

/** `</tool_call |>`: blanks only. */
export const CLOSER = 0
/** `<tool_call |name="f" x="1">`: attributes. */
export const ATTRIBUTES = 1
/** `<function=|f>`: a name. */
export const NAME = 2
/** A close marker between backticks is text: the next character decides. */
export const TICK = 3
export type HeaderKind = 0 | 1 | 2 | 3

export const GOING = 0
export const TAKEN = 1
const REFUSED = 2
export type HeaderStatus = 0 | 1 | 2

// Where the attributes stand.
const BETWEEN = 0 // <tag |a="1">
const KEY = 1 // <tag a|b="1">
const EQUALS = 2 // <tag a|="1">
const VALUE = 3 // <tag a=|"1">
const QUOTED = 4 // <tag a="|1">
const AFTER = 5 // <tag a="1"|>

export class Header {
  status: HeaderStatus = GOING
  kind: HeaderKind = CLOSER
  /** The marker's literal beginning and what followed. */
  text = ''
  /** The name that the header holds. */
  name: string | undefined
  /** Offset of the name's first character. */
  nameStart = 0
  /** Offset of the marker's first character. */
  start = 0
  /** Which marker began it. */
  marker = 0
  /** Longer than a header may be. */
  tooLong = false
  private state = BETWEEN
  private quote = 0
  private key = ''
  private value = ''
  private limit = 0
  /** Offset of the character at hand. */
  private at = 0

  begin(kind: HeaderKind, marker: number, literal: string, start: number, limit: number): void {
    this.status = GOING
    this.kind = kind
    this.marker = marker
    this.text = literal
    this.name = undefined
    this.start = start
    this.limit = limit
    this.tooLong = false
    this.state = BETWEEN
    this.key = ''
    this.value = ''
  }

  /** Reads from `index`; returns where it stopped. A character that refuses it is not taken. */
  take(chunk: string, index: number): number {
    const from = index
    if (this.kind === TICK) {
      this.status = chunk.charCodeAt(index) === char.BACKTICK ? REFUSED : TAKEN
      return index
    }
    while (index < chunk.length && this.status === GOING) {
      this.at = this.start + this.text.length + index - from
      const status = this.step(chunk.charCodeAt(index), chunk, index)
      if (status === GOING && this.text.length + index - from >= this.limit) {
        this.tooLong = true
        this.status = REFUSED
        // What is released must not end in half of a pair.
        if (index > from && char.isHighSurrogate(chunk.charCodeAt(index - 1))) index--
      } else this.status = status
      if (this.status !== REFUSED) index++
    }
    this.text += chunk.slice(from, index)
    return index
  }

  private setName(): void {
    this.name = this.value.trim()
    this.nameStart = this.at - this.value.trimStart().length
  }

  private step(code: number, chunk: string, index: number): HeaderStatus {
    if (this.kind === NAME) return this.stepName(code, chunk, index)
    if (this.kind === CLOSER)
      return code === char.GREATER ? TAKEN : isTagSpace(code) ? GOING : REFUSED
    return this.stepAttribute(code, chunk, index)
  }

  private stepName(code: number, chunk: string, index: number): HeaderStatus {
    if (code === char.GREATER) {
      this.setName()
      return /^\S+$/.test(this.name ?? '') ? TAKEN : REFUSED
    }
    if (isHeaderEnd(code)) return REFUSED
    this.value += chunk.charAt(index)
    return GOING
  }

  private stepAttribute(code: number, chunk: string, index: number): HeaderStatus {
    if (this.state === QUOTED) {
      if (code === this.quote) {
        if (this.key === 'name' && this.name === undefined) this.setName()
        this.state = AFTER
        return GOING
      }
      if (code === char.LESS || code === char.NEWLINE || code === char.BACKTICK) return REFUSED
      this.value += chunk.charAt(index)
      return GOING
    }
    const space = isTagSpace(code)
    switch (this.state) {
      case BETWEEN:
      case AFTER:
        if (code === char.GREATER) return TAKEN
        if (space) this.state = BETWEEN
        else if (this.state === AFTER || !isKeyCharacter(code)) return REFUSED
        else {
          this.state = KEY
          this.key = chunk.charAt(index)
        }
        return GOING
      case KEY:
        if (space) this.state = EQUALS
        else if (code === char.EQUALS) this.state = VALUE
        else if (isKeyCharacter(code)) this.key += chunk.charAt(index)
        else return REFUSED
        return GOING
      case EQUALS:
        if (code === char.EQUALS) this.state = VALUE
        else if (!space) return REFUSED
        return GOING
      default:
        if (code === char.QUOTE || code === char.APOSTROPHE) {
          this.quote = code
          this.value = ''
          this.state = QUOTED
        } else if (!space) return REFUSED
        return GOING
    }
  }
}

function isTagSpace(code: number): boolean {
  return code === char.SPACE || code === char.TAB || code === char.NEWLINE || code === char.RETURN
}

function isHeaderEnd(code: number): boolean {
  return (
    code === char.LESS ||
    code === char.QUOTE ||
    code === char.APOSTROPHE ||
    code === char.BACKTICK ||
    code === char.NEWLINE ||
    code === char.RETURN
  )
}

function isKeyCharacter(code: number): boolean {
  const lower = code | 0x20
  return (
    (lower >= char.LOWER_A && lower <= char.LOWER_Z) ||
    char.isDigit(code) ||
    code === char.MINUS ||
    code === char.UNDERSCORE ||
    code === char.COLON
  )
}
