/**
 * Takes what a body reads of one call and turns it into events.
 *
 * It keeps the call's raw text, for a failure, without keeping it twice: as long as the arguments
 * are the model's own characters in one piece, raw is what came before, the arguments, and what
 * came after. Long text grows in flat blocks, since appending to one string leaves a chain that
 * costs more to read than it cost to make. The sink knows no grammar and no dialect.
 */
import type { Sink } from './bodies/body.ts'
import { ERROR_CODES, type ErrorCode, type RepairCode, type WarningCode } from './errors.ts'
import type { JsonValue } from './events.ts'
import type { Limits } from './limits.ts'
import type { JsonReading } from './options.ts'
import type { Output } from './output.ts'
import { PatchWriter } from './patches.ts'
import { TextBuilder } from './text-builder.ts'

/** What the sink needs of the parser. */
export interface CallHost {
  /** The call is real: closes what was open before. Returns the call's index. */
  beginCall(): number
  makeId(): string
  /** No more calls are allowed. */
  readonly full: boolean
  warn(code: WarningCode, start: number, end: number, name?: string): void
  isUnknownTool(name: string): boolean
  parameters(name: string): ReadonlySet<string> | undefined
  /** The call is about to be complete. */
  completes(name: string, text: string, input: JsonValue): void
}

/** How many characters a call may have beside its arguments, on top of their limit. */
const BESIDE = 65_536

// How a call stands.
const OPEN = 0
export const NOT_A_CALL = 1
export const DONE = 2
export const FAILED = 3
export type Outcome = 0 | 1 | 2 | 3

/** What was found, where the code says it. */
const FOUND: Partial<Record<ErrorCode, string>> = {
  'incomplete-call': 'the end of the input',
  limit: 'more',
  aborted: 'the end of the stream',
}

/** A call that failed; its raw text grows until reading resumes. */
export interface Failure {
  readonly index: number
  readonly id: string | undefined
  readonly name: string | undefined
  readonly code: ErrorCode
  readonly message: string
  readonly arguments: string | undefined
  readonly offset: number
}

export class CallSink implements Sink {
  base = 0
  outcome: Outcome = OPEN
  started = false
  /** More calls of a list may follow. */
  listed = false
  failure: Failure | undefined
  /** Characters that the limits still allow, of the arguments and beside them. */
  room = 0
  spare = 0
  readonly limits: Limits
  readonly reading: JsonReading
  readonly tokens: boolean
  /** The root's braces are doubled: one more may follow. */
  doubledRoot = false
  private readonly repairs: RepairCode[] = []
  private readonly host: CallHost
  private readonly out: Output
  private readonly patches: PatchWriter | undefined
  /** Raw text before, in and after the arguments. */
  private readonly head = new TextBuilder()
  private readonly text = new TextBuilder()
  private readonly tail = new TextBuilder()
  /** The arguments are not the model's own characters in one piece: `tail` holds all from there. */
  private rewritten = false
  /** `tail` holds something, or may. */
  private followed = false
  /** Characters that were read and not delivered, and the room that is kept for such. */
  private held = ''
  private reserved = 0
  private index = -1
  /** Characters of the arguments that went out. */
  private sent = 0
  private id = ''
  private name = ''
  private modelId: string | undefined
  private opened = 0

  constructor(host: CallHost, out: Output, limits: Limits, patches: boolean, reading: JsonReading) {
    this.host = host
    this.out = out
    this.limits = limits
    this.reading = reading
    this.tokens = patches
    this.patches = patches ? new PatchWriter() : undefined
  }

  get open(): boolean {
    return this.outcome === OPEN
  }

  /** Whether arguments wait for the name. */
  get early(): boolean {
    return !this.started && this.text.length > 0
  }

  /** Makes the sink new. `raw`: the marker and header that opened the call, at `offset`. */
  begin(raw: string, offset: number): void {
    this.outcome = OPEN
    this.started = false
    this.listed = false
    this.doubledRoot = false
    if (this.repairs.length > 0) this.repairs.length = 0
    this.failure = undefined
    this.room = this.limits.arguments
    this.spare = this.limits.arguments + BESIDE
    this.head.clear()
    this.head.add(raw)
    this.text.clear()
    this.tail.clear()
    this.rewritten = false
    this.followed = false
    this.held = ''
    this.reserved = 0
    this.index = -1
    this.sent = 0
    this.modelId = undefined
    this.opened = offset
    this.patches?.clear()
  }

  /** The arguments that went out. */
  get argumentsSent(): string {
    return this.text.toString().slice(0, this.sent)
  }

  /** What the model wrote of this call so far. */
  get raw(): string {
    const text = this.rewritten ? '' : this.text.toString()
    return this.head.toString() + text + this.tail.toString() + this.held
  }

  notACall(): void {
    if (this.open) this.outcome = NOT_A_CALL
  }

