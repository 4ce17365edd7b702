/**
 * One answer as the demo shows it: what the model wrote, token by token, and the events that came
 * of it, in the order in which they happened. Where it comes from (llama.cpp in this process, a
 * recording, a server) makes no difference to who shows it.
 */
import type { StreamEvent, Tool } from '@talaria/core'

export type Beat =
  /** The text of one token, as llama.cpp gave it. */
  { readonly token: string } | { readonly event: StreamEvent }

export interface Performance {
  readonly title: string
  /** What the user asked. */
  readonly question: string
  readonly tools: readonly Tool[]
  /** May be read once. */
  readonly beats: AsyncIterable<Beat>
}
