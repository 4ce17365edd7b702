/**
 * The demo on the user's own llama-server: a question with tools, answered by whatever model runs
 * there. The server renders the prompt with the model's chat template; one that can't is given a
 * Hermes prompt.
 */
import type { StreamEvent, Tool } from '@talaria/core'
import { type FromLlamaServerOptions, fromLlamaServer } from '@talaria/llamacpp'
import { DEMO_SCRIPTS, renderPrompt } from '@talaria/llamacpp/piano'
import { usage } from '../args.ts'
import { EXIT, Failure } from '../failure.ts'
import type { Io } from '../io.ts'

export const DEFAULT_QUESTION = 'Which is warmer now, Oslo or Rome? Look up both.'

/** How long an answer may become, in tokens. */
const LONGEST_ANSWER = 2_048

/** The address of a server as the user wrote it, with its scheme. */
export function readUrl(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usage(`--url must be an address such as http://localhost:8080, not '${text}'`)
  }
  return url
}

/**
 * The events of the answer. Throws a `Failure` if the server can't be reached or refuses before
 * the answer begins; what goes wrong later is an `error` event.
 */
export async function* askServer(
  baseUrl: string,
  question: string,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): AsyncGenerator<StreamEvent, void, void> {
  const tools = demoTools()
  const apiKey = env['LLAMA_API_KEY']
  const common = {
    baseUrl,
    tools,
    signal,
    body: { n_predict: LONGEST_ANSWER },
    ...(apiKey !== undefined && { apiKey }),
  }
  const asked = yield* answer({ ...common, messages: [{ role: 'user', content: question }] })
  if (asked === undefined) return
  // A server without a usable chat template can still complete a prompt.
  if (asked.rawCode === undefined || asked.rawCode === '401') throw refusal(baseUrl, asked)
  const prompt = renderPrompt({ question, tools })
  const body = { ...common.body, stop: ['<|im_end|>'] }
  const again = yield* answer({ ...common, prompt, body })
  if (again) throw refusal(baseUrl, again)
}

type Refusal = Extract<StreamEvent, { type: 'error' }>

/** Passes an answer on; gives the error if it came before anything else. */
async function* answer(
  options: FromLlamaServerOptions,
): AsyncGenerator<StreamEvent, Refusal | undefined, void> {
  let begun = false
  for await (const event of fromLlamaServer(options)) {
    if (event.type === 'error' && !begun) return event
    begun = true
    yield event
  }
  return undefined
}

function refusal(baseUrl: string, { code, message }: Refusal): Failure {
  return new Failure(EXIT.io, code === 'connection-failed' ? message : `${baseUrl}: ${message}`)
}

/** The tools of all scripts, each once. */
function demoTools(): Tool[] {
  const tools = DEMO_SCRIPTS.flatMap((script) => script.tools)
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}
