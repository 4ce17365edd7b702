/**
 * Holds reasoning from a call's opener on, as long as calls and nothing else follow: at the end of
 * reasoning that was never closed they are meant (`callsInReasoning: 'at-end'`).
 *
 * A parser of its own reads what is held. The first text, or a call that fails, proves that
 * reasoning goes on: what was held is reasoning then. Each character is read once more.
 */
import type { StreamEvent } from './events.ts'
import type { Parser } from './options.ts'
import { TextBuilder } from './text-builder.ts'

export class Rehearsal {
  /** Offset of the opener, and its literal part. */
  readonly start: number
  readonly opener: string
  /** Something else than calls has come. */
  refuted = false
  private calls = 0
  private begun = false
  private readonly raw = new TextBuilder()
  private readonly parser: Parser
  private readonly limit: number

  /** `limit`: how many UTF-16 units may be held. */
  constructor(
    start: number,
    opener: string,
    limit: number,
    create: (onEvent: (event: StreamEvent) => void) => Parser,
  ) {
    this.start = start
    this.opener = opener
    this.limit = limit
    this.parser = create(({ type }) => {
      if (this.refuted) return
      if (type === 'tool-call-start' || type === 'tool-call-error') this.begun = true
      if (type === 'tool-call-end') this.calls++
      else if (type === 'text-start' || type === 'reasoning-start' || type === 'tool-call-error') {
        this.refuted = true
      }
    })
  }

  get text(): string {
    return this.raw.toString()
  }

  /** Whether the grammar of a call followed the opener. */
  get sawCall(): boolean {
    const { holding } = this.parser
    if (this.begun || this.refuted) return this.begun
    return holding === 'call-header' || holding === 'early-arguments'
  }

  get visited(): number {
    return this.parser.visited
  }

  feed(piece: string): void {
    const room = this.limit - this.raw.length
    this.raw.add(piece)
    this.parser.feed(piece.length > room ? piece.slice(0, room) : piece)
    if (piece.length > room) this.refuted = true
  }

  /** The input is over: whether what was held are calls. */
  end(): boolean {
    this.parser.end()
    return !this.refuted && this.calls > 0
  }
}
