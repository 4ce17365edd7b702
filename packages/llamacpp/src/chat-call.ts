/**
 * One call of a chat API, from its first piece to its end.
 *
 * Its text passes through as the server sends it. Two habits of servers are read past: `{}` that
 * stands in for arguments still to come (held until the next piece or the end), and pieces that
 * repeat all the text so far. Nothing is repaired into an end: only what was proven complete may be
 * run.
 */
import { type ErrorCode, type Limits, ERROR_CODES } from '@talaria/core'
import { type ArgumentsFailure, ArgumentsReader, isBeginning } from './arguments.ts'
import { excerpt } from './failure.ts'
import type { CallPart, PartWriter } from './parts.ts'

const PLACEHOLDER = '{}'

export class ChatCall {
  readonly id: string | undefined
  name: string | undefined
  private readonly parts: PartWriter
  private readonly limits: Limits
  private readonly patches: boolean
  private part: CallPart | undefined
  private reader: ArgumentsReader | undefined
  private isOver = false
  /** All that came of the arguments, up to the limit. Joined only when asked for. */
  private pieces: string[] = []
  private size = 0
  /** `{}` came and may stand in for something. */
  private isHeld = false
  /** Each piece repeats what came before it. */
  private isCumulative = false

  constructor(id: string | undefined, parts: PartWriter, limits: Limits, patches: boolean) {
    this.id = id
    this.parts = parts
    this.limits = limits
    this.patches = patches
  }

  /** Whether the arguments could end here. */
  get isWhole(): boolean {
    return this.isHeld || this.reader?.complete !== undefined
  }

  /** Whether a piece of that name and text brings nothing new to a call that is whole. */
  repeats(name: string, text: string): boolean {
    if (name !== this.name) return false
    return this.isHeld || text.trim() === '' || text.trim() === this.text.trim()
  }

  /** Takes a piece. The first name counts. */
  take(name: string | undefined, text: string): void {
    if (this.isOver) return
    if (name !== undefined && this.name === undefined) this.start(name, text)
    if (!this.isOver && text !== '') this.append(text)
  }

  /** The server said that it is done: ends the call if its arguments are whole. */
  finishWhole(): void {
    if (!this.isOver && !this.isHeld) this.finish()
  }

  /** Nothing more will come. `isProven`: the server said so, so no arguments are none at all. */
  end(isProven: boolean): void {
    if (this.isOver) return
    if (!this.reader) return this.refuse('malformed-call', 'a name', 'none to the end')
    if (isProven && (this.isHeld || this.size === 0)) {
      this.isHeld = false
      this.reader.feed(PLACEHOLDER)
    }
    this.finish()
    if (this.isOver) return
    this.reader.end()
    this.fail(this.reader.failure)
  }

  abort(): void {
    if (this.isOver) return
    if (!this.reader) return this.refuse('aborted', 'a name', 'the end of the stream')
    this.reader.abort()
    this.fail(this.reader.failure)
  }

  private get text(): string {
    const text = this.pieces.join('')
    this.pieces = [text]
    return text
  }

  /** The name is known. `text`: what came with it, for the failure. */
  private start(name: string, text: string): void {
    const { limits, parts } = this
    this.name = name
    const isTooLong = name.length > limits.name
    if (isTooLong || parts.callCount >= limits.calls) {
      this.keep(text)
      return isTooLong
        ? this.refuse('limit', `a name of ${limits.name} characters at the most`, excerpt(name))
        : this.refuse('limit', `${limits.calls} calls at the most`, 'another')
    }
    const part = parts.openCall(name, this.id)
    if (this.isOver) return // A listener aborted when an open part was closed.
    this.part = part
    this.reader = new ArgumentsReader({
      limits,
      patches: this.patches,
      onDelta: (delta, patches) => {
        const { index } = part
        parts.emit({ type: 'tool-call-delta', index, delta, ...(patches && { patches }) })
      },
      // Its offsets count in the arguments, not in the text of the stream.
      onWarning: ({ code, message }) => parts.emit({ type: 'warning', code, message, name }),
    })
    parts.emit({ type: 'tool-call-start', ...part })
    if (this.size > 0 && !this.isHeld) this.deliver(this.text)
  }

  private append(text: string): void {
    if (this.size === 0) text = text.trimStart()
    else if (this.isHeld) text = this.afterPlaceholder(text)
    else text = this.withoutRepetition(text)
    if (text === '') return
    if (this.size === 0 && text.trim() === PLACEHOLDER) {
      this.isHeld = true
      this.keep(PLACEHOLDER)
      return
    }
    this.keep(text)
    this.deliver(text)
  }

  /** What a piece adds behind the held `{}`: a real object takes its place. */
  private afterPlaceholder(text: string): string {
    if (text.trim() === '' || text.trim() === PLACEHOLDER) return ''
    this.isHeld = false
    if (!text.trimStart().startsWith('{')) this.deliver(PLACEHOLDER)
    else {
      this.pieces = []
      this.size = 0
    }
    return text.trimStart()
  }

  /** What a piece adds to the text so far, if it repeats it. */
  private withoutRepetition(text: string): string {
    const isWhole = this.reader?.complete !== undefined
    if (isWhole && text.trim() === '') return ''
    if (text.length < this.size || text.charCodeAt(0) !== this.pieces[0]?.charCodeAt(0)) return text
    const soFar = this.text
    if (!text.startsWith(soFar)) return text
    if (!this.isCumulative && isBeginning(soFar + text, this.limits)) return text
    this.isCumulative = true
    const added = text.slice(soFar.length)
    return isWhole && added.trim() === '' ? '' : added
  }

  /** Keeps a piece for comparison and for a failure, as far as it takes to see the limit broken. */
  private keep(piece: string): void {
    const room = this.limits.arguments + 1 - this.size
    this.size += piece.length
    if (room > 0) this.pieces.push(piece.length > room ? piece.slice(0, room) : piece)
  }

  private deliver(piece: string): void {
    this.reader?.feed(piece)
    if (this.reader?.failure) this.fail(this.reader.failure)
  }

  /** Ends the call if its arguments are complete. */
  private finish(): void {
    const { part, reader } = this
    if (!part || !reader?.complete) return
    const { complete } = reader
    this.isOver = true
    this.pieces = []
    this.parts.emit({
      type: 'tool-call-end',
      ...part,
      arguments: complete.arguments,
      input: complete.input,
      ...(complete.repairs && { repairs: complete.repairs }),
    })
  }

  /** The call has started and failed. */
  private fail(failure: ArgumentsFailure | undefined): void {
    const { part, reader } = this
    if (this.isOver || !part || !failure) return
    const raw = this.text.slice(0, this.limits.arguments)
    const text = reader?.complete?.arguments ?? reader?.partial ?? ''
    this.isOver = true
    this.pieces = []
    this.parts.emit({ type: 'tool-call-error', ...part, ...failure, arguments: text, raw })
  }

  /** The call fails before its start. */
  private refuse(code: ErrorCode, expected: string, found: string): void {
    const { name } = this
    this.isOver = true
    const raw = this.text.slice(0, this.limits.arguments)
    this.pieces = []
    this.parts.emit({
      type: 'tool-call-error',
      index: this.parts.failedIndex(),
      ...(name !== undefined && { name }),
      code,
      message: `${ERROR_CODES[code]} Expected ${expected}, found ${found}.`,
      raw,
    })
  }
}
