/** Chunks as a decoder gives them: flat strings of their own, no slices of a long one. */
import { type ChunkMode, chunks } from '@talaria/fixtures'

/** A string that shares no memory with others. */
export function flat(text: string): string {
  return Buffer.from(text).toString()
}

/** Cuts a text the same way every time, into flat chunks. */
export function flatChunks(text: string, mode: ChunkMode): string[] {
  return chunks(text, mode).map(flat)
}

/** How users would say it: sizes in UTF-16 units. */
export const MODE_LABELS: Readonly<Record<ChunkMode, string>> = {
  whole: 'whole',
  sse: '16-64',
  token: '1-8',
  char: '1',
}
