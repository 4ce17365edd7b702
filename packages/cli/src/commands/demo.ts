/**
 * `talaria demo`: what `npm start` runs. Answers come from a real llama.cpp in this process, from a
 * recording where that can't be had, or from the user's own llama-server.
 */
import { loadNodeLlamaCpp } from '@talaria/llamacpp/piano'
import { type Arguments, usage } from '../args.ts'
import type { Command } from '../command.ts'
import { enginePerformances } from '../demo/engine.ts'
import { quietly } from '../demo/quiet.ts'
import { recordedPerformances } from '../demo/recorded.ts'
import { DEFAULT_QUESTION, askServer, readUrl } from '../demo/server.ts'
import { Stage } from '../demo/stage.ts'
import { EXIT, exitCodeOf } from '../failure.ts'
import type { Io } from '../io.ts'
import { COLOR_OPTIONS, colorChoice } from '../output/style.ts'

type Load = typeof loadNodeLlamaCpp

/** @param load How the engine is had. */
export function createDemo(load: Load = loadNodeLlamaCpp): Command {
  return { ...DESCRIPTION, run: (args, io) => run(args, io, load) }
}

const DESCRIPTION: Omit<Command, 'run'> = {
  name: 'demo',
  synopsis: '[options]',
  summary: 'Streams tool calls from a real llama.cpp and shows what becomes of each token.',
  options: {
    url: {
      value: 'URL',
      help: 'Ask your own llama-server instead, such as http://localhost:8080.',
    },
    prompt: { value: 'TEXT', help: 'What to ask it.' },
    recorded: { help: 'Play a recording instead of running llama.cpp.' },
    fast: { help: 'Do not slow down for the eye.' },
    ...COLOR_OPTIONS,
  },
  notes: [
    `Without --url llama.cpp runs in this process, through node-llama-cpp, on a model of a megabyte
that is made on the spot and plays scripted answers: nothing is downloaded. Where it can't run,
a recording is played. A llama-server that wants a key gets the one in LLAMA_API_KEY.`,
  ],
}

async function run(args: Arguments, io: Io, load: Load): Promise<number> {
  const { values, positionals } = args
  if (positionals[0] !== undefined) throw usage(`demo takes no file, found '${positionals[0]}'`)
  const url = values.get('url')
  if (url === undefined && values.has('prompt')) throw usage('--prompt needs --url')
  if (url !== undefined && values.has('recorded')) {
    throw usage('--url and --recorded exclude each other')
  }
  const stage = new Stage({ io, color: colorChoice(args), fast: values.has('fast') })
  let failed = false
  if (url === undefined) {
    await (values.has('recorded') ? fromRecording(stage) : fromEngine(stage, io, load))
    if (!io.signal.aborted) await stage.say('', ...NEXT)
  } else {
    const address = readUrl(url)
    const question = values.get('prompt') ?? DEFAULT_QUESTION
    const events = askServer(address, question, io)
    failed = await stage.showAnswer(`From ${address}`, question, events)
  }
  await stage.finish()
  if (io.signal.aborted) return exitCodeOf(io.signal)
  return failed ? EXIT.io : EXIT.ok
}

const NEXT = [
  'Your server: npx talaria demo --url http://localhost:8080',
  'Any stream: curl -sN localhost:8080/completion -d @req.json | npx talaria parse',
]

async function fromEngine(stage: Stage, io: Io, load: Load): Promise<void> {
  await stage.status('Starting llama.cpp…')
  const engine = await quietly(() => load())
  // Ctrl-C reaches the engine's own processes as well, so what they answer means nothing.
  if (io.signal.aborted) {
    await stage.say()
    if (engine.available) await engine.dispose()
    return
  }
  if (!engine.available) {
    await stage.say(`llama.cpp can't run here: ${engine.reason}`)
    return fromRecording(stage)
  }
  try {
    await stage.say(
      `llama.cpp${releaseOf(engine.llama)} is running in this process, on a model of 1 MB made just now.`,
      'It plays scripted Hermes answers. Each token goes through Talaria as it comes.',
    )
    await stage.show(enginePerformances(engine, io.signal))
  } finally {
    await engine.dispose()
  }
}

async function fromRecording(stage: Stage): Promise<void> {
  await stage.say(
    'These are recordings of a llama-server; each of its tokens goes through Talaria.',
  )
  await stage.show(recordedPerformances())
}

/** llama.cpp's own version, as its build says. */
function releaseOf(llama: unknown): string {
  if (typeof llama !== 'object' || llama === null || !('llamaCppRelease' in llama)) return ''
  const { llamaCppRelease } = llama
  if (typeof llamaCppRelease !== 'object' || llamaCppRelease === null) return ''
  return 'release' in llamaCppRelease ? ` ${String(llamaCppRelease.release)}` : ''
}
