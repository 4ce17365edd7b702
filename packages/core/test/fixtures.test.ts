/**
 * Runs the fixtures of the family, and reads the bench's workloads once.
 *
 * A case's options go to the parser as they are, but for `end`: what ends the stream. It is the
 * argument of `end()`, or `abort` or `fail` for the other ways.
 */
import { checkFolder } from '@talaria/fixtures/check'
import { HOSTILE, type StreamCase, WORKLOADS, folderOf, workload } from '@talaria/fixtures'
import { expect, test } from 'vitest'
import {
  type EndInfo,
  type Parser,
  type ParserOptions,
  type Span,
  type StreamEvent,
  type Tool,
  collect,
  createParser,
  log,
  parseMessage,
} from '../src/index.ts'

checkFolder(folderOf('hermes'), (fixture, chunks) => {
  const events: StreamEvent[] = []
  const spans: Span[] = []
  const { end, ...options } = optionsOf(fixture)
  let calls = 0
  const parser = createParser({
    ...options,
    generateId: () => `call_${calls++}`,
    trace: (span) => spans.push(span),
    onEvent: (event) => events.push(event),
  })
  for (const chunk of chunks) parser.feed(chunk)
  finish(parser, end)
  return { lines: log(events), spans, message: collect(events) }
})

test.each([...WORKLOADS, ...HOSTILE])('workload %s is read right', (name) => {
  const { input, ...expected } = workload(name)
  const message = parseMessage(input, { dialect: 'hermes' })
  expect(message.calls.map((call) => ({ name: call.name, arguments: call.arguments }))).toEqual(
    expected.calls,
  )
  expect(message.text).toBe(expected.text)
  expect(message.reasoning).toBe(expected.reasoning)
  expect(message.failed).toHaveLength(expected.failed)
})

type End = EndInfo | 'abort' | 'fail' | undefined

function optionsOf(fixture: StreamCase): ParserOptions & { readonly end?: End } {
  const { dialect, options, tools } = fixture
  return {
    ...options,
    ...(dialect !== undefined && { dialect }),
    ...(tools && { tools: tools as unknown as readonly Tool[] }),
  }
}

function finish(parser: Parser, end: End): void {
  if (end === 'abort') parser.abort()
  else if (end === 'fail') parser.fail(new Error('socket hang up'))
  else parser.end(end)
}
