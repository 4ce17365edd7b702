/**
 * A small byte-level vocabulary of the kind that GPT-2 and Qwen use.
 *
 * The first 256 tokens are single bytes in GPT-2's byte alphabet, so any text can be written.
 * Merges learned from a sample make the usual pieces of prose and of tool calls into single
 * tokens, which glue quotes, braces and line breaks together as large vocabularies do. Special
 * tokens come last. Learning depends on the sample alone: the same options, the same vocabulary.
 */
import { SAMPLE_TEXT } from './sample-text.ts'

/** `tokenizer.ggml.token_type` of the GGUF specification. */
const TOKEN_TYPES = { normal: 1, control: 3, userDefined: 4 } as const

/** Ends a turn; the models made here stop at it. */
const END_OF_TURN = '<|im_end|>'
const CONTROL_TOKENS: readonly string[] = ['<|endoftext|>', '<|im_start|>', END_OF_TURN]
/** The markers that Hermes and Qwen models have as tokens of their own. */
export const TAG_TOKENS: readonly string[] = [
  '<tool_call>',
  '</tool_call>',
  '<tool_response>',
  '</tool_response>',
  '<think>',
  '</think>',
]

export interface VocabularyOptions {
  /** How many merges to use; 0 makes every byte its own token. Default 256, the most. */
  readonly merges?: number
  /**
   * What the tags are. `user-defined` tokens (the default) show in text as Hermes' and Qwen's do;
   * `control` tokens show only where special tokens are asked for; `text` makes no token of them.
   */
  readonly tags?: 'user-defined' | 'control' | 'text'
}

export interface Vocabulary {
  /** By token id; bytes in GPT-2's byte alphabet. */
  readonly tokens: readonly string[]
  /** By token id, values of `TOKEN_TYPES`. */
  readonly types: readonly number[]
  /** Two pieces with a blank between them, by rank. */
  readonly merges: readonly string[]
  /** Tags that are control tokens, so hidden from plain text. */
  readonly tags: 'user-defined' | 'control' | 'text'
  readonly endOfTurn: number
  readonly endOfText: number
}

/** The sample gives about as many. */
const MAX_MERGES = 256

/** A vocabulary for a tiny model. */
export function createVocabulary(options: VocabularyOptions = {}): Vocabulary {
  const tags = options.tags ?? 'user-defined'
  learned ??= learnMerges(SAMPLE_TEXT, MAX_MERGES)
  const merges = learned.slice(0, options.merges ?? MAX_MERGES)
  const plain = [...BYTE_ALPHABET, ...merges.map(([left, right]) => left + right)]
  const tagTokens = tags === 'text' ? [] : TAG_TOKENS
  const tokens = [...plain, ...CONTROL_TOKENS, ...tagTokens]
  return {
    tokens,
    types: [
      ...plain.map(() => TOKEN_TYPES.normal),
      ...CONTROL_TOKENS.map(() => TOKEN_TYPES.control),
      ...tagTokens.map(() => (tags === 'control' ? TOKEN_TYPES.control : TOKEN_TYPES.userDefined)),
    ],
    merges: merges.map((pair) => pair.join(' ')),
    tags,
    endOfTurn: tokens.indexOf(END_OF_TURN),
    endOfText: tokens.indexOf('<|endoftext|>'),
  }
}

/** Fewer merges are the first of more, so one learning serves every vocabulary. */
let learned: readonly Pair[] | undefined

/**
 * GPT-2's byte alphabet: a printable character for every byte. Printable Latin-1 stands for
 * itself, all other bytes for the characters from U+0100 on, in order.
 */
const BYTE_ALPHABET: readonly string[] = (() => {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(printable(byte) ? byte : next++),
  )
})()

/**
 * How llama.cpp's `qwen2` pre-tokenizer cuts a text; merges never cross these cuts, so learning
 * must not either.
 */
const PIECES =
  /(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

type Pair = readonly [left: string, right: string]

/** Byte-pair encoding: joins the most frequent pair, ties by text, until none comes twice. */
function learnMerges(sample: string, limit: number): Pair[] {
  const words = new Map<string, { parts: string[]; count: number }>()
  for (const [piece] of sample.matchAll(PIECES)) {
    const word = words.get(piece)
    if (word) word.count++
    else words.set(piece, { parts: toAlphabet(piece), count: 1 })
  }
  const merges: Pair[] = []
  while (merges.length < limit) {
    const best = mostFrequentPair(words.values())
    if (!best) break
    merges.push(best)
    for (const word of words.values()) word.parts = merge(word.parts, best)
  }
  return merges
}

function mostFrequentPair(
  words: Iterable<{ readonly parts: readonly string[]; readonly count: number }>,
): Pair | undefined {
  const counts = new Map<string, number>()
  for (const { parts, count } of words)
    for (let i = 1; i < parts.length; i++) {
      const key = `${parts[i - 1]} ${parts[i]}`
      counts.set(key, (counts.get(key) ?? 0) + count)
    }
  let best: string | undefined
  let most = 1
  for (const [key, count] of counts)
    if (count > most || (count === most && best !== undefined && key < best)) {
      best = key
      most = count
    }
  const [left, right] = best?.split(' ') ?? []
  return left && right ? [left, right] : undefined
}

function merge(parts: readonly string[], [left, right]: Pair): string[] {
  const merged: string[] = []
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === left && parts[i + 1] === right) {
      merged.push(left + right)
      i++
    } else merged.push(parts[i]!)
  }
  return merged
}

function toAlphabet(piece: string): string[] {
  return Array.from(new TextEncoder().encode(piece), (byte) => BYTE_ALPHABET[byte]!)
}
