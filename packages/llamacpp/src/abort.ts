/**
 * Signals of callers, which many streams may share.
 *
 * A shared signal gets one listener, however many streams follow it: Node warns of the eleventh, and
 * its limit is not ours to change.
 */

/** Who follows a signal. The signal itself has one listener as long as anybody does. */
const followers = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `onAbort` when the signal is aborted, at once if it is. Returns how to stop that. */
export function follow(signal: AbortSignal, onAbort: () => void): () => void {
  if (signal.aborted) {
    onAbort()
    return () => {}
  }
  const set = followers.get(signal) ?? new Set()
  if (set.size === 0) {
    followers.set(signal, set)
    signal.addEventListener('abort', tellFollowers, { once: true })
  }
  set.add(onAbort)
  return () => {
    if (set.delete(onAbort) && set.size === 0) signal.removeEventListener('abort', tellFollowers)
  }
}

function tellFollowers(event: Event): void {
  const signal = event.currentTarget as AbortSignal
  const set = followers.get(signal)
  followers.delete(signal)
  for (const onAbort of set ?? []) onAbort()
}

/** What `promise` gives, or `undefined` as soon as the signal is aborted. Leaves no listener behind. */
export function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(undefined)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
