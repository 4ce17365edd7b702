/**
 * The demo's own answers from a real llama.cpp in this process.
 *
 * Each answer has a model of its own, made when its turn comes: the piano plays one score. The
 * engine is asked for the next token only when the one before has been shown, so what is seen is
 * generated at that moment.
 */
import type { StreamEvent } from '@talaria/core'
import { fromNodeLlamaCpp } from '@talaria/llamacpp/node'
import {
  type AvailableEngine,
  type DemoScript,
  DEMO_SCRIPTS,
  createPiano,
  renderPrompt,
} from '@talaria/llamacpp/piano'
import type { Beat, Performance } from './player.ts'

export function enginePerformances(engine: AvailableEngine, signal: AbortSignal): Performance[] {
  return DEMO_SCRIPTS.map((script) => ({
    title: script.title,
    question: script.question,
    tools: script.tools,
    beats: play(engine, script, signal),
  }))
}

async function* play(
  engine: AvailableEngine,
  { question, tools, answer }: DemoScript,
  signal: AbortSignal,
): AsyncGenerator<Beat, void, void> {
  const piano = await createPiano(engine, {
    prompt: renderPrompt({ question, tools }),
    script: answer,
    // Many models have no token for a marker and write it in pieces; so does this one.
    vocabulary: { tags: 'text' },
  })
  try {
    const { sequence, prompt } = piano
    let tokens: Beat[] = []
    const onText = (token: string): unknown => tokens.push({ token })
    const events: AsyncIterable<StreamEvent> = fromNodeLlamaCpp({
      sequence,
      prompt,
      tools,
      signal,
      onText,
    })
    for await (const event of events) {
      // Tokens that gave no event have come before the one that did.
      yield* tokens
      tokens = []
      yield { event }
    }
  } finally {
    await piano.dispose()
  }
}
