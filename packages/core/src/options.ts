/** What a caller may ask of a parser, and what a parser offers. */
import type { RuleCode } from './errors.ts'
import type { FinishReason, Metadata, StreamEvent, Usage } from './events.ts'
import type { Limits } from './limits.ts'
import type { PresetName } from './presets.ts'

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
  | 'special-token'
  | 'json-token'
  | 'message-start'
  | 'reasoning'
  | 'marker'
  | 'header'
  | 'opening'
  | 'call-header'
  | 'early-arguments'
  | 'failed-call'

/** How JSON is read; see the options of the same names. */
export interface JsonReading {
  readonly strict: boolean
  readonly guessQuotes: boolean
  readonly curlyQuotes: boolean
  readonly gluedArguments: 'fail' | 'first'
}

/** Another spelling of a call tag, both markers literally. */
export interface TagAlias {
  readonly open: string
  readonly close: string
}

/** What was decided of a marker, and by which rule. */
export interface MarkerNote {
  /** The marker as the model wrote it. */
  readonly marker: string
  /** Offsets in UTF-16 units from the stream's start, `end` exclusive. */
  readonly start: number
  readonly end: number
  readonly rule: RuleCode
}

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
  /** No repair of JSON: what breaks its letter fails the call. Default false. */
  readonly strict?: boolean | undefined
  /**
   * A double quote inside a string of the arguments ends it only if `,`, `:`, `}`, `]` or a marker
   * follows: a guess. Holds the quote and white space behind it. Default false.
   */
  readonly guessQuotes?: boolean | undefined
  /** `“` and `”` may stand for JSON's quotes. Default false. */
  readonly curlyQuotes?: boolean | undefined
  /** What arguments in a string are that go on behind their object. Default `fail`. */
  readonly gluedArguments?: 'fail' | 'first' | undefined
  /**
   * Calls inside reasoning. `at-end`: complete calls at the very end of unclosed reasoning count;
   * holds from a call's opener to the proof that reasoning goes on. Default `off`.
   */
  readonly callsInReasoning?: 'off' | 'at-end' | 'on' | undefined
  /** A fenced block quotes no call. Default false. */
  readonly callsInFences?: boolean | undefined
  /**
   * Call objects without a marker, with a declared name or no tools stated. `whole-message`: the
   * message is one call object or a list of them; `last-line`: or its last line is one object.
   * Holds while the text may still be one. Default `off`.
   */
  readonly bareJson?: 'off' | 'whole-message' | 'last-line' | undefined
  /** A message that is one fenced block with calls. Holds while it may be one. Default `off`. */
  readonly fencedCall?: 'off' | 'whole-message' | undefined
  /** A failed call's raw text is shown as text behind its error. Default false. */
  readonly failedAsText?: boolean | undefined
  /** Tags that open or close no call are no text. Default false. */
  readonly stripOrphanTags?: boolean | undefined
  /** Further spellings of the first dialect's call tag. Default none. */
  readonly tagAliases?: readonly TagAlias[] | undefined
  /** Whether end-of-turn tokens vanish at the very end. Default `drop`. */
  readonly specialTokens?: 'drop' | 'keep' | undefined
  /** What follows a tool result that the model invented is discarded. Default false. */
  readonly dropAfterFabricated?: boolean | undefined
  /** What a close marker of reasoning between backticks is. Default `text`. */
  readonly quotedClosers?: 'text' | 'close' | undefined
  /**
   * What reasoning is that is never closed. `text` holds all reasoning up to its close marker.
   * Default `reasoning`.
   */
  readonly unclosedReasoning?: 'reasoning' | 'text' | undefined
  /** Replaces the made ids; must be unique over the stream. */
  readonly generateId?: (() => string) | undefined
  /** Called with every span and its owner. Free when absent. */
  readonly trace?: ((span: Span) => void) | undefined
  /** Called with what was decided of each marker outside strings. Free when absent. */
  readonly explain?: ((note: MarkerNote) => void) | undefined
}

export interface ParserOptions extends MachineOptions {
  /** A dialect's name, several, or `auto` for every tagged one. Default `auto`. */
  readonly dialect?: 'auto' | 'hermes' | 'reasoning' | (string & {}) | readonly string[] | undefined
  /** Options of a model line by name, see `PRESETS`; options beside it win. */
  readonly preset?: PresetName | (string & {}) | undefined
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
