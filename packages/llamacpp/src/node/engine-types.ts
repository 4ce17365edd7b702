/**
 * The parts of node-llama-cpp that are used here, as structural types.
 *
 * Nothing of the package is imported, at run time or in the published types, so several of its
 * versions fit and it stays optional. `test/node-llama-cpp-types.test.ts` compiles the real
 * classes against these.
 */

/** A token id. node-llama-cpp brands its own; both fit. */
export type NodeLlamaToken = number

/** node-llama-cpp's `LlamaText`. */
export interface NodeLlamaText {
  tokenize(tokenizer: unknown, options?: 'trimLeadingSpace'): NodeLlamaToken[]
}

/**
 * What to continue. A string is tokenized with special tokens, as llama-server does, so that a
 * rendered chat template works; use `LlamaText` or tokens where a user's own words must not
 * become special tokens.
 */
export type NodeLlamaPrompt = string | NodeLlamaText | readonly NodeLlamaToken[]

/** node-llama-cpp's `LlamaModel`. */
export interface NodeLlamaModel {
  readonly tokenizer: unknown
  readonly filename: string | undefined
  readonly tokens: {
    readonly bos: NodeLlamaToken | null
    readonly shouldPrependBosToken: boolean
  }
  tokenize(text: string, specialTokens?: boolean, options?: 'trimLeadingSpace'): NodeLlamaToken[]
  detokenize(
    tokens: readonly NodeLlamaToken[],
    specialTokens?: boolean,
    lastTokens?: readonly NodeLlamaToken[],
  ): string
  isEogToken(token: NodeLlamaToken | undefined): boolean
}

/** node-llama-cpp's `LlamaContextSequence`. */
export interface NodeLlamaSequence {
  readonly model: NodeLlamaModel
  readonly contextSize: number
  readonly nextTokenIndex: number
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number }
  adaptStateToTokens(tokens: readonly NodeLlamaToken[], allowShift?: boolean): Promise<void>
  evaluate(
    tokens: readonly NodeLlamaToken[],
    options?: { yieldEogToken?: boolean },
  ): AsyncGenerator<NodeLlamaToken, void, void>
}

/** What a completion and a session say about their end. */
export interface NodeLlamaStop {
  readonly stopReason: string
}

/** node-llama-cpp's `LlamaCompletion`. */
export interface NodeLlamaCompletion {
  generateCompletionWithMeta(
    input: string | NodeLlamaText | NodeLlamaToken[],
    options?: {
      onToken?: (tokens: NodeLlamaToken[]) => void
      signal?: AbortSignal
      stopOnAbortSignal?: boolean
      maxTokens?: number
    },
  ): Promise<{ readonly metadata: NodeLlamaStop }>
}

/** A piece of a session's answer; thoughts come as segments, their markers taken away. */
export interface NodeLlamaResponseChunk {
  readonly segmentType: string | undefined
  readonly tokens: readonly NodeLlamaToken[]
}

/** node-llama-cpp's `LlamaChatSession`. */
export interface NodeLlamaSession {
  readonly model: NodeLlamaModel
  readonly sequence: NodeLlamaSequence
  promptWithMeta(
    prompt: string,
    options?: {
      onResponseChunk?: (chunk: NodeLlamaResponseChunk) => void
      signal?: AbortSignal
      stopOnAbortSignal?: boolean
      maxTokens?: number
    },
  ): Promise<NodeLlamaStop>
}
