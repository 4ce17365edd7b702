/**
 * Runs the wire fixtures: recorded and written streams of llama-server, at every kind of cut.
 *
 * A case's options go to the reader as they are, but for `end`, which says how the source ends:
 * `abort` or `fail`, else by the end of the connection.
 */
import { type StreamEvent, type Tool, log } from '@talaria/core'
import { checkWire } from '@talaria/fixtures/check'
import { type WireCase, folderOf } from '@talaria/fixtures'
import { verifyGrammar } from '../../core/test/grammar.ts'
import { type LlamaServerStreamOptions, createLlamaServerReader } from '../src/index.ts'

// The recordings are many and long; most cuts fall into the same few places of a frame.
const SPLITS = {
  sampledCuts: 24,
  randomSplits: 8,
}

for (const file of ['llama-server.md', 'llama-server-scripted.md', 'chat-deltas.md']) {
  checkWire(`${folderOf('wire')}/${file}`, run, SPLITS)
}

function run(fixture: WireCase, chunks: readonly Uint8Array[]): { lines: string[] } {
  const events: StreamEvent[] = []
  const { end, ...options } = fixture.options
  let calls = 0
  const reader = createLlamaServerReader({
    ...(options as LlamaServerStreamOptions),
    ...(fixture.tools && { tools: fixture.tools as unknown as readonly Tool[] }),
    generateId: () => `call_${calls++}`,
    onEvent: (event) => events.push(event),
  })
  for (const chunk of chunks) reader.feed(chunk)
  if (end === 'abort') reader.abort()
  else if (end === 'fail') reader.fail(new Error('the connection broke'))
  else reader.end()
  verifyGrammar(events, { overlap: true })
  return { lines: log(events) }
}
