/** What the dispatcher and the help know of a command. */
import type { Arguments, Options } from './args.ts'
import type { Io } from './io.ts'

export interface Command {
  readonly name: string
  /** What follows the name, such as `[FILE] [options]`. */
  readonly synopsis: string
  /** One line. */
  readonly summary: string
  readonly options: Options
  /** Paragraphs that help shows after the options. */
  readonly notes: readonly string[]
  /** Gives the exit code; throws a `Failure` for what the user has to know. */
  readonly run: (args: Arguments, io: Io) => Promise<number>
}
