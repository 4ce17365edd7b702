/** What ends a command early: one line for the user, and the exit code. */

/** Exit codes, as `talaria --help` lists them. */
export const EXIT = {
  ok: 0,
  /** Reading or writing failed. */
  io: 1,
  /** The command line, or a file that it names, is not as it should be. */
  usage: 2,
  /** With `--strict`: a call failed, the stream broke off, or nothing came. */
  failedCall: 3,
  /** By the shell's custom: 128 and the signal's number. */
  SIGINT: 130,
  SIGTERM: 143,
} as const

/** An error that the user sees as `talaria: message`. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The exit code for the signal that ended a command. */
export function exitCodeOf(signal: AbortSignal): number {
  return signal.reason === 'SIGTERM' ? EXIT.SIGTERM : EXIT.SIGINT
}

/** What went wrong with a file or an address, without the path and the system call. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  const known = code === undefined ? undefined : REASONS[code]
  if (known !== undefined) return known
  return error instanceof Error ? error.message : String(error)
}

/** The system's error code, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'no such file',
  ENOSPC: 'no space left',
}
