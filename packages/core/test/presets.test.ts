/** Presets: options of a model line, beneath what the caller says. */
import { describe, expect, test } from 'vitest'
import {
  DIALECTS,
  PRESETS,
  type StreamEvent,
  createParser,
  log,
  parseMessage,
} from '../src/index.ts'

const CALL = '{"name": "f", "arguments": {}}'

describe('presets', () => {
  test.each(Object.entries(PRESETS))('%s names models and a dialect, and works', (name, preset) => {
    expect(preset.models.length).toBeGreaterThan(0)
    expect(DIALECTS).toContain(preset.options.dialect)
    const text =
      preset.options.startIn === 'reasoning' ? 'So.</think>Yes.' : '<think>So.</think>Yes.'
    const message = parseMessage(text, { preset: name })
    expect(message.reasoning).toBe('So.')
    expect(message.text).toBe('Yes.')
  })

  test('an option beside the preset wins, one that is undefined does not', () => {
    const preset = 'qwen2.5-coder'
    expect(parseMessage(CALL, { preset }).calls).toHaveLength(1)
    expect(parseMessage(CALL, { preset, bareJson: undefined }).calls).toHaveLength(1)
    expect(parseMessage(CALL, { preset, bareJson: 'off' }).calls).toHaveLength(0)
  })

  test('a preset is the options it stands for', () => {
    const run = (options: object): string[] => {
      const events: StreamEvent[] = []
      const parser = createParser({ ...options, onEvent: (event) => events.push(event) })
      parser.feed(`So.</think><tool_call>${CALL}</tool_call>`)
      parser.end()
      return log(events)
    }
    expect(run({ preset: 'qwen3-thinking' })).toEqual(run(PRESETS['qwen3-thinking'].options))
    expect(run({ preset: 'qwen3-thinking' })).not.toEqual(run({}))
  })
})
