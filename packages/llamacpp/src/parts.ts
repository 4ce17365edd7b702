/**
 * One numbering for the parts of an answer that come on two ways: as text with markers in it, and as
 * calls and reasoning that the server has already told apart.
 *
 * Text goes through a core parser, whose parts get the next free index when they first show; what
 * the server told apart gets its index here. Before it, the core parser closes its open text, so
 * that the parts come out in the order of the wire. The parser's own `finish` is dropped: only who
 * knows the wire can say how the answer ended.
 */
import {
  type Finish,
  type Parser,
  type ParserOptions,
  type StreamEvent,
  DEFAULT_LIMITS,
  WARNING_CODES,
  createIdGenerator,
  createParser,
} from '@talaria/core'
import type { Failure } from './failure.ts'
import { toolDefinition } from './tools.ts'

/** A call that the server told apart. */
export interface CallPart {
  readonly index: number
  readonly id: string
  readonly name: string
}

export class PartWriter {
  /** Whether a call of the client's was completed. */
  hasCalls = false
  /** How many calls began, failed ones counted. */
  callCount = 0
  private readonly options: ParserOptions
  private readonly onEvent: (event: StreamEvent) => void
  private readonly maxWhitespace: number
  private readonly toolNames: ReadonlySet<string> | undefined
  private readonly generateId: () => string
  private readonly ids = new Set<string>()
  private parser: Parser
  /** Whether the parser was fed. */
  private hasText = false
  private isClosed = false
  private next = 0
  /** The core parser's indexes, in order of their first event, to those given out. */
  private readonly indexes: number[] = []
  /** The core parser's index of a part that is about to start. */
  private waiting: number | undefined
  /** The index of the server's own open reasoning. */
  private reasoningIndex: number | undefined
  /** White space before reasoning's first character, or half a surrogate pair. */
  private heldReasoning = ''
  private lastIsCall = false
  private hasFailed = false

  constructor(options: ParserOptions, onEvent: (event: StreamEvent) => void) {
    this.options = options
    this.onEvent = onEvent
    this.maxWhitespace = options.limits?.whitespace ?? DEFAULT_LIMITS.whitespace
    this.generateId = options.generateId ?? createIdGenerator()
    this.parser = this.createParser(options) // Throws for wrong options, tools among them.
    this.toolNames =
      options.tools && new Set(options.tools.map((tool) => toolDefinition(tool).name))
  }

  /** Whether the answer could have gone on after its last part, so that its end may be a cut. */
  get isOpenEnded(): boolean {
    return !this.lastIsCall || this.hasFailed
  }

  /** Text that may hold markers. */
  text(delta: string): void {
    if (delta === '' || this.isClosed) return
    this.hasText = true
    this.parser.feed(delta)
  }

  /** Reasoning that the server told apart. */
  reasoning(delta: string): void {
    if (delta === '' || this.isClosed) return
    if (!this.hasText && this.options.startIn === 'reasoning') {
      // A server that tells reasoning apart does not leave the text in the middle of it.
      this.parser = this.createParser({ ...this.options, startIn: 'text' })
    }
    const text = this.heldReasoning + delta
    this.heldReasoning = ''
    if (this.reasoningIndex === undefined) {
      const isBlank = this.options.whitespace !== 'exact' && text.trim() === ''
      if (isBlank && text.length <= this.maxWhitespace) {
        this.heldReasoning = text
        return
      }
      this.cutText()
      this.reasoningIndex = this.next++
      this.lastIsCall = false
      this.onEvent({ type: 'reasoning-start', index: this.reasoningIndex })
    }
    const whole = wholeCharacters(text)
    this.heldReasoning = text.slice(whole)
    if (whole === 0) return
    const index = this.reasoningIndex
    this.onEvent({ type: 'reasoning-delta', index, delta: text.slice(0, whole) })
  }

  /**
   * Makes room for a call: an index, and an id, the server's if it has one of its own, else a made
   * one. The caller emits the start.
   */
  openCall(name: string, id: string | undefined): CallPart {
    this.closeOthers()
    if (this.toolNames && !this.toolNames.has(name)) {
      const code = 'unknown-tool'
      this.onEvent({ type: 'warning', code, message: WARNING_CODES[code], name })
    }
    return { index: this.takeCallIndex(), id: this.claim(id), name }
  }

  /** The index of a call that fails before its start. */
  failedIndex(): number {
    this.closeOthers()
    return this.takeCallIndex()
  }

  /** An event of a part that has its index. */
  emit(event: StreamEvent): void {
    if (event.type === 'tool-call-end') this.hasCalls = true
    else if (event.type === 'tool-call-error') this.hasFailed = true
    this.onEvent(event)
  }

  /** Closes what is open, the source having ended. Nothing is taken after it. */
  end(): void {
    this.isClosed = true
    if (this.hasText) this.parser.end()
    this.closeReasoning()
  }

  /** Closes what is open, the source having failed or been aborted. Nothing is taken after it. */
  abort(): void {
    this.isClosed = true
    if (this.hasText) this.parser.abort()
    this.closeReasoning()
  }

  /** The last events. */
  finish(finish: Omit<Finish, 'type'>, failure?: Failure): void {
    if (failure) this.onEvent({ type: 'error', ...failure })
    this.onEvent({ type: 'finish', ...finish })
  }

  private createParser(options: ParserOptions): Parser {
    return createParser({
      ...options,
      generateId: () => this.claim(undefined),
      onEvent: (event) => this.fromParser(event),
    })
  }

  private fromParser(event: StreamEvent): void {
    if (event.type === 'finish') return
    if (!('index' in event)) return this.onEvent(event)
    let index = this.indexes[event.index]
    if (index === undefined) {
      // A listener that aborts while this part waits for reasoning to close never hears of it.
      if (this.waiting === event.index) return
      const wasClosed = this.isClosed
      this.waiting = event.index
      this.closeReasoning()
      this.waiting = undefined
      if (this.isClosed !== wasClosed) return
      this.lastIsCall = event.type === 'tool-call-start' || event.type === 'tool-call-error'
      if (this.lastIsCall) this.callCount++
      index = this.next++
      this.indexes[event.index] = index
    }
    this.emit({ ...event, index })
  }

  private closeOthers(): void {
    this.closeReasoning()
    this.cutText()
  }

  private cutText(): void {
    if (this.hasText) this.parser.cut()
  }

  private takeCallIndex(): number {
    this.lastIsCall = true
    this.callCount++
    return this.next++
  }

  private closeReasoning(): void {
    const index = this.reasoningIndex
    const delta = this.heldReasoning
    this.heldReasoning = ''
    if (index === undefined) return // White space alone is no part.
    if (delta !== '') this.onEvent({ type: 'reasoning-delta', index, delta })
    this.reasoningIndex = undefined
    this.onEvent({ type: 'reasoning-end', index })
  }

  /** A free id: the wanted one, else a made one. */
  private claim(wanted: string | undefined): string {
    let id = wanted
    if (id === undefined || this.ids.has(id)) id = this.generateId()
    // A caller's generator may repeat itself, or hit what a server made.
    for (let count = 2; this.ids.has(id); count++) id = `${id}-${count}`
    this.ids.add(id)
    return id
  }
}

/** How much of `text` can be delivered: all but half a surrogate pair at its end. */
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
