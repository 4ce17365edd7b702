/** What a caller may ask of a parser, and what a parser offers. */
import type { FinishReason, Metadata, StreamEvent, Usage } from './events.ts'
import type { Limits } from './limits.ts'

/** A JSON Schema: whatever object the caller has for one. */
export type JsonSchema = object

/** The bare form of a tool. */
export interface ToolDefinition {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonSchema | undefined
}

/** A tool in OpenAI's shape or the bare one. */
export type Tool =
  | ToolDefinition
  | { readonly type?: string | undefined; readonly function: ToolDefinition }

/** What owns a span of the input. Spans tile it: every UTF-16 unit once, in order. */
export type SpanKind = 'text' | 'reasoning' | 'call' | 'marker' | 'layout' | 'discarded'

/** A stretch of the input that one state owned. */
export interface Span {
  readonly kind: SpanKind
  /** Offsets in UTF-16 units from the stream's start, `end` exclusive. */
  readonly start: number
  readonly end: number
}

/** What keeps characters back at the moment. */
export type Holding =
  | 'surrogate'
  | 'whitespace'
  | 'marker'
  | 'header'
  | 'opening'
  | 'call-header'
  | 'early-arguments'
  | 'failed-call'

export interface MachineOptions {
  /** The tools that the request declared. `[]` makes every call text. Absent: not stated. */
  readonly tools?: readonly Tool[] | undefined
  /** `none` makes every call text. */
  readonly toolChoice?: 'auto' | 'required' | 'none' | undefined
  /** Where the stream begins, for prompts that end in an opener. Default `text`. */
  readonly startIn?: 'text' | 'reasoning' | 'call' | undefined
  /**
   * Adds path patches to `tool-call-delta`. A path is as long as its value is deep, so very deep
   * values cost the square of their depth: lower `limits.depth` with it. Default false.
   */
  readonly patches?: boolean | undefined
  /** `exact` makes parts of white space alone, too. Default `layout`. */
  readonly whitespace?: 'layout' | 'exact' | undefined
  readonly limits?: Partial<Limits> | undefined
  /** Replaces the made ids; must be unique over the stream. */
  readonly generateId?: (() => string) | undefined
  /** Called with every span and its owner. Free when absent. */
  readonly trace?: ((span: Span) => void) | undefined
}

export interface ParserOptions extends MachineOptions {
  /** A dialect's name, several, or `auto` for every tagged one. Default `auto`. */
  readonly dialect?: string | readonly string[] | undefined
}

/** The event sink of a push parser. An exception that it throws reaches the caller of `feed`. */
export interface WithOnEvent {
  readonly onEvent: (event: StreamEvent) => void
}

/** What the source says at its end; all optional. */
export interface EndInfo {
  /** Default: `tool-calls` if a call was completed, else `stop`. */
  readonly reason?: FinishReason | undefined
  readonly rawReason?: string | undefined
  readonly usage?: Usage | undefined
  readonly metadata?: Metadata | undefined
}

/** A push parser. `feed` may cut the input anywhere; events are emitted before it returns. */
export interface Parser {
  /** Takes the next piece of the input. Throws `MisuseError` after the end. */
  feed(chunk: string): void
  /** The input is complete. */
  end(info?: EndInfo): void
  /** The source failed: closing events, `error`, `finish`. Does nothing after the end. */
  fail(error: unknown): void
  /** The consumer gave up: closing events, `finish` with `aborted`. Does nothing after the end. */
  abort(): void
  /** Makes the parser new. */
  reset(): void
  /**
   * Closes the open part of text or reasoning at a boundary that the source knows; what was held is
   * released. Returns false, and changes nothing, inside a call.
   */
  cut(): boolean
  /** What keeps characters back at the moment. */
  readonly holding: Holding | undefined
  /** Code units looked at so far. */
  readonly visited: number
}
