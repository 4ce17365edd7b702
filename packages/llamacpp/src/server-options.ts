/** What a caller may ask of the readers of llama-server's streams, and whether it can be. */
import { type ParserOptions, type WithOnEvent, MisuseError } from '@talaria/core'
import { excerpt, isRecord } from './failure.ts'
import { type Endpoint, ENDPOINTS } from './frames.ts'

/** How far the server has read the prompt, in tokens. */
export interface PromptProgress {
  /** Tokens of the prompt. */
  readonly total: number
  /** How many of them were in the cache. */
  readonly cached: number
  /** How many are done, cached ones counted. */
  readonly processed: number
  /** Milliseconds since the server began with the prompt. */
  readonly elapsedMs: number
}

export interface LlamaServerStreamOptions extends ParserOptions {
  /** Which of several answers (`n`, several prompts) is read; others are passed over. Default 0. */
  readonly choice?: number
  /** Whose frames to take. Default `auto`: the first frame that says so decides. */
  readonly endpoint?: 'auto' | Endpoint
  /** Called with each report on the prompt, if the request asked for `return_progress`. */
  readonly onProgress?: (progress: PromptProgress) => void
  /** How large one frame may be, in UTF-16 units. Default `MAX_FRAME_SIZE`. */
  readonly maxFrameSize?: number
}

export interface LlamaServerReaderOptions extends LlamaServerStreamOptions, WithOnEvent {}

/** Throws `MisuseError` for the options that the core's parser does not check itself. */
export function checkReaderOptions(options: LlamaServerReaderOptions): void {
  expect('options', 'an object', isRecord(options), options)
  const { onEvent, onProgress, choice, endpoint, maxFrameSize } = options
  expect('onEvent', 'a function', typeof onEvent === 'function', onEvent)
  const isReporter = onProgress === undefined || typeof onProgress === 'function'
  expect('onProgress', 'a function', isReporter, onProgress)
  expect('choice', 'a whole number from 0', choice === undefined || isCount(choice), choice)
  const names = ['auto', ...ENDPOINTS]
  const isEndpoint = endpoint === undefined || names.includes(endpoint)
  expect('endpoint', `one of ${names.join(', ')}`, isEndpoint, endpoint)
  const isSize = maxFrameSize === undefined || maxFrameSize === Infinity || isCount(maxFrameSize)
  expect('maxFrameSize', 'a whole number from 0, or Infinity,', isSize, maxFrameSize)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

/** Throws unless the value of an option is what it must be. */
export function expect(name: string, what: string, holds: boolean, found: unknown): void {
  if (holds) return
  throw new MisuseError(
    'invalid-option',
    `Expected ${what} in \`${name}\`, found ${describe(found)}.`,
  )
}

/** Throws `MisuseError` for what is no signal. */
export function checkSignal(signal: AbortSignal | undefined): void {
  const isSignal = typeof signal === 'object' && signal !== null && 'aborted' in signal
  expect('signal', 'an AbortSignal', signal === undefined || isSignal, signal)
}

/** A value in a message: short, and never a model's text. Not for what may be secret. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  return typeof value === 'string' ? excerpt(value) : `${value as number | bigint | boolean}`
}
