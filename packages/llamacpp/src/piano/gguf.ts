/**
 * Writes GGUF files, version 3: the model format that llama.cpp reads.
 *
 * After the GGUF specification ("File Structure"), little-endian throughout: the magic, the
 * version, the counts of tensors and of metadata pairs; the pairs; one info per tensor (name,
 * dimensions, type, offset within the data); padding; the data, each tensor padded to the
 * alignment. The same input gives the same bytes, on every machine.
 */
import { MisuseError } from '@talaria/core'

/** A metadata value with its type on file. Made by `u32`, `f32`, `bool`, `text` and the lists. */
export type GgufValue =
  | { readonly type: 'u32' | 'i32' | 'f32'; readonly value: number }
  | { readonly type: 'u64'; readonly value: bigint }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'i32[]' | 'f32[]'; readonly value: readonly number[] }
  | { readonly type: 'string[]'; readonly value: readonly string[] }

export interface GgufTensor {
  readonly name: string
  /** How the values are stored. Default `F32`. `F16` rounds to the nearest half. */
  readonly type?: 'F32' | 'F16'
  /** One to four dimensions, the contiguous one first: `[columns, rows]` for a matrix. */
  readonly shape: readonly number[]
  /** As many values as the dimensions multiply to. */
  readonly data: Float32Array
}

export interface GgufFile {
  /** Pairs in the order in which they are written. Keys are dotted lower-case ASCII. */
  readonly metadata: Readonly<Record<string, GgufValue>>
  readonly tensors: readonly GgufTensor[]
  /** What offsets are multiples of, in bytes; a power of two from 8 on. Default 32. */
  readonly alignment?: number
}

export const u32 = (value: number): GgufValue => ({ type: 'u32', value })
export const f32 = (value: number): GgufValue => ({ type: 'f32', value })
export const u64 = (value: bigint): GgufValue => ({ type: 'u64', value })
export const bool = (value: boolean): GgufValue => ({ type: 'bool', value })
export const text = (value: string): GgufValue => ({ type: 'string', value })
export const texts = (value: readonly string[]): GgufValue => ({ type: 'string[]', value })
export const i32s = (value: readonly number[]): GgufValue => ({ type: 'i32[]', value })
export const f32s = (value: readonly number[]): GgufValue => ({ type: 'f32[]', value })

const MAGIC = 'GGUF'
const VERSION = 3
const DEFAULT_ALIGNMENT = 32
const MAX_NAME_BYTES = 64

/** `gguf_metadata_value_type` of the specification. */
const VALUE_TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9, u64: 10 } as const
/** `ggml_type` of the specification. */
const TENSOR_TYPES = { F32: { id: 0, bytes: 4 }, F16: { id: 1, bytes: 2 } } as const

/**
 * The bytes of a GGUF file.
 *
 * @throws MisuseError `invalid-gguf` for a tensor whose data do not fit its shape, a name that is
 * taken or too long, a key that is not ASCII, or an alignment that is no power of two.
 */
export function writeGguf(file: GgufFile): Uint8Array {
  const alignment = file.alignment ?? DEFAULT_ALIGNMENT
  if (alignment < 8 || !Number.isInteger(Math.log2(alignment)))
    throw invalid(`The alignment must be a power of two from 8 on, not ${alignment}.`)
  const pairs = Object.entries(file.metadata)
  if (alignment !== DEFAULT_ALIGNMENT) pairs.push(['general.alignment', u32(alignment)])
  checkTensors(file.tensors)

  const writer = new Writer()
  writer.bytes(new TextEncoder().encode(MAGIC))
  writer.u32(VERSION)
  writer.u64(BigInt(file.tensors.length))
  writer.u64(BigInt(pairs.length))
  for (const [key, value] of pairs) {
    if (!/^[\x21-\x7e]{1,65535}$/.test(key))
      throw invalid(`The key ${JSON.stringify(key)} is not ASCII.`)
    writer.string(key)
    writeValue(writer, value)
  }
  let offset = 0
  for (const tensor of file.tensors) {
    const { id } = TENSOR_TYPES[tensor.type ?? 'F32']
    writer.string(tensor.name)
    writer.u32(tensor.shape.length)
    for (const size of tensor.shape) writer.u64(BigInt(size))
    writer.u32(id)
    writer.u64(BigInt(offset))
    offset = align(offset + sizeOf(tensor), alignment)
  }
  writer.pad(alignment)
  for (const tensor of file.tensors) {
    if (tensor.type === 'F16') for (const value of tensor.data) writer.u16(toHalf(value))
    else for (const value of tensor.data) writer.f32(value)
    writer.pad(alignment)
  }
  return writer.finish()
}

