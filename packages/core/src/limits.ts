/**
 * How far one stream may go. Past a limit the call ends in `tool-call-error` with `limit`, the rest
 * of it is skipped as a failed call, and the stream goes on.
 */

/** Limits, all in UTF-16 units unless said otherwise. */
export interface Limits {
  /** How deep the arguments may nest. */
  readonly depth: number
  /** Length of a tool's name. */
  readonly name: number
  /** Length of one call's arguments, and of the raw text that a failed call keeps. */
  readonly arguments: number
  /** Number of calls in one stream, failed ones counted. */
  readonly calls: number
  /** White space, and end-of-turn tokens, that are held before it is known whose they are. */
  readonly whitespace: number
  /** What an option holds of a message or of reasoning; beyond that it is released. */
  readonly held: number
}

export const DEFAULT_LIMITS: Limits = {
  depth: 10_000,
  name: 256,
  arguments: 16 * 1024 * 1024,
  calls: 1_024,
  whitespace: 4_096,
  held: 1_048_576,
}
