/** GGUF files, read back byte by byte and by node-llama-cpp's own reader. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createVocabulary, pianoModel, randomModel } from '../src/piano.ts'
import {
  type GgufFile,
  bool,
  f32,
  f32s,
  i32s,
  text,
  texts,
  toHalf,
  u32,
  u64,
  writeGguf,
} from '../src/piano/gguf.ts'
import { importNodeLlamaCpp } from './real-engine.ts'

const reader = await importNodeLlamaCpp()
const folder = mkdtempSync(join(tmpdir(), 'talaria-gguf-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What node-llama-cpp reads. */
async function readBack(bytes: Uint8Array) {
  const path = join(folder, 'model.gguf')
  writeFileSync(path, bytes)
  return await reader!.readGgufFileInfo(path)
}

const SMALL: GgufFile = {
  metadata: {
    'general.architecture': text('llama'),
    'general.name': text('Zoë 🌍'),
    'a.integer': u32(4_000_000_000),
    'a.large': u64(2n ** 60n),
    'a.float': f32(1.5),
    'a.flag': bool(true),
    'a.strings': texts(['', 'ü', 'two words']),
    'a.integers': i32s([-1, 0, 7]),
    'a.floats': f32s([0.25, -2]),
  },
  tensors: [
    { name: 'odd', shape: [3], data: Float32Array.of(1, -2, 0.5) },
    {
      name: 'half',
      type: 'F16',
      shape: [2, 3],
      data: Float32Array.of(0, 1, -2, 65504, 1 / 3, 1e-7),
    },
  ],
}

