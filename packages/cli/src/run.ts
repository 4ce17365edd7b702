/**
 * Finds the command and runs it. Whatever goes wrong ends in one line on stderr and an exit code;
 * a closed pipe ends in silence.
 */
import { type Options, alternatives, readArguments, usage } from './args.ts'
import type { Command } from './command.ts'
import { createDemo } from './commands/demo.ts'
import { parse } from './commands/parse.ts'
import { EXIT, Failure, codeOf, exitCodeOf, reasonOf } from './failure.ts'
import { commandHelp, overview } from './help.ts'
import { ClosedPipe, type Io, Sink } from './io.ts'
import { visible } from './output/visible.ts'
import { didYouMean } from './suggest.ts'
import { version } from './version.ts'

const COMMANDS: readonly Command[] = [parse, createDemo()]

/** Runs a command line; gives the exit code. Never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io)
  } catch (error) {
    if (error instanceof ClosedPipe) return io.signal.aborted ? exitCodeOf(io.signal) : EXIT.ok
    // The text may quote a file or a server, so it must not drive the terminal either.
    io.stderr.write(`talaria: ${visible(messageOf(error)).replaceAll('\n', ' ')}\n`)
    return error instanceof Failure ? error.exitCode : EXIT.io
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv
  const print = async (text: string): Promise<number> => {
    const sink = new Sink(io)
    await sink.write(text)
    await sink.finish()
    return EXIT.ok
  }
  const names = COMMANDS.map(({ name }) => name)
  switch (first) {
    case undefined:
      throw usage(`expected a command: ${alternatives([...names, 'help'])} (talaria --help tells)`)
    case '--version':
    case '-V':
      return print(`${version()}\n`)
    case '--help':
    case '-h':
      return print(overview(COMMANDS))
    case 'help': {
      const [name, extra] = rest
      if (extra !== undefined) throw usage(`help takes one command, found '${extra}' as well`)
      return print(name === undefined ? overview(COMMANDS) : commandHelp(find(name)))
    }
  }
  const command = find(first)
  const args = readArguments(rest, { ...command.options, ...COMMON })
  if (args.values.has('help')) return print(commandHelp(command))
  return command.run(args, io)
}

const COMMON: Options = { help: { short: 'h', help: 'Show this help.' } }

function find(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name)
  if (found) return found
  const words = [...COMMANDS.map((command) => command.name), 'help']
  const hint = didYouMean(name, [...words, '--help', '--version'])
  const kind = name.startsWith('-') ? 'option' : 'command'
  throw usage(`unknown ${kind} '${name}'${hint || `, expected ${alternatives(words)}`}`)
}

function messageOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  return codeOf(error) === undefined ? `internal error: ${reasonOf(error)}` : reasonOf(error)
}
