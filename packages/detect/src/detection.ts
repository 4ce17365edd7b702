/** What is asked, and what comes out. */

/** A template by its name, as `tokenizer_config.json` may list them. */
export interface NamedTemplate {
  readonly name: string
  readonly template: string
}

/** A chat template, or several: then the one named `tool_use`, else `default`, else the first. */
export type ChatTemplate = string | readonly NamedTemplate[]

/** A special token, as `tokenizer_config.json` may spell it. */
export type SpecialToken = string | { readonly content: string }

export interface DetectOptions {
  /** More variables of the template, such as `enable_thinking`. Default none. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  /** The template's `bos_token`. Default empty. */
  readonly bosToken?: SpecialToken | null | undefined
  /** The template's `eos_token`. Without it `endTokens` lacks it. */
  readonly eosToken?: SpecialToken | null | undefined
}

/** Options for a parser or an adapter. Without a call's notation the dialect stays `auto`. */
export interface DetectedOptions {
  /** Several where calls and reasoning are written in different families' markers. */
  readonly dialect?: string | readonly string[]
  /** Present if the prompt ends in an opener. */
  readonly startIn?: 'reasoning' | 'call'
}

/** What holds for a template whether or not its calls are read. */
export interface Behaviour {
  /** What the template says of the model's output: pass it on. */
  readonly options: DetectedOptions
  /** Whether the template writes reasoning in markers that are read. */
  readonly reasoning: boolean
  /** What ends an assistant's turn, such as `<|im_end|>`; first that of a plain turn. */
  readonly endTokens: readonly string[]
}

export interface Detected extends Behaviour {
  readonly found: true
  /** Name of the dialect that reads the template's calls. */
  readonly dialect: string
  /** A call as the template renders it. */
  readonly evidence: string
}

export interface Undetected extends Behaviour {
  readonly found: false
  readonly reason: UndetectedReason
  /** The reason in words, with the template's own where it has some. */
  readonly message: string
  /** Line of the template's tag that failed, from 1, where it can be told. */
  readonly line?: number
  /** What the template renders for a call, cut at 2,000 characters; of `unread-notation`. */
  readonly rendered?: string
}

export type Detection = Detected | Undetected

export type UndetectedReason =
  | 'no-template'
  | 'syntax'
  | 'raised'
  | 'failed'
  | 'limit'
  | 'no-call'
  | 'unread-notation'
