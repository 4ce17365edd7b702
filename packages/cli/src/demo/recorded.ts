/**
 * What the demo shows where llama.cpp can't run: answers that a llama-server once streamed, byte
 * for byte as `/completion` sent them. Each frame holds one token.
 */
import { readFile } from 'node:fs/promises'
import type { StreamEvent } from '@talaria/core'
import { createLlamaServerReader } from '@talaria/llamacpp'
import type { Beat, Performance } from './player.ts'

const RECORDINGS = [
  {
    file: 'prose-one.sse',
    title: 'A sentence, then a call',
    question: 'What is the weather in Oslo?',
  },
  {
    file: 'two-parallel.sse',
    title: 'Two calls at once',
    question: 'Which is warmer now, Oslo or Rome?',
  },
  {
    file: 'marker-in-string.sse',
    title: 'An argument that holds the markers themselves',
    question: 'Write the two tags into the file a.',
  },
  {
    file: 'bad-json.sse',
    title: 'A broken call',
    question: 'What is the weather in Os"lo?',
  },
] as const

export function recordedPerformances(): Performance[] {
  return RECORDINGS.map(({ file, title, question }) => ({
    title,
    question,
    tools: [],
    beats: play(file),
  }))
}

async function* play(file: string): AsyncGenerator<Beat, void, void> {
  // One folder above sources and build alike.
  const bytes = await readFile(new URL(`../../recordings/${file}`, import.meta.url), 'utf8')
  let beats: Beat[] = []
  const onEvent = (event: StreamEvent): unknown => beats.push({ event })
  const reader = createLlamaServerReader({ onEvent })
  for (const frame of bytes.split(/(?<=\n\n)/)) {
    const token = contentOf(frame)
    if (token !== '') beats.push({ token })
    reader.feed(frame)
    yield* beats
    beats = []
  }
  reader.end()
  yield* beats
}

function contentOf(frame: string): string {
  const value: unknown = JSON.parse(frame.slice('data: '.length))
  if (typeof value !== 'object' || value === null || !('content' in value)) return ''
  return String(value.content)
}