  start(name: string, offset: number): void {
    if (!this.open) return
    const { host } = this
    name = name.trim()
    if (!isName(name)) {
      const expected = 'a name with a letter or digit, without “<”, quotes and line breaks'
      return this.fail('malformed-call', expected, offset, JSON.stringify(name))
    }
    if (host.full) return this.fail('limit', `${this.limits.calls} calls at the most`, offset)
    this.index = host.beginCall()
    this.id = host.makeId()
    this.name = name
    if (host.isUnknownTool(name)) host.warn('unknown-tool', this.opened, this.opened, name)
    this.started = true
    this.out.begin({ type: 'tool-call-start', index: this.index, id: this.id, name })
    if (this.text.length > 0) this.send(this.text.toString())
  }

  skip(chunk: string, from: number, to: number): void {
    if (from === to) return
    const end = Math.min(to, from + this.spare)
    const piece = from === 0 && end === chunk.length ? chunk : chunk.slice(from, end)
    this.spare -= end - from
    if (this.text.length === 0 && !this.rewritten) this.head.add(piece)
    else {
      this.tail.add(piece)
      this.followed = true
    }
    if (end === to) return
    const size = this.limits.arguments + BESIDE
    this.fail('limit', `${size} characters beside the arguments at the most`, this.base + end)
  }

  pass(chunk: string, from: number, to: number): void {
    if (from === to) return
    this.passPiece(from === 0 && to === chunk.length ? chunk : chunk.slice(from, to))
  }

  /** A piece of the arguments, as the model wrote it. */
  passPiece(piece: string): void {
    if (this.followed) {
      this.rewrite()
      this.tail.add(piece)
    }
    this.room -= piece.length
    this.text.add(piece)
    // Before the name is known, arguments wait for it.
    if (this.started) this.send(piece)
  }

  write(text: string): void {
    this.rewrite()
    this.room -= text.length
    this.text.add(text)
    if (this.started) this.send(text)
  }

  hold(source: string, size: number): void {
    this.room += this.reserved - size
    this.reserved = size
    this.held = source
  }

  set(value: JsonValue): void {
    this.patches?.set(value)
  }

  append(text: string): void {
    this.patches?.append(text)
  }

  close(): void {
    this.patches?.close()
  }

  enter(step: string | number): void {
    this.patches?.enter(step)
  }

  leave(): void {
    this.patches?.leave()
  }

  identify(id: string): void {
    this.modelId = id
  }

  list(): void {
    this.listed = true
  }

  doubled(): void {
    this.doubledRoot = true
  }

  repair(code: RepairCode): void {
    if (!this.repairs.includes(code)) this.repairs.push(code)
  }

  parameters(name: string): ReadonlySet<string> | undefined {
    return this.host.parameters(name)
  }

  warn(code: WarningCode, start: number, end: number): void {
    this.host.warn(code, start, end, this.started ? this.name : undefined)
  }

  finish(): void {
    if (!this.open) return
    if (this.text.length === 0) this.writeEmpty()
    const text = this.text.toString()
    const input = parseInput(text)
    if (input === undefined) {
      // A body that finished let something pass that JSON does not allow: never a false success.
      return this.fail('malformed-arguments', 'valid JSON', this.opened, 'something else')
    }
    this.host.completes(this.name, text, input)
    this.outcome = DONE
    const { index, id, name, modelId } = this
    const end = { type: 'tool-call-end', index, id, name, arguments: text, input } as const
    if (modelId === undefined && this.repairs.length === 0) return this.out.finish(end)
    this.out.finish({
      ...end,
      ...(this.repairs.length > 0 && { repairs: [...this.repairs] }),
      ...(modelId !== undefined && { metadata: { modelId } }),
    })
  }

  fail(code: ErrorCode, expected: string, offset: number, found: string = FOUND[code] ?? ''): void {
    if (!this.open) return
    if (!this.started) this.index = this.host.beginCall()
    this.outcome = FAILED
    this.failure = {
      index: this.index,
      id: this.started ? this.id : undefined,
      name: this.started ? this.name : undefined,
      code,
      message: `${ERROR_CODES[code]} Expected ${expected}${found && `, found ${found}`} at offset ${offset}.`,
      arguments: this.started ? this.text.toString() : undefined,
      offset,
    }
  }

  private send(delta: string): void {
    const { index, patches } = this
    this.sent += delta.length
    if (patches) this.out.emit({ type: 'tool-call-delta', index, delta, patches: patches.take() })
    else this.out.emit({ type: 'tool-call-delta', index, delta })
  }

  private writeEmpty(): void {
    this.patches?.set({})
    this.patches?.close()
    this.write('{}')
  }

  private rewrite(): void {
    if (this.rewritten) return
    const after = this.tail.toString()
    this.tail.clear()
    this.tail.add(this.text.toString())
    this.tail.add(after)
    this.rewritten = true
    this.followed = true
  }

  /** The arguments may not grow any more. */
  overLimit(offset: number): void {
    this.fail('limit', `${this.limits.arguments} characters of arguments at the most`, offset)
  }
}

/** A letter or digit of any script, and nothing that a marker or a line could hide in. */
export function isName(name: string): boolean {
  return /[\p{L}\p{N}]/u.test(name) && !/[<"'`\r\n]/.test(name)
}

function parseInput(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
