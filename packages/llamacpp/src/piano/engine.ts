/**
 * The tiny models in the real engine: written to a file, loaded by node-llama-cpp, ready to stream.
 *
 * The file lives in a temporary folder until the model is in memory, so nothing is left behind,
 * whatever happens later. Texts are tokenized by llama.cpp itself, from a file with the vocabulary
 * alone, and a script that would not come back letter by letter is refused.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Llama, LlamaContext, LlamaModel, Token } from 'node-llama-cpp'
import { MisuseError } from '@talaria/core'
import { decode } from '../node/decode.ts'
import type { NodeLlamaModel, NodeLlamaSequence, NodeLlamaToken } from '../node/engine-types.ts'
import { generateInSequence } from '../node/generation.ts'
import { renderPrompt } from './chat-template.ts'
import { type AvailableEngine, own } from './load.ts'
import { pianoModel, randomModel, vocabularyModel } from './tiny-model.ts'
import {
  type Vocabulary,
  type VocabularyOptions,
  TAG_TOKENS,
  createVocabulary,
} from './vocabulary.ts'

/** A tiny model, loaded and ready. One stream at a time. */
export interface TinyEngine {
  /** node-llama-cpp's `LlamaModel`. */
  readonly model: NodeLlamaModel
  /** node-llama-cpp's `LlamaContextSequence`. */
  readonly sequence: NodeLlamaSequence
  /** The prompt that the model answers. */
  readonly prompt: readonly NodeLlamaToken[]
  /**
   * The answer's text from its beginning, one string a token, in which a character that takes
   * several tokens comes with the last of them. Generates as fast as it is read.
   */
  stream(): AsyncGenerator<string, void, void>
  /** Frees model and sequence; the engine's own `dispose` does so, too. */
  dispose(): Promise<void>
}

export interface TinyEngineOptions {
  /** A rendered prompt, special tokens in it. Default: `renderPrompt` of a greeting. */
  readonly prompt?: string
  readonly vocabulary?: VocabularyOptions
}

export interface PianoOptions extends TinyEngineOptions {
  /**
   * What to answer. A list is tokenized piece by piece, so a token ends wherever a piece does:
   * `['<tool', '_call>']` keeps the marker from being one token.
   */
  readonly script: string | readonly string[]
}

export interface RandomOptions extends TinyEngineOptions {
  /** The same seed, the same weights. Default 1. */
  readonly seed?: number
}

/**
 * A model that answers with the script, exactly, at any sampling setting.
 *
 * @throws MisuseError `unplayable-script` if the script has an unpaired surrogate, which no token holds.
 */
export async function createPiano(
  engine: AvailableEngine,
  options: PianoOptions,
): Promise<TinyEngine> {
  const vocabulary = createVocabulary(options.vocabulary)
  const tokenizer = await tokenizerOf(engine, vocabulary)
  const prompt = tokenizer.tokenize(options.prompt ?? DEFAULT_PROMPT, true)
  const pieces = typeof options.script === 'string' ? [options.script] : options.script
  const score = pieces.flatMap((piece) => tokenizeScript(tokenizer, vocabulary, piece))
  if (tokenizer.detokenize(score, true) !== pieces.join(''))
    throw new MisuseError('unplayable-script', 'The script has an unpaired surrogate.')
  const file = pianoModel({ vocabulary, promptTokens: prompt.length, score })
  return await open(engine, 'piano', file, prompt)
}

/** A model with random weights. Without a grammar it writes noise; with one, random valid text. */
export async function createRandom(
  engine: AvailableEngine,
  options: RandomOptions = {},
): Promise<TinyEngine> {
  const { prompt = DEFAULT_PROMPT, seed } = options
  const file = randomModel({
    vocabulary: createVocabulary(options.vocabulary),
    ...(seed !== undefined && { seed }),
  })
  return await open(engine, 'random', file, prompt)
}

const DEFAULT_PROMPT = renderPrompt({ question: 'Hello' })

/** llama.cpp's tokenizer for a vocabulary. Kept, and freed with the engine. */
async function tokenizerOf(engine: AvailableEngine, vocabulary: Vocabulary): Promise<LlamaModel> {
  const kept = TOKENIZERS.get(engine) ?? new Map<string, LlamaModel>()
  TOKENIZERS.set(engine, kept)
  const key = `${vocabulary.tags} ${vocabulary.merges.length}`
  const known = kept.get(key)
  if (known) return known
  const tokenizer = await loadModel(engine, 'vocabulary', vocabularyModel(vocabulary))
  kept.set(key, tokenizer)
  own(engine, () => tokenizer.dispose())
  return tokenizer
}

const TOKENIZERS = new WeakMap<AvailableEngine, Map<string, LlamaModel>>()

/** Text stays text, also where it spells a control token; only the tags become tokens of their own. */
function tokenizeScript(model: LlamaModel, { tags }: Vocabulary, piece: string): Token[] {
  if (tags !== 'control') return model.tokenize(piece, false)
  return piece
    .split(TAGS)
    .flatMap((part) => (part === '' ? [] : model.tokenize(part, TAG_TOKENS.includes(part))))
}

const TAGS = new RegExp(`(${TAG_TOKENS.join('|')})`)

async function open(
  engine: AvailableEngine,
  name: 'piano' | 'random',
  file: Uint8Array,
  prompt: string | Token[],
): Promise<TinyEngine> {
  const model = await loadModel(engine, name, file)
  let context: LlamaContext
  try {
    context = await model.createContext({
      contextSize: model.trainContextSize,
      threads: 1,
      ignoreMemorySafetyChecks: true,
      failedCreationRemedy: false,
    })
  } catch (error) {
    await model.dispose()
    throw error
  }
  const sequence = context.getSequence()
  const promptTokens = typeof prompt === 'string' ? model.tokenize(prompt, true) : prompt
  return {
    model,
    sequence,
    prompt: promptTokens,
    async *stream() {
      const generation = generateInSequence(sequence, promptTokens, undefined, undefined)
      for await (const { text } of decode(model, generation)) if (text !== '') yield text
    },
    dispose: own(engine, async () => {
      await context.dispose()
      await model.dispose()
    }),
  }
}

async function loadModel(
  engine: AvailableEngine,
  name: 'piano' | 'random' | 'vocabulary',
  file: Uint8Array,
): Promise<LlamaModel> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-model-'))
  try {
    const modelPath = join(folder, `talaria-${name}.gguf`)
    await writeFile(modelPath, file)
    return await (engine.llama as Llama).loadModel({
      modelPath,
      vocabOnly: name === 'vocabulary',
      gpuLayers: 0,
      useMmap: false,
      ignoreMemorySafetyChecks: true,
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
