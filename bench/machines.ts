/**
 * The machines that are measured, under one roof: each takes chunks and hands its events on.
 *
 * A machine is made anew for every run, as for every answer, so its making is part of the cost.
 */
import {
  createParser,
  type ParserOptions,
  type Span,
  type StreamEvent,
  type WithOnEvent,
} from '@talaria/core'
import { type MinimalEvent, MinimalMachine } from './yardsticks.ts'

export interface Machine {
  feed(chunk: string): void
  end(): void
  /** Units looked at so far, where they are counted. */
  readonly visited?: number
}

/** Takes what a machine emits; spans, too, where it traces. */
export type Listener = (emitted: MinimalEvent | StreamEvent | Span) => void

/** In the order in which reports show them. */
export const MACHINES = ['minimal', 'core', 'core, patches', 'core, trace'] as const
export type MachineName = (typeof MACHINES)[number]

export function createMachine(name: MachineName, listener: Listener): Machine {
  return name === 'minimal' ? new MinimalMachine(listener) : createParser(options(name, listener))
}

/** Feeds all chunks to a new machine and ends it. */
export function runMachine(name: MachineName, chunks: readonly string[], listener: Listener): void {
  if (name === 'minimal') runMinimal(chunks, listener)
  else runCore(chunks, options(name, listener))
}

function options(name: MachineName, onEvent: Listener): ParserOptions & WithOnEvent {
  if (name === 'core, patches') return { onEvent, patches: true }
  return name === 'core, trace' ? { onEvent, trace: onEvent } : { onEvent }
}

// Two loops, so that each calls one `feed` only: V8 can inline it, as in an application with one parser.

function runMinimal(chunks: readonly string[], listener: Listener): void {
  const machine = new MinimalMachine(listener)
  for (const chunk of chunks) machine.feed(chunk)
  machine.end()
}

function runCore(chunks: readonly string[], parserOptions: ParserOptions & WithOnEvent): void {
  const parser = createParser(parserOptions)
  for (const chunk of chunks) parser.feed(chunk)
  parser.end()
}

/** What the minimal machine can't read: calls that fail, openers in prose, reasoning. */
const BEYOND_MINIMAL: ReadonlySet<string> = new Set(['openers', 'failed_calls', 'reasoning'])

/** Whether a machine reads a workload right. One that does not is not measured on it. */
export function reads(machine: MachineName, workload: string): boolean {
  return machine !== 'minimal' || !BEYOND_MINIMAL.has(workload)
}

let stored: unknown

/**
 * A listener that stores what it gets. Without one V8 sees that nobody looks at an event and makes
 * none, which flatters whoever is simplest.
 */
export const store = (value: unknown): void => {
  stored = value
}

/** What was stored last. */
export function lastStored(): unknown {
  return stored
}