/** The bits of the half-precision number nearest to `value`, ties to even. */
export function toHalf(value: number): number {
  SINGLE.setFloat32(0, value)
  const bits = SINGLE.getUint32(0)
  const sign = (bits >>> 16) & 0x8000
  const exponent = (bits >>> 23) & 0xff
  const fraction = bits & 0x7fffff
  if (exponent === 0xff) return sign | 0x7c00 | (fraction ? 0x200 : 0)
  // 112 is the difference of the two biases, 127 and 15. A carry out of the fraction moves into
  // the exponent, which is what rounding up to the next power of two (or to infinity) asks for.
  const half = exponent - 112
  if (half >= 0x1f) return sign | 0x7c00
  if (half > 0) return sign | roundShift((half << 23) | fraction, 13)
  if (half < -10) return sign
  return sign | roundShift(fraction | 0x800000, 14 - half)
}

const SINGLE = new DataView(new ArrayBuffer(4))

/** `bits >>> shift`, rounded to the nearest integer, ties to even. */
function roundShift(bits: number, shift: number): number {
  const kept = bits >>> shift
  const rest = bits - kept * 2 ** shift
  const middle = 2 ** (shift - 1)
  return rest > middle || (rest === middle && kept & 1) ? kept + 1 : kept
}

function writeValue(writer: Writer, value: GgufValue): void {
  switch (value.type) {
    case 'u32':
    case 'i32':
    case 'f32':
      writer.u32(VALUE_TYPES[value.type])
      writer[value.type](value.value)
      return
    case 'u64':
      writer.u32(VALUE_TYPES.u64)
      writer.u64(value.value)
      return
    case 'bool':
      writer.u32(VALUE_TYPES.bool)
      writer.u8(value.value ? 1 : 0)
      return
    case 'string':
      writer.u32(VALUE_TYPES.string)
      writer.string(value.value)
      return
    case 'i32[]':
    case 'f32[]': {
      const type = value.type === 'i32[]' ? 'i32' : 'f32'
      writer.array(VALUE_TYPES[type], value.value.length)
      for (const item of value.value) writer[type](item)
      return
    }
    case 'string[]':
      writer.array(VALUE_TYPES.string, value.value.length)
      for (const item of value.value) writer.string(item)
  }
}

function checkTensors(tensors: readonly GgufTensor[]): void {
  const names = new Set<string>()
  for (const { name, shape, data } of tensors) {
    if (new TextEncoder().encode(name).length > MAX_NAME_BYTES)
      throw invalid(`The tensor name ${name} is longer than ${MAX_NAME_BYTES} bytes.`)
    if (names.has(name)) throw invalid(`Two tensors have the name ${name}.`)
    names.add(name)
    if (
      shape.length < 1 ||
      shape.length > 4 ||
      !shape.every((size) => size > 0 && Number.isInteger(size))
    )
      throw invalid(`The tensor ${name} has the shape [${shape.join(', ')}].`)
    const count = shape.reduce((product, size) => product * size, 1)
    if (count !== data.length)
      throw invalid(`The tensor ${name} needs ${count} values and has ${data.length}.`)
  }
}

function sizeOf(tensor: GgufTensor): number {
  return tensor.data.length * TENSOR_TYPES[tensor.type ?? 'F32'].bytes
}

function align(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment
}

function invalid(message: string): MisuseError {
  return new MisuseError('invalid-gguf', message)
}

/** A byte buffer that grows by doubling. */
class Writer {
  private buffer = new Uint8Array(1 << 16)
  private view = new DataView(this.buffer.buffer)
  private length = 0

  u8(value: number): void {
    const at = this.take(1)
    this.view.setUint8(at, value)
  }
  u16(value: number): void {
    const at = this.take(2)
    this.view.setUint16(at, value, true)
  }
  u32(value: number): void {
    const at = this.take(4)
    this.view.setUint32(at, value, true)
  }
  i32(value: number): void {
    const at = this.take(4)
    this.view.setInt32(at, value, true)
  }
  f32(value: number): void {
    const at = this.take(4)
    this.view.setFloat32(at, value, true)
  }
  u64(value: bigint): void {
    const at = this.take(8)
    this.view.setBigUint64(at, value, true)
  }
  bytes(value: Uint8Array): void {
    const at = this.take(value.length)
    this.buffer.set(value, at)
  }
  string(value: string): void {
    const encoded = new TextEncoder().encode(value)
    this.u64(BigInt(encoded.length))
    this.bytes(encoded)
  }
  array(elementType: number, count: number): void {
    this.u32(VALUE_TYPES.array)
    this.u32(elementType)
    this.u64(BigInt(count))
  }
  /** Zeros up to the next multiple. */
  pad(alignment: number): void {
    this.take(align(this.length, alignment) - this.length)
  }
  finish(): Uint8Array {
    return this.buffer.slice(0, this.length)
  }

  /** Makes room and returns where it begins. May replace the buffer, so it is called first. */
  private take(count: number): number {
    const start = this.length
    this.length += count
    if (this.length > this.buffer.length) {
      const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length))
      grown.set(this.buffer)
      this.buffer = grown
      this.view = new DataView(grown.buffer)
    }
    return start
  }
}
