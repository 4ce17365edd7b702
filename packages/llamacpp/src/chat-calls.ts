/**
 * Calls that come as pieces in a chat API's `tool_calls` (or the older `function_call`), as events.
 *
 * Which call a piece belongs to is a matter of identity, not of position: servers leave out the id,
 * the index or both, repeat them, or count from anywhere. A call starts when its name is known and
 * never ends because its arguments parse: the finish, another call in its place or the end of the
 * stream ends it. Nothing here is llama-server's alone.
 */
import type { Limits } from '@talaria/core'
import { ChatCall } from './chat-call.ts'
import { isRecord } from './failure.ts'
import type { PartWriter } from './parts.ts'

/** What is known of a piece, blank fields taken as absent. */
interface Piece {
  readonly index: number | undefined
  readonly id: string | undefined
  readonly name: string | undefined
  readonly text: string
}

export class ChatCalls {
  private readonly parts: PartWriter
  private readonly limits: Limits
  private readonly patches: boolean
  /** In order of their first piece. */
  private readonly calls: ChatCall[] = []
  private readonly byId = new Map<string, ChatCall>()
  /** The newest call of each index. */
  private readonly byIndex = new Map<number, ChatCall>()

  constructor(parts: PartWriter, limits: Limits, patches: boolean) {
    this.parts = parts
    this.limits = limits
    this.patches = patches
  }

  /** Takes the `tool_calls` of one delta or message. */
  take(items: unknown): void {
    if (!Array.isArray(items)) return
    for (const item of items) {
      if (isRecord(item)) this.piece(readPiece(item))
    }
  }

  /** Takes the `function_call` of one delta or message: one call, without an id. */
  takeFunction(item: unknown): void {
    if (isRecord(item)) this.piece(readPiece({ function: item, index: -1 }))
  }

  /** The server said that it is done: calls that are whole end. Others may still get their rest. */
  finishWhole(): void {
    for (const call of this.calls) call.finishWhole()
  }

  /** The stream ended. `isProven`: the server said so itself and cut nothing. */
  end(isProven: boolean): void {
    for (const call of this.calls) call.end(isProven)
  }

  /** The stream failed or was aborted: what is open must not be run. */
  abort(): void {
    for (const call of this.calls) call.abort()
  }

  private piece(piece: Piece): void {
    const found = this.find(piece)
    const call = found && !isAnother(found, piece) ? found : this.open(piece, found)
    if (piece.index !== undefined) this.byIndex.set(piece.index, call)
    if (piece.id !== undefined && (call !== found || !this.byId.has(piece.id))) {
      this.byId.set(piece.id, call)
    }
    call.take(piece.name, piece.text)
  }

  /** The call that the piece means: the one of its index unless the ids differ, else of its id. */
  private find({ id, index }: Piece): ChatCall | undefined {
    const atIndex = index === undefined ? undefined : this.byIndex.get(index)
    if (id === undefined) return index === undefined ? this.calls.at(-1) : atIndex
    if (atIndex?.id === id) return atIndex
    return this.byId.get(id) ?? atIndex
  }

  private open(piece: Piece, previous: ChatCall | undefined): ChatCall {
    const isInPlace = piece.index !== undefined && this.byIndex.get(piece.index) === previous
    if (isInPlace) previous?.end(true)
    const call = new ChatCall(piece.id, this.parts, this.limits, this.patches)
    this.calls.push(call)
    return call
  }
}

/** Whether a piece that seems to mean `call` begins another one all the same. */
function isAnother(call: ChatCall, { id, index, name, text }: Piece): boolean {
  if (id !== undefined && call.id !== undefined && id !== call.id) return true
  if (name === undefined) return false
  // A name may come with each piece of a call. After whole arguments it begins another call, unless
  // all that comes was there already.
  if (call.isWhole) return !call.repeats(name, text)
  return id === undefined && index === undefined && call.name !== undefined && call.name !== name
}

function readPiece(item: Readonly<Record<string, unknown>>): Piece {
  const fields = isRecord(item.function) ? item.function : {}
  return {
    index: typeof item.index === 'number' ? item.index : undefined,
    // Some servers put the id beside the name.
    id: readWord(item.id) ?? readWord(fields.id),
    name: readWord(fields.name),
    text: readArguments(fields.arguments),
  }
}

/** A string with something in it, or a number; `null` as a word is none. */
function readWord(value: unknown): string | undefined {
  const word = typeof value === 'number' ? String(value) : value
  if (typeof word !== 'string') return undefined
  const trimmed = word.trim()
  return trimmed === '' || trimmed === 'null' ? undefined : trimmed
}

function readArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
