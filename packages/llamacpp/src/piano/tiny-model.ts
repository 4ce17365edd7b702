/**
 * Two tiny models that llama.cpp runs like any other, made here and not downloaded.
 *
 * `randomModel` has random weights: with a grammar it writes valid calls of random content, cut
 * into tokens at random. `pianoModel` plays a score: its token embedding and its one block are
 * zero, so the state at a position is the position's row alone, which holds the code of the token
 * to come, and the output layer holds every token's code. So the next token depends on nothing
 * but the position: exact at any sampling setting, whatever the prompt says.
 */
import { MisuseError } from '@talaria/core'
import { CHAT_TEMPLATE } from './chat-template.ts'
import {
  bool,
  f32,
  type GgufTensor,
  type GgufValue,
  i32s,
  text,
  texts,
  u32,
  writeGguf,
} from './gguf.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface RandomModelOptions {
  readonly vocabulary: Vocabulary
  /** The same seed, the same file. Default 1. */
  readonly seed?: number
  /** How many blocks. Default 2. */
  readonly blocks?: number
  /** Width of a token's state: a multiple of 16. Default 64. */
  readonly width?: number
  /** Storage of the matrices. Default `F32`. */
  readonly type?: 'F32' | 'F16'
}

export interface PianoModelOptions {
  readonly vocabulary: Vocabulary
  /** How many tokens the prompt has, at least 1. The first played token follows the last of them. */
  readonly promptTokens: number
  /** What to play. Once it is over, every further token is the end of the turn. */
  readonly score: readonly number[]
}

const RANDOM_CONTEXT = 2_048
/** Heads are this wide, so that the rotary embedding has whole pairs. */
const HEAD_WIDTH = 16

/** Logits: 256 for the wanted token, at most 256 - 8 * `MIN_DISTANCE` for any other. */
const PIANO_WIDTH = 64
const PIANO_GAIN = 4
/** In how many of the 64 places the codes of two tokens differ at least. */
const MIN_DISTANCE = 18
/** Contexts grow in steps of this, as llama.cpp pads them. */
const CONTEXT_STEP = 256

/** A llama-architecture model with random weights, as a GGUF file. */
export function randomModel(options: RandomModelOptions): Uint8Array {
  const { vocabulary, seed = 1, blocks = 2, width = 64, type = 'F32' } = options
  if (width % HEAD_WIDTH)
    throw new MisuseError('invalid-model', 'The width must be a multiple of 16.')
  const random = createRandom(seed)
  const heads = width / HEAD_WIDTH
  const inner = width * 2
  const matrix = (name: string, columns: number, rows: number): GgufTensor => ({
    name: `${name}.weight`,
    type,
    shape: [columns, rows],
    data: Float32Array.from(
      { length: columns * rows },
      () => ((random() - 0.5) * 4) / Math.sqrt(columns),
    ),
  })
  const norm = (name: string): GgufTensor => filled(`${name}.weight`, [width], 1)
  return writeGguf({
    metadata: {
      ...general('llama', 'Talaria tiny', type),
      'llama.context_length': u32(RANDOM_CONTEXT),
      'llama.embedding_length': u32(width),
      'llama.block_count': u32(blocks),
      'llama.feed_forward_length': u32(inner),
      'llama.attention.head_count': u32(heads),
      'llama.attention.head_count_kv': u32(heads),
      'llama.attention.layer_norm_rms_epsilon': f32(1e-5),
      'llama.rope.dimension_count': u32(HEAD_WIDTH),
      'llama.rope.freq_base': f32(10_000),
      'llama.vocab_size': u32(vocabulary.tokens.length),
      ...tokenizer(vocabulary),
    },
    tensors: [
      matrix('token_embd', width, vocabulary.tokens.length),
      ...Array.from({ length: blocks }, (_, block) => `blk.${block}`).flatMap((block) => [
        norm(`${block}.attn_norm`),
        matrix(`${block}.attn_q`, width, width),
        matrix(`${block}.attn_k`, width, width),
        matrix(`${block}.attn_v`, width, width),
        matrix(`${block}.attn_output`, width, width),
        norm(`${block}.ffn_norm`),
        matrix(`${block}.ffn_gate`, width, inner),
        matrix(`${block}.ffn_up`, width, inner),
        matrix(`${block}.ffn_down`, inner, width),
      ]),
      norm('output_norm'),
      matrix('output', width, vocabulary.tokens.length),
    ],
  })
}

