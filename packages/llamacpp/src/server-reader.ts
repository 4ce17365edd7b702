/**
 * llama-server's answer as bytes or text, in any of its shapes and cut anywhere, to events.
 *
 * A synchronous push reader: `createFrameReader` finds the frames, `Answer` reads them. What the
 * input holds never throws; using the reader after its end does.
 */
import { MisuseError } from '@talaria/core'
import { Answer } from './answer.ts'
import type { Failure } from './failure.ts'
import { MAX_FRAME_SIZE, createFrameReader } from './frame-reader.ts'
import { type LlamaServerReaderOptions, checkReaderOptions, describe } from './server-options.ts'

/** A push reader of one answer. Events are emitted before a method returns. */
export interface LlamaServerReader {
  /**
   * Takes the next bytes or characters of the answer, cut anywhere. Throws `MisuseError` after
   * `end`, `fail` or `abort`; after the answer's own end it does nothing.
   */
  feed(chunk: string | Uint8Array): void
  /** Takes one decoded JSON value, for callers that split the stream themselves. */
  frame(value: unknown): void
  /** The connection ended. */
  end(): void
  /** The connection failed: closing events, `error`, `finish`. Does nothing after the end. */
  fail(error: unknown): void
  /** The consumer gave up: closing events, `finish` with `aborted`. Does nothing after the end. */
  abort(): void
  /** Whether `finish` has been emitted: nothing more can come. */
  readonly finished: boolean
}

/** The reader with a door for failures of which more is known than an exception says. */
export interface InnerReader extends LlamaServerReader {
  failWith(failure: Failure): void
}

/** Makes a reader of llama-server's streams and answers. */
export function createLlamaServerReader(options: LlamaServerReaderOptions): LlamaServerReader {
  return createInnerReader(options)
}

export function createInnerReader(options: LlamaServerReaderOptions): InnerReader {
  checkReaderOptions(options)
  const answer = new Answer(options)
  const frames = createFrameReader(
    {
      frame: (value, event) => answer.frame(value, event),
      done: () => answer.done(),
      fail: (failure) => answer.failWith(failure),
    },
    options.maxFrameSize ?? MAX_FRAME_SIZE,
  )
  let ended = false
  let busy = false

  const stop = (close: () => void): void => {
    if (ended) return
    ended = true
    close()
  }
  const take = (read: () => void): void => {
    if (ended) throw new MisuseError('ended', 'The reader has ended.')
    if (busy) throw new MisuseError('busy', 'A listener may not feed the reader.')
    if (answer.finished) return
    busy = true
    try {
      read()
    } finally {
      busy = false
    }
  }

  return {
    feed(chunk) {
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
        const found = describe(chunk)
        throw new MisuseError('not-a-chunk', `Expected text or bytes to feed, found ${found}.`)
      }
      take(() => frames.feed(chunk))
    },
    frame(value) {
      take(() => answer.frame(value))
    },
    end() {
      stop(() => {
        frames.end()
        answer.end(frames.stray)
      })
    },
    fail(error) {
      stop(() => answer.failWith(connectionFailure(error)))
    },
    abort() {
      stop(() => answer.abort())
    },
    failWith(failure) {
      stop(() => answer.failWith(failure))
    },
    get finished() {
      return answer.finished
    },
  }
}

/** What an exception of the transport says; the system's own words are often in its cause. */
export function connectionFailure(error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = codeOf(error) ?? codeOf(cause)
  const message = error instanceof Error ? error.message : String(error)
  return {
    code: 'connection-failed',
    message: cause ? `${message}: ${messageOf(cause)}` : message,
    ...(code !== undefined && { rawCode: code }),
    cause: error,
  }
}

/** A name with several addresses fails with one error for each of them. */
function messageOf(cause: Error): string {
  if (!(cause instanceof AggregateError)) return cause.message
  return cause.errors
    .map((error: unknown) => (error instanceof Error ? error.message : String(error)))
    .join(', ')
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
