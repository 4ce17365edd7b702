/**
 * A stream of events that can be left while it waits.
 *
 * An async generator queues `return()` behind the `next()` that is under way, so a silent source
 * would never hear that its consumer is gone. Here `return()` first aborts the signal that the
 * generator works under; the waiting `next()` ends and brings nothing more.
 */
import type { StreamEvent } from '@talaria/core'
import { follow } from './abort.ts'

export type EventStream = AsyncGenerator<StreamEvent, void, undefined>

/**
 * Makes the stream. `generate` gets a signal that is aborted with `outer`, by leaving, and at the
 * end; the generator still closes what is open then, and the consumer sees that unless it left.
 */
export function leavable(
  outer: AbortSignal | undefined,
  generate: (signal: AbortSignal) => EventStream,
): EventStream {
  const controller = new AbortController()
  const events = generate(controller.signal)
  let hasBegun = false
  let hasLeft = false
  let release = (): void => {}

  const begin = (): void => {
    if (hasBegun) return
    hasBegun = true
    if (outer) release = follow(outer, () => controller.abort(outer.reason))
  }
  const end = (): void => {
    hasBegun = true
    release()
    controller.abort()
  }
  const leave = (): void => {
    hasLeft = true
    end()
  }

  const stream = {
    async next(): Promise<IteratorResult<StreamEvent, void>> {
      begin()
      try {
        const result = await events.next()
        if (result.done) end()
        return hasLeft ? { done: true, value: undefined } : result
      } catch (error) {
        end()
        throw error
      }
    },
    return(value: void | PromiseLike<void>): Promise<IteratorResult<StreamEvent, void>> {
      leave()
      return events.return(value)
    },
    throw(error: unknown): Promise<IteratorResult<StreamEvent, void>> {
      leave()
      return events.throw(error)
    },
    [Symbol.asyncIterator](): EventStream {
      return stream
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stream.return()
    },
  }
  return stream
}
