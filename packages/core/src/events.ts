/**
 * The protocol as types: every event that a parser or an adapter emits.
 *
 * Parts (text, reasoning, calls, vendor parts) are numbered by `index` in order of start. Every
 * `…-start` gets exactly one end, a call ends in `tool-call-end` or `tool-call-error`, and the last
 * event is one `finish`. docs/protocol.md holds the promises behind these shapes.
 */
import type { ErrorCode, RepairCode, WarningCode } from './errors.ts'

/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

/** Facts of a vendor or a server that have no field of their own. */
export type Metadata = Readonly<Record<string, unknown>>

/** Where a value stands in the arguments: object keys and list indexes from the root. */
export type Path = readonly (string | number)[]

/**
 * One step in building `input`. Folding all patches of a call, in order, gives its `input`.
 *
 * `set` brings a value: an atom whole, a string, object or list empty. `append` grows the open
 * string at `path`. `close` says that the value at `path` is complete.
 */
export type Patch =
  | { readonly op: 'set'; readonly path: Path; readonly value: JsonValue }
  | { readonly op: 'append'; readonly path: Path; readonly text: string }
  | { readonly op: 'close'; readonly path: Path }

/** Tokens that the answer cost, as the source counted them. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Part of `inputTokens` that came from a cache. */
  readonly cachedInputTokens?: number
  readonly cacheWriteTokens?: number
  /** Part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number
}

/** Why the answer ended. `tool-calls` only if a call of the client's was completed. */
export type FinishReason =
  | 'stop'
  | 'tool-calls'
  | 'length'
  | 'content-filter'
  | 'pause'
  | 'error'
  | 'aborted'
  | 'interrupted'
  | 'other'

/** What an adapter knows of the answer before its first part. */
export interface StreamStart {
  readonly type: 'stream-start'
  readonly id?: string
  readonly model?: string
  /** Seconds since 1970. */
  readonly created?: number
  readonly metadata?: Metadata
}

export interface TextStart {
  readonly type: 'text-start'
  readonly index: number
}
export interface TextDelta {
  readonly type: 'text-delta'
  readonly index: number
  /** Never empty; never half of a surrogate pair. */
  readonly delta: string
}
export interface TextEnd {
  readonly type: 'text-end'
  readonly index: number
  readonly metadata?: Metadata
}

export interface ReasoningStart {
  readonly type: 'reasoning-start'
  readonly index: number
}
export interface ReasoningDelta {
  readonly type: 'reasoning-delta'
  readonly index: number
  readonly delta: string
}
export interface ReasoningEnd {
  readonly type: 'reasoning-end'
  readonly index: number
  readonly metadata?: Metadata
}

export interface ToolCallStart {
  readonly type: 'tool-call-start'
  readonly index: number
  /** Unique over the stream. */
  readonly id: string
  readonly name: string
  /** The vendor runs this tool itself. */
  readonly server?: boolean
  /** The input is free text, not JSON. */
  readonly encoding?: 'text'
}
export interface ToolCallDelta {
  readonly type: 'tool-call-delta'
  readonly index: number
  /** The next piece of the arguments' JSON text. */
  readonly delta: string
  /** The same piece as path patches, when asked for. */
  readonly patches?: readonly Patch[]
}
export interface ToolCallEnd {
  readonly type: 'tool-call-end'
  readonly index: number
  readonly id: string
  readonly name: string
  /** The call's deltas, joined: valid JSON unless `encoding` is `text`. */
  readonly arguments: string
  /** The value of `arguments`. `__proto__` and `constructor` are own keys. */
  readonly input: JsonValue
  readonly server?: boolean
  readonly encoding?: 'text'
  /** Codes of what was read against JSON's letter, each once. */
  readonly repairs?: readonly RepairCode[]
  readonly metadata?: Metadata
}
/** A call that must not be run, started or not. */
export interface ToolCallError {
  readonly type: 'tool-call-error'
  readonly index: number
  readonly id?: string
  readonly name?: string
  readonly code: ErrorCode
  /** What was expected, what was found and where. */
  readonly message: string
  /** The arguments' text so far, if the call had started. */
  readonly arguments?: string
  /** What the model wrote, from the opener on. */
  readonly raw?: string
  /** Where it failed, in UTF-16 units from the stream's start. */
  readonly offset?: number
  readonly server?: boolean
}

/** A whole thing that a vendor puts between the other parts and that a next turn needs. */
export interface Part {
  readonly type: 'part'
  readonly index: number
  readonly kind: 'tool-result' | 'file' | 'source' | 'refusal' | 'other'
  readonly id?: string
  readonly value: unknown
  readonly metadata?: Metadata
}

/** What was read against its letter, and how. */
export interface Warning {
  readonly type: 'warning'
  readonly code: WarningCode
  readonly message: string
  /** Offsets into the raw text, `end` exclusive. */
  readonly start?: number
  readonly end?: number
  readonly name?: string
  readonly raw?: string
}

/** The source failed; `finish` follows. */
export interface StreamError {
  readonly type: 'error'
  readonly code: string
  readonly message: string
  /** The source's own code. */
  readonly rawCode?: string
  readonly cause?: unknown
}

/** The last event. */
export interface Finish {
  readonly type: 'finish'
  readonly reason: FinishReason
  /** The source's own word. */
  readonly rawReason?: string
  readonly usage?: Usage
  readonly metadata?: Metadata
}

/** Every event, told apart by `type`. */
export type StreamEvent =
  | StreamStart
  | TextStart
  | TextDelta
  | TextEnd
  | ReasoningStart
  | ReasoningDelta
  | ReasoningEnd
  | ToolCallStart
  | ToolCallDelta
  | ToolCallEnd
  | ToolCallError
  | Part
  | Warning
  | StreamError
  | Finish
