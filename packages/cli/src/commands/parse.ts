/** `talaria parse`: one stream from a file or stdin, to events, a message, a log or a view. */
import { DIALECTS, type ParserOptions, type StreamEvent } from '@talaria/core'
import { type Arguments, checkChoice, usage } from '../args.ts'
import type { Command } from '../command.ts'
import { createExplanation } from '../explain/explanation.ts'
import { EXIT, Failure, exitCodeOf, reasonOf } from '../failure.ts'
import { INPUTS, type InputForm, type InputOptions, createReader } from '../input.ts'
import { type Io, Sink } from '../io.ts'
import { openInput } from '../open-input.ts'
import { createEventsOutput } from '../output/events.ts'
import { createLogOutput } from '../output/log.ts'
import { createMessageOutput } from '../output/message.ts'
import { OUTPUTS, type Output, type OutputForm } from '../output/output.ts'
import { COLOR_OPTIONS, colorChoice } from '../output/style.ts'
import { createTerminalView } from '../output/view.ts'
import { READING_OPTIONS, checkReading, readingOf } from '../reading.ts'
import { transfer } from '../stream.ts'
import { readTools } from '../tools.ts'

export const parse: Command = {
  name: 'parse',
  synopsis: '[FILE] [options]',
  summary: 'Reads a stream from FILE or stdin and shows its text, reasoning and tool calls.',
  options: {
    input: {
      short: 'i',
      value: 'FORM',
      choices: INPUTS,
      help: 'What comes in, auto by default',
    },
    to: {
      short: 't',
      value: 'FORM',
      choices: OUTPUTS,
      help: 'What goes out, view by default on a terminal and events elsewhere',
    },
    dialect: {
      short: 'd',
      value: 'NAME',
      help: 'How the model writes calls; several with commas. By default all are read.',
    },
    tools: {
      value: 'FILE',
      help: 'The declared tools, as JSON: a list, or a request with one.',
    },
    'start-in': {
      value: 'PART',
      choices: ['text', 'reasoning', 'call'],
      help: 'Where the stream begins, if the prompt ends in an opener',
    },
    choice: {
      value: 'N',
      help: 'Which answer, if the stream holds several (default 0).',
    },
    patches: { help: 'Add path patches to the deltas of calls.' },
    strict: { help: 'Exit with 3 if a call failed, the stream broke off or nothing came.' },
    explain: {
      help: 'In the place of --to: what was decided of each marker, and by which rule.',
    },
    json: { help: 'With --explain: one JSON object per marker.' },
    ...COLOR_OPTIONS,
    ...READING_OPTIONS,
  },
  notes: [
    `Input is found out by itself: raw model text, the event stream of a llama-server (/completion,
/v1/completions, /v1/chat/completions), its frames one a line, its whole answer, or a recording
of --to events. The headers of curl -i are skipped.`,
    `Output
  events   one JSON event a line, written as the input comes
  message  the whole answer as one JSON document
  log      one short line per event, deltas joined
  view     for people: text as it comes, a growing block per call`,
    `--explain takes the place of --to. It reads the whole input before it writes: only then is it
known what each marker is. Places count in the model's own text, not in the frames around it.`,
  ],
  run,
}

async function run(args: Arguments, io: Io): Promise<number> {
  const { values, positionals } = args
  const [file, extra] = positionals
  if (extra !== undefined) throw usage(`parse takes one file, found '${extra}' as well`)
  const choice = choiceOf(values.get('choice'))
  const reading = await parserOptionsOf(args)
  checkReading(reading)
  checkOutput(args)

  const source = await openInput(file, io)

  let finished = false
  let failed = false
  const { output, more } = createOutput(args, reading, io)
  const onEvent = (event: StreamEvent): void => {
    output.add(event)
    if (event.type === 'finish') finished = true
    failed ||= isFailure(event)
  }
  const reader = createReader((values.get('input') ?? 'auto') as InputForm, {
    ...reading,
    ...more,
    onEvent,
    ...(choice !== undefined && { choice }),
  })

  const { broken, empty } = await transfer({
    source,
    reader,
    output,
    sink: new Sink(io),
    signal: io.signal,
    finished: () => finished,
  })
  if (io.signal.aborted) return exitCodeOf(io.signal)
  if (broken !== undefined) {
    throw new Failure(EXIT.io, `can't read ${file ?? 'stdin'}: ${reasonOf(broken)}`)
  }
  // It looks like an answer without anything, but mostly whoever should have written has failed.
  if (empty) io.stderr.write('talaria: the input was empty\n')
  return (failed || empty) && values.has('strict') ? EXIT.failedCall : EXIT.ok
}

/** How the text is to be read. */
async function parserOptionsOf(args: Arguments): Promise<ParserOptions> {
  const { values } = args
  const dialect = dialectsOf(values.get('dialect'))
  const startIn = values.get('start-in') as 'text' | 'reasoning' | 'call' | undefined
  const toolsFile = values.get('tools')
  const tools = toolsFile === undefined ? undefined : await readTools(toolsFile)
  return {
    ...readingOf(args),
    ...(dialect && { dialect }),
    ...(tools && { tools }),
    ...(startIn && { startIn }),
    ...(values.has('patches') && { patches: true }),
  }
}

function checkOutput({ values }: Arguments): void {
  if (values.has('explain') && values.has('to')) {
    throw usage('--explain and --to exclude each other')
  }
  if (values.has('json') && !values.has('explain')) {
    throw usage('--json needs --explain (--to events is JSON, one event a line)')
  }
}

/** Where events go, and what else the reader of the input has to tell it. */
function createOutput(
  args: Arguments,
  reading: ParserOptions,
  io: Io,
): { readonly output: Output; readonly more?: Partial<InputOptions> } {
  const { values } = args
  const color = colorChoice(args)
  if (values.has('explain')) {
    const explanation = createExplanation(io, { reading, json: values.has('json'), color })
    return { output: explanation, more: explanation.options }
  }
  switch ((values.get('to') as OutputForm | undefined) ?? (io.stdout.isTTY ? 'view' : 'events')) {
    case 'events':
      return { output: createEventsOutput() }
    case 'message':
      return { output: createMessageOutput() }
    case 'log':
      return { output: createLogOutput() }
    case 'view':
      return { output: createTerminalView(io, color) }
  }
}

/** What `--strict` does not forgive. */
function isFailure(event: StreamEvent): boolean {
  if (event.type === 'finish') return event.reason === 'error' || event.reason === 'interrupted'
  return event.type === 'tool-call-error' || event.type === 'error'
}

function dialectsOf(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined
  if (value === 'auto') return ['auto']
  const names = value.split(',').map((name) => name.trim())
  const known = names.length > 1 ? DIALECTS : ['auto', ...DIALECTS]
  for (const name of names) checkChoice('--dialect', name, known)
  return names
}

function choiceOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,9}$/.test(value)) throw usage(`--choice must be a number from 0 on, not '${value}'`)
  return Number(value)
}