/** A gpt2-architecture model that plays a score, as a GGUF file. */
export function pianoModel(options: PianoModelOptions): Uint8Array {
  const { vocabulary, promptTokens, score } = options
  if (promptTokens < 1) throw new MisuseError('invalid-model', 'A prompt has at least one token.')
  const codes = tokenCodes(vocabulary.tokens.length)
  const context = pianoContext(promptTokens, score.length)
  const positions = new Float32Array(PIANO_WIDTH * context)
  for (let position = 0; position < context; position++)
    positions.set(
      codes[score[position - promptTokens + 1] ?? vocabulary.endOfTurn]!,
      position * PIANO_WIDTH,
    )
  const output = new Float32Array(PIANO_WIDTH * codes.length)
  codes.forEach((code, token) =>
    output.set(
      code.map((sign) => sign * PIANO_GAIN),
      token * PIANO_WIDTH,
    ),
  )

  const zero = (name: string, ...shape: number[]): GgufTensor => filled(name, shape, 0)
  const width = PIANO_WIDTH
  return writeGguf({
    metadata: {
      ...general('gpt2', 'Talaria piano', 'F32'),
      'gpt2.context_length': u32(context),
      'gpt2.embedding_length': u32(width),
      'gpt2.feed_forward_length': u32(width),
      'gpt2.block_count': u32(1),
      'gpt2.attention.head_count': u32(width / HEAD_WIDTH),
      'gpt2.attention.layer_norm_epsilon': f32(1e-5),
      ...tokenizer(vocabulary),
    },
    tensors: [
      zero('token_embd.weight', width, codes.length),
      { name: 'position_embd.weight', shape: [width, context], data: positions },
      zero('blk.0.attn_norm.weight', width),
      zero('blk.0.attn_norm.bias', width),
      zero('blk.0.attn_qkv.weight', width, 3 * width),
      zero('blk.0.attn_qkv.bias', 3 * width),
      zero('blk.0.attn_output.weight', width, width),
      zero('blk.0.attn_output.bias', width),
      zero('blk.0.ffn_norm.weight', width),
      zero('blk.0.ffn_norm.bias', width),
      zero('blk.0.ffn_up.weight', width, width),
      zero('blk.0.ffn_up.bias', width),
      zero('blk.0.ffn_down.weight', width, width),
      zero('blk.0.ffn_down.bias', width),
      filled('output_norm.weight', [width], 1),
      zero('output_norm.bias', width),
      { name: 'output.weight', shape: [width, codes.length], data: output },
    ],
  })
}

/** A file with the vocabulary and no weights: enough to tokenize with. */
export function vocabularyModel(vocabulary: Vocabulary): Uint8Array {
  return writeGguf({
    metadata: {
      ...general('llama', 'Talaria vocabulary', 'F32'),
      'llama.context_length': u32(RANDOM_CONTEXT),
      'llama.embedding_length': u32(HEAD_WIDTH),
      'llama.block_count': u32(1),
      'llama.feed_forward_length': u32(HEAD_WIDTH),
      'llama.attention.head_count': u32(1),
      'llama.attention.layer_norm_rms_epsilon': f32(1e-5),
      'llama.vocab_size': u32(vocabulary.tokens.length),
      ...tokenizer(vocabulary),
    },
    tensors: [],
  })
}

/** How many positions a piano for such a prompt and score has, with room for the end of the turn. */
function pianoContext(promptTokens: number, scoreLength: number): number {
  return Math.ceil((promptTokens + scoreLength + 2) / CONTEXT_STEP) * CONTEXT_STEP
}

function general(
  architecture: string,
  name: string,
  type: 'F32' | 'F16',
): Record<string, GgufValue> {
  return {
    'general.architecture': text(architecture),
    'general.name': text(name),
    'general.license': text('MIT'),
    'general.file_type': u32(type === 'F16' ? 1 : 0),
  }
}

function tokenizer(vocabulary: Vocabulary): Record<string, GgufValue> {
  return {
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text('qwen2'),
    'tokenizer.ggml.tokens': texts(vocabulary.tokens),
    'tokenizer.ggml.token_type': i32s(vocabulary.types),
    'tokenizer.ggml.merges': texts(vocabulary.merges),
    'tokenizer.ggml.bos_token_id': u32(vocabulary.endOfText),
    'tokenizer.ggml.eos_token_id': u32(vocabulary.endOfTurn),
    'tokenizer.ggml.padding_token_id': u32(vocabulary.endOfText),
    'tokenizer.ggml.add_bos_token': bool(false),
    'tokenizer.chat_template': text(CHAT_TEMPLATE),
  }
}

function filled(name: string, shape: readonly number[], value: number): GgufTensor {
  const count = shape.reduce((product, size) => product * size, 1)
  return { name, shape, data: new Float32Array(count).fill(value) }
}

/** A token's code: 64 places of +1 and -1, and the same as bits. */
interface Code {
  readonly signs: Float32Array
  readonly low: number
  readonly high: number
}

/**
 * The codes of the first `count` tokens. Each has as many +1 as -1, so that layer normalization
 * (mean 0, variance 1) leaves it as it is; any two are far apart, so that the wanted token's logit
 * stands alone. They are the same for every model, so they are kept.
 */
function tokenCodes(count: number): readonly Float32Array[] {
  while (CODES.length < count) {
    const signs = Float32Array.from({ length: PIANO_WIDTH }, (_, place) => (place % 2 ? 1 : -1))
    for (let i = PIANO_WIDTH - 1; i > 0; i--) {
      const other = Math.floor(nextRandom() * (i + 1))
      const sign = signs[i]!
      signs[i] = signs[other]!
      signs[other] = sign
    }
    const code = { signs, low: bitsOf(signs.subarray(0, 32)), high: bitsOf(signs.subarray(32)) }
    if (CODES.every((taken) => distance(taken, code) >= MIN_DISTANCE)) CODES.push(code)
  }
  return CODES.slice(0, count).map(({ signs }) => signs)
}

function bitsOf(signs: Float32Array): number {
  return signs.reduce((bits, sign) => (bits << 1) | (sign > 0 ? 1 : 0), 0)
}

/** In how many places two codes differ. */
function distance(a: Code, b: Code): number {
  return countBits(a.low ^ b.low) + countBits(a.high ^ b.high)
}

function countBits(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x55555555)
  pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** A seeded generator of numbers in [0, 1): mulberry32, whose integer steps are alike everywhere. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

const PIANO_SEED = 0x7a1a
const nextRandom = createRandom(PIANO_SEED)
const CODES: Code[] = []
