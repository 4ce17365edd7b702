/** Where the slow twin reads on behind a call that failed. */
import type { Openers } from './reference-openers.ts'
import { cutHeader, matchAt, type Tag } from './reference-tags.ts'

/** Behind a failure among the arguments: after the closer that balances the openers. */
export function afterBalance(source: string, brokeAt: number, from: number, tag: Tag): number {
  const before = from < brokeAt ? source.slice(from, brokeAt) : ''
  // The failure may have cut off the last opener's header: that counts, too.
  const opened = count(before, tag.counted.source) + count(before, cutHeader(tag.name))
  let open = Math.max(1, 1 + opened - count(before, tag.closer.source))
  for (let at = brokeAt; at < source.length; at++) {
    if (matchAt(tag.counted, source, at)) open++
    const closer = matchAt(tag.closer, source, at)
    if (closer && --open === 0) return closer.end
  }
  return source.length
}

/** Behind a failure before the arguments: the next opener, or after the next closer. */
export function nextMarker(source: string, openers: Openers, brokeAt: number, tag: Tag): number {
  for (let at = brokeAt; at < source.length; at++) {
    const closer = matchAt(tag.closer, source, at)
    if (closer) return closer.end
    openers.forget()
    if (openers.wrapperAt(at)) return at
    // What was read behind an opener that opens nothing is not looked at again.
    const { refuted } = openers
    if (refuted) at = Math.max(at, refuted.to - 1)
  }
  return source.length
}

function count(text: string, pattern: string): number {
  return text.match(new RegExp(pattern, 'g'))?.length ?? 0
}
