/** node-llama-cpp's own classes fit the structural types. Compiling this file is the test. */
import type {
  LlamaChatSession,
  LlamaCompletion,
  LlamaContextSequence,
  LlamaGrammar,
  LlamaGrammarEvaluationState,
  LlamaModel,
  LlamaText,
  Token,
} from 'node-llama-cpp'
import { expectTypeOf, test } from 'vitest'
import {
  type NodeLlamaCompletion,
  type NodeLlamaModel,
  type NodeLlamaPrompt,
  type NodeLlamaSequence,
  type NodeLlamaSession,
  fromNodeLlamaCpp,
} from '../src/node.ts'

test('node-llama-cpp’s classes are taken as they are', () => {
  expectTypeOf<LlamaModel>().toExtend<NodeLlamaModel>()
  expectTypeOf<LlamaContextSequence>().toExtend<NodeLlamaSequence>()
  expectTypeOf<LlamaCompletion>().toExtend<NodeLlamaCompletion>()
  expectTypeOf<LlamaChatSession>().toExtend<NodeLlamaSession>()
  expectTypeOf<LlamaText | Token[] | string>().toExtend<NodeLlamaPrompt>()
})

/** Never called: what a user of the real classes writes. */
export function usage(
  model: LlamaModel,
  sequence: LlamaContextSequence,
  completion: LlamaCompletion,
  session: LlamaChatSession,
  grammar: LlamaGrammar,
  grammarEvaluationState: LlamaGrammarEvaluationState,
  prompt: LlamaText,
  tokens: Token[],
): unknown[] {
  return [
    fromNodeLlamaCpp({
      sequence,
      prompt,
      generation: { temperature: 0.7, grammarEvaluationState },
    }),
    fromNodeLlamaCpp({ completion, model, prompt: tokens, generation: { grammar, topK: 20 } }),
    fromNodeLlamaCpp({ session, prompt: 'Hi', generation: { budgets: { thoughtTokens: 100 } } }),
    fromNodeLlamaCpp({ model, tokens: sequence.evaluate(tokens) }),
    // @ts-expect-error What the adapter sets itself is not the caller's to set.
    fromNodeLlamaCpp({ sequence, prompt, generation: { yieldEogToken: false } }),
    // @ts-expect-error The same.
    fromNodeLlamaCpp({ completion, model, prompt, generation: { stopOnAbortSignal: false } }),
    // @ts-expect-error node-llama-cpp would run these functions itself.
    fromNodeLlamaCpp({ session, prompt: 'Hi', generation: { functions: {} } }),
    // @ts-expect-error No such option.
    fromNodeLlamaCpp({ sequence, prompt, generation: { temprature: 1 } }),
    // @ts-expect-error A completion does not show its model.
    fromNodeLlamaCpp({ completion, prompt }),
  ]
}
