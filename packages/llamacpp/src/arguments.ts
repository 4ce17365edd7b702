/**
 * The arguments of a call that the server told apart, read as they come.
 *
 * They go through the core machine as the inside of one open call without a header: so limits,
 * patches and what counts as JSON are the same as for calls in text, and offsets count from the
 * arguments' first character. The machine says when the object is complete; whether the call is,
 * is for who knows the wire.
 */
import {
  type ErrorCode,
  type Limits,
  type Patch,
  type StreamEvent,
  type ToolCallEnd,
  type Warning,
  ERROR_CODES,
} from '@talaria/core'
import { type Grammar, createMachine, defineDialect, jsonArguments } from '@talaria/core/machine'

/** JSON arguments whose name stands elsewhere; the machine only needs one that it accepts. */
const unnamedArguments: Grammar = {
  ...jsonArguments,
  name: 'unnamed-arguments',
  create() {
    const body = jsonArguments.create()
    const open = body.open.bind(body)
    body.open = () => open('call')
    return body
  },
}

const argumentsAlone = defineDialect({
  name: 'arguments',
  models: [],
  sections: [
    { holds: 'calls', open: '<arguments>', close: '</arguments>', bodies: [unnamedArguments] },
  ],
})

/** Warnings about tags say nothing where there are none. */
const ABOUT_TAGS: ReadonlySet<string> = new Set(['unclosed-tag', 'trailing-text'])

export interface ArgumentsOptions {
  readonly limits: Partial<Limits>
  readonly patches: boolean
  readonly onDelta: (delta: string, patches: readonly Patch[] | undefined) => void
  readonly onWarning: (warning: Warning) => void
}

/** Why arguments can't be run. */
export interface ArgumentsFailure {
  readonly code: ErrorCode
  readonly message: string
}

export class ArgumentsReader {
  /** The complete arguments, once their object is closed. */
  complete: Pick<ToolCallEnd, 'arguments' | 'input' | 'repairs'> | undefined
  /** What the deltas add up to, if they are not complete. */
  partial = ''
  failure: ArgumentsFailure | undefined
  private readonly machine: ReturnType<typeof createMachine>
  private readonly options: ArgumentsOptions

  constructor(options: ArgumentsOptions) {
    this.options = options
    this.machine = createMachine({
      dialects: [argumentsAlone],
      startIn: 'call',
      limits: options.limits,
      patches: options.patches,
      generateId: () => '',
      onEvent: (event) => this.take(event),
    })
  }

  /** A getter, since a listener of the deltas may abort in the middle of a piece. */
  private get isOver(): boolean {
    return this.failure !== undefined
  }

  /** Takes the next piece. Does nothing after a failure. */
  feed(text: string): void {
    if (this.isOver) return
    this.machine.feed(text)
    if (!this.isOver && this.machine.holding === 'failed-call') this.machine.end()
  }

  /** Nothing more will come. Without complete arguments that is a failure. */
  end(): void {
    if (this.failure || this.complete) return
    this.machine.end()
    this.fail('incomplete-call', 'the arguments', 'the end of the stream')
  }

  /** The source failed or was aborted. */
  abort(): void {
    if (this.isOver) return
    this.machine.abort()
    this.fail('aborted', 'the end of the call', 'the end of the stream')
  }

  private take(event: StreamEvent): void {
    switch (event.type) {
      case 'tool-call-delta':
        this.options.onDelta(event.delta, event.patches)
        return
      case 'tool-call-end':
        this.complete = event
        return
      case 'tool-call-error':
        this.partial = event.arguments ?? ''
        this.failure ??= { code: event.code, message: event.message }
        return
      case 'text-start':
        return this.complete
          ? this.fail('malformed-arguments', 'the end of the arguments', 'something else')
          : this.fail('malformed-arguments', 'an object', 'something else')
      case 'warning':
        if (!ABOUT_TAGS.has(event.code)) this.options.onWarning(event)
        return
      default:
    }
  }

  private fail(code: ErrorCode, expected: string, found: string): void {
    this.failure ??= {
      code,
      message: `${ERROR_CODES[code]} Expected ${expected}, found ${found}.`,
    }
  }
}

/** Whether `text` is arguments, or may become such if more follows. */
export function isBeginning(text: string, limits: Partial<Limits>): boolean {
  const reader = new ArgumentsReader({
    limits,
    patches: false,
    onDelta: () => {},
    onWarning: () => {},
  })
  reader.feed(text)
  return reader.failure === undefined
}
