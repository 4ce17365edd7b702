/**
 * The conversation that templates are tried with. Its words are of no language and of no template,
 * so that each can be found again in what is rendered, and there only from here.
 */
import { type ParserOptions, type ToolDefinition, parseMessage } from '@talaria/core'

export const ANSWER = 'Zqanswer zqend'
export const THOUGHT = 'Zqthought zqend'
const QUESTION = 'Zqquestion zqend'
const NAME = 'zq_probe_tool'
const PLACE = 'zq harbour'
const COUNT = 7319
/** Nine letters and digits: what Mistral's templates insist on. */
const ID = 'zq7319abc'

const TOOL: ToolDefinition = {
  name: NAME,
  description: 'Zqdescription zqend',
  parameters: {
    type: 'object',
    properties: {
      place: { type: 'string', description: 'Zqplace zqend' },
      count: { type: 'integer', description: 'Zqcount zqend' },
    },
    required: ['place', 'count'],
  },
}

/** What templates differ in: one takes what another refuses. */
export interface Form {
  readonly system: boolean
  readonly tools: 'wrapped' | 'bare'
  /** The content of a turn that has only a call. */
  readonly content: '' | null
  readonly arguments: 'object' | 'text'
}

/** All forms, the most usual first. */
export const FORMS: readonly Form[] = [false, true].flatMap((system) =>
  (['wrapped', 'bare'] as const).flatMap((tools) =>
    (['', null] as const).flatMap((content) =>
      (['object', 'text'] as const).map((kind) => ({ system, tools, content, arguments: kind })),
    ),
  ),
)

/** What the assistant's turn holds, the last of the conversation. */
export interface Turn {
  readonly call?: boolean
  readonly reasoning?: boolean
}

/** A template's variables for a conversation; without a turn it ends where the answer begins. */
export function conversation(form: Form, turn: Turn | undefined): Record<string, unknown> {
  const system = { role: 'system', content: 'Zqsystem zqend' }
  const user = { role: 'user', content: QUESTION }
  return {
    messages: [
      ...(form.system ? [system] : []),
      user,
      ...(turn ? [{ role: 'assistant', ...contentOf(form, turn) }] : []),
    ],
    tools: [form.tools === 'bare' ? TOOL : { type: 'function', function: TOOL }],
    add_generation_prompt: turn === undefined,
  }
}

function contentOf(form: Form, { call, reasoning }: Turn): object {
  const input = { place: PLACE, count: COUNT }
  const text = form.arguments === 'text' ? JSON.stringify(input) : input
  const toolCall = { id: ID, type: 'function', function: { name: NAME, arguments: text } }
  return {
    content: call ? form.content : ANSWER,
    ...(call && { tool_calls: [toolCall] }),
    // One template's name for it is not another's.
    ...(reasoning && { reasoning_content: THOUGHT, reasoning: THOUGHT, thinking: THOUGHT }),
  }
}

/** Whether a text holds the probe call in some notation. */
export function holdsCall(text: string): boolean {
  return text.includes(PLACE)
}

/** Whether a parser reads a text as the probe call and nothing else. */
export function readsCall(text: string, options: ParserOptions): boolean {
  const message = parseMessage(text, { ...options, tools: [TOOL] })
  const [call, ...more] = message.calls
  if (!call || more.length > 0 || message.failed.length > 0) return false
  if (message.text.trim() !== '' || message.reasoning.trim() !== '') return false
  const { place, count, ...others } = call.input as Record<string, unknown>
  return (
    call.name === NAME && place === PLACE && count === COUNT && Object.keys(others).length === 0
  )
}
