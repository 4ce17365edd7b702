/**
 * The world as a command sees it, so that tests can run commands in this process.
 *
 * Output goes through `Sink`: it waits while the reader of our output is slower than we are, and
 * turns a closed pipe (`| head -1`) into `ClosedPipe`, which ends a command quietly. A signal ends
 * every wait: a reader that has stalled must not keep a process that was told to go.
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

/** How long the closing events wait for a reader after a signal, in milliseconds. */
const GRACE = 1_000

/** Writes with back-pressure. */
export class Sink {
  private readonly stream: Writable
  private readonly signal: AbortSignal
  private broken: Error | undefined

  constructor({ stdout, signal }: Pick<Io, 'stdout' | 'signal'>) {
    this.stream = stdout
    this.signal = signal
    stdout.on('error', (error: Error) => {
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
    await this.ready()
  }

  /** Resolves when everything has been handed to the system, or a signal's grace is over. */
  async finish(): Promise<void> {
    if (this.broken) throw this.broken
    if (this.stream.writableLength > 0) await this.flushed()
    if (this.broken) throw this.broken
  }

  private async ready(): Promise<void> {
    const { stream, signal } = this
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const name of READY) stream.off(name, done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      for (const name of READY) stream.on(name, done)
      signal.addEventListener('abort', done)
      if (signal.aborted) done()
    })
    if (this.broken) throw this.broken
    if (stream.destroyed) throw new ClosedPipe('the output was closed')
  }

  private async flushed(): Promise<void> {
    const { stream, signal } = this
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const giveUpSoon = (): void => {
        timer = setTimeout(done, GRACE)
      }
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUpSoon)
        resolve()
      }
      stream.write('', done)
      if (signal.aborted) giveUpSoon()
      else signal.addEventListener('abort', giveUpSoon)
    })
  }
}

const READY = ['drain', 'error', 'close'] as const
