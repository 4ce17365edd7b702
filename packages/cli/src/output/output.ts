/** What the forms of output have in common: events go in, text comes out once per input chunk. */
import type { StreamEvent } from '@talaria/core'

export const OUTPUTS = ['events', 'message', 'log', 'view'] as const
export type OutputForm = (typeof OUTPUTS)[number]

export interface Output {
  add(event: StreamEvent): void
  /**
   * What has become ready since the last call, or the next piece of it; `''` for nothing. After
   * `finish` it is called until nothing is left.
   */
  take(): string
}
