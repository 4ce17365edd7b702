/**
 * Core's log lines: what fixtures hold and a bug report quotes. Neighbouring deltas of a part are
 * one line, so that line waits for the event after them.
 */
import type { StreamEvent } from '@talaria/core'
import { log } from '@talaria/core/log'
import type { Output } from './output.ts'
import { safeLine } from './visible.ts'

export function createLogOutput(): Output {
  let run: StreamEvent[] = []
  let lines = ''
  const settle = (): void => {
    for (const line of log(run)) lines += `${safeLine(line)}\n`
    run = []
  }
  return {
    add(event) {
      const last = run.at(-1)
      const continues =
        last !== undefined &&
        'delta' in last &&
        'delta' in event &&
        last.type === event.type &&
        last.index === event.index
      if (!continues) settle()
      run.push(event)
      if (event.type === 'finish') settle()
    },
    take() {
      const ready = lines
      lines = ''
      return ready
    },
  }
}