describe('writeGguf', () => {
  test('begins with magic, version and counts, little-endian', () => {
    const view = new DataView(writeGguf(SMALL).buffer)
    expect(String.fromCharCode(...new Uint8Array(view.buffer, 0, 4))).toBe('GGUF')
    expect(view.getUint32(4, true)).toBe(3)
    expect(view.getBigUint64(8, true)).toBe(2n)
    expect(view.getBigUint64(16, true)).toBe(9n)
  })

  test.skipIf(!reader)('is read back by node-llama-cpp, every type of value', async () => {
    const info = await readBack(writeGguf(SMALL))
    expect(info.version).toBe(3)
    expect(info.tensorCount).toBe(2)
    const metadata = info.metadata as unknown as Record<string, Record<string, unknown>>
    expect(metadata.general?.name).toBe('Zoë 🌍')
    expect(metadata.a).toEqual({
      integer: 4_000_000_000,
      large: 2n ** 60n,
      float: 1.5,
      flag: true,
      strings: ['', 'ü', 'two words'],
      integers: [-1, 0, 7],
      floats: [0.25, -2],
    })
  })

  test.skipIf(!reader)('puts each tensor at a multiple of the alignment', async () => {
    for (const alignment of [32, 64]) {
      const bytes = writeGguf({ ...SMALL, alignment })
      const info = await readBack(bytes)
      const [odd, half] = info.tensorInfo ?? []
      expect(odd).toMatchObject({ name: 'odd', dimensions: [3], ggmlType: 0, offset: 0 })
      expect(half).toMatchObject({
        name: 'half',
        dimensions: [2, 3],
        ggmlType: 1,
        offset: alignment,
      })
      expect(info.infoEndOffset! % alignment).toBe(0)
      expect(bytes.length).toBe(info.infoEndOffset! + 2 * alignment)
      expect(info.metadata.general.alignment).toBe(alignment === 32 ? undefined : alignment)

      const view = new DataView(bytes.buffer)
      const at = Number(odd!.fileOffset)
      expect([0, 4, 8].map((offset) => view.getFloat32(at + offset, true))).toEqual([1, -2, 0.5])
      expect(view.getUint16(Number(half!.fileOffset) + 6, true)).toBe(0x7bff)
    }
  })

  test.each([
    ['data that do not fit', { tensors: [{ name: 'x', shape: [2], data: new Float32Array(3) }] }],
    [
      'a shape without dimensions',
      { tensors: [{ name: 'x', shape: [], data: new Float32Array(1) }] },
    ],
    ['a name twice', { tensors: [SMALL.tensors[0]!, SMALL.tensors[0]!] }],
    ['a long name', { tensors: [{ name: 'x'.repeat(65), shape: [1], data: new Float32Array(1) }] }],
    ['a key that is not ASCII', { metadata: { größe: u32(1) } }],
    ['an odd alignment', { alignment: 24 }],
  ])('refuses %s', (_, change) => {
    expect(() => writeGguf({ ...SMALL, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid-gguf' }),
    )
  })
})

test.each([
  [0, 0x0000],
  [-0, 0x8000],
  [1, 0x3c00],
  [-2, 0xc000],
  [1 / 3, 0x3555],
  [65504, 0x7bff],
  [65519, 0x7bff],
  [65520, 0x7c00],
  [1e9, 0x7c00],
  [Infinity, 0x7c00],
  [-Infinity, 0xfc00],
  [NaN, 0x7e00],
  [2 ** -14, 0x0400],
  [2 ** -14 - 2 ** -24, 0x03ff],
  [2 ** -24, 0x0001],
  [2 ** -25, 0x0000],
  [2 ** -25 * 1.0001, 0x0001],
  [1 + 2 ** -11, 0x3c00],
  [1 + 3 * 2 ** -11, 0x3c02],
  [2 - 2 ** -12, 0x4000],
])('toHalf(%d)', (value, bits) => {
  expect(toHalf(value)).toBe(bits)
})

describe('the tiny models', () => {
  const vocabulary = createVocabulary()

  test('are the same bytes for the same seed', () => {
    const first = randomModel({ vocabulary, seed: 7 })
    expect(Buffer.compare(first, randomModel({ vocabulary: createVocabulary(), seed: 7 }))).toBe(0)
    expect(Buffer.compare(first, randomModel({ vocabulary, seed: 8 }))).not.toBe(0)
    const score = { vocabulary, promptTokens: 3, score: [1, 2, 3] }
    expect(Buffer.compare(pianoModel(score), pianoModel(score))).toBe(0)
  })

  test.skipIf(!reader)('hold what they say', async () => {
    const info = await readBack(randomModel({ vocabulary, type: 'F16', blocks: 1, width: 32 }))
    const { general, tokenizer, llama } = info.metadata
    expect(general).toMatchObject({ architecture: 'llama', file_type: 1 })
    expect(llama).toMatchObject({
      block_count: 1,
      embedding_length: 32,
      attention: { head_count: 2 },
    })
    expect(tokenizer.ggml.tokens).toEqual(vocabulary.tokens)
    expect(tokenizer.ggml.merges).toEqual(vocabulary.merges)
    expect(tokenizer.ggml.eos_token_id).toBe(vocabulary.endOfTurn)
    expect(tokenizer.chat_template).toContain('<tool_call>')
    const output = info.tensorInfo?.find(({ name }) => name === 'output.weight')
    expect(output?.dimensions).toEqual([32, vocabulary.tokens.length])
  })

  test.skipIf(!reader)('grow their context with the score', async () => {
    const info = await readBack(
      pianoModel({ vocabulary, promptTokens: 200, score: Array.from({ length: 60 }, () => 5) }),
    )
    expect(info.metadata.gpt2).toMatchObject({ context_length: 512 })
  })

  test('have a token for every byte and one for each tag, marked as asked', () => {
    expect(new Set(vocabulary.tokens.slice(0, 256)).size).toBe(256)
    expect(vocabulary.tokens.length).toBe(vocabulary.types.length)
    const typeOf = (tags: 'user-defined' | 'control' | 'text') => {
      const { tokens, types } = createVocabulary({ tags, merges: 0 })
      return types[tokens.indexOf('<tool_call>')]
    }
    expect([typeOf('user-defined'), typeOf('control'), typeOf('text')]).toEqual([4, 3, undefined])
    expect(createVocabulary({ merges: 0 }).tokens).toHaveLength(256 + 9)
  })

  test('refuse what they cannot be', () => {
    const invalid = expect.objectContaining({ code: 'invalid-model' })
    expect(() => randomModel({ vocabulary, width: 20 })).toThrow(invalid)
    expect(() => pianoModel({ vocabulary, promptTokens: 0, score: [] })).toThrow(invalid)
  })
})
