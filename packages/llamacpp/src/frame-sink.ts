/** What the readers of an HTTP answer's text hand on, and what they are handed. */
import type { Failure } from './failure.ts'

/** Where decoded frames go. */
export interface FrameSink {
  /** One JSON value, and the name of the server-sent event that brought it, if it has one. */
  readonly frame: (value: unknown, event?: string) => void
  /** The stream said that it is over: `[DONE]`. */
  readonly done: () => void
  /** What came can't be read. */
  readonly fail: (failure: Failure) => void
  /** A line that no event stream holds. */
  readonly stray: (line: string) => void
}

/** Takes the decoded text of an answer. */
export interface TextReader {
  feed(text: string): void
  /** The connection ended: what is open counts if it is whole. */
  end(): void
}

/** The failure of a frame that is past the limit. */
export function tooLarge(maxFrameSize: number): Failure {
  return {
    code: 'frame-too-large',
    message: `Expected frames of at most ${maxFrameSize} characters, found a larger one.`,
  }
}
