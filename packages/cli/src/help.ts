/** The help texts, written from the tables that commands are read by. */
import { type Option, alternatives } from './args.ts'
import type { Command } from './command.ts'
import { wrapWords } from './output/visible.ts'

const EXIT_CODES = `Exit codes
  0    fine
  1    reading or writing failed
  2    the command line is wrong
  3    with --strict: a call failed, the stream broke off, or nothing came
  130  ended by Ctrl-C (143: by SIGTERM), after the closing events`

/** `talaria --help` */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return `talaria turns a model's raw stream into tool-call deltas.

Usage
${commands.map(({ name, synopsis }) => `  talaria ${name} ${synopsis}`).join('\n')}
  talaria help [COMMAND]
  talaria --version

Commands
${commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

${EXIT_CODES}

Example
  curl -sN localhost:8080/completion -d @request.json | talaria parse
`
}

/** `talaria help COMMAND` */
export function commandHelp({ name, synopsis, summary, options, notes }: Command): string {
  const groups = new Map<string, [string, Option][]>()
  for (const entry of Object.entries(options)) {
    const { group = 'Options' } = entry[1]
    groups.set(group, [...(groups.get(group) ?? []), entry])
  }
  const tables = [...groups].map(([title, entries]) => `${title}\n${table(entries)}`)
  return `Usage: talaria ${name} ${synopsis}

${summary}

${[...tables, ...notes, EXIT_CODES].join('\n\n')}
`
}

/** Options on the left, what they do on the right. */
function table(options: readonly [name: string, option: Option][]): string {
  const entries = options.map(([option, details]) => ({
    left: `  ${label(option, details)}`,
    right: details.choices ? `${details.help}: ${alternatives(details.choices)}.` : details.help,
  }))
  const width = Math.max(...entries.map(({ left }) => left.length)) + 2
  const rows = entries.flatMap(({ left, right }) =>
    wrapWords(right, COLUMNS - width).map((line, index) =>
      index === 0 ? left.padEnd(width) + line : ' '.repeat(width) + line,
    ),
  )
  return rows.join('\n')
}

/** How wide help may be. */
const COLUMNS = 90

function label(name: string, { short, value, optionalValue }: Option): string {
  const long = optionalValue ? `--${name}[=WHEN]` : `--${name}${value ? ` ${value}` : ''}`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}
