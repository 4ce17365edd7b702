/**
 * The world as a command sees it, so that tests can run commands in this process.
 *
 * Output goes through `Sink`: it waits while the reader of our output is slower than we are, and
 * turns a closed pipe (`| head -1`) into `ClosedPipe`, which ends a command quietly.
 */
import type { Readable, Writable } from 'node:stream'
import { EXIT, Failure, codeOf, reasonOf } from './failure.ts'

/** An output stream that may be a terminal. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted by Ctrl-C or SIGTERM; the reason is the signal's name. */
  readonly signal: AbortSignal
}

/** Whoever read our output has gone. */
export class ClosedPipe extends Error {
  override readonly name = 'ClosedPipe'
}

/** Writes with back-pressure. */
export class Sink {
  private readonly stream: Writable
  private broken: Error | undefined

  constructor(stream: Writable) {
    this.stream = stream
    stream.on('error', (error: Error) => {
      this.broken ??=
        codeOf(error) === 'EPIPE'
          ? new ClosedPipe(error.message)
          : new Failure(EXIT.io, `can't write: ${reasonOf(error)}`)
    })
  }

  /** Resolves when more may be written. Throws `ClosedPipe`, or a `Failure`. */
  async write(text: string): Promise<void> {
    if (this.broken) throw this.broken
    if (text === '' || this.stream.write(text)) return
    await this.settled('drain')
  }

  /** Resolves when everything has been handed to the system. */
  async finish(): Promise<void> {
    if (this.broken) throw this.broken
    if (this.stream.writableLength > 0) await new Promise((done) => this.stream.write('', done))
    if (this.broken) throw this.broken
  }

  private async settled(event: string): Promise<void> {
    const { stream } = this
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const name of [event, 'error', 'close']) stream.off(name, done)
        resolve()
      }
      for (const name of [event, 'error', 'close']) stream.on(name, done)
    })
    if (this.broken) throw this.broken
    if (stream.destroyed) throw new ClosedPipe('the output was closed')
  }
}
