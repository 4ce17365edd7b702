/** What every explanation must hold, whatever the input is. */
import { type ParserOptions, PRESETS, markersOf } from '@talaria/core'
import { expect } from 'vitest'
import { type World, talaria } from './harness.ts'

/** One line of `--explain --json`. */
export interface Explained {
  readonly line: number | null
  readonly column: number | null
  readonly start: number | null
  readonly end: number | null
  readonly marker: string | null
  readonly rule: string
  readonly decision: string
  readonly calls: readonly { readonly name?: string; readonly complete: boolean }[]
  readonly warnings: readonly object[]
}

/** The parser's options that are flags, as the command line has them. */
function flagsOf(options: ParserOptions): string[] {
  const flags: string[] = []
  for (const [option, value] of Object.entries(options)) {
    if (option === 'tagAliases') {
      const aliases = options.tagAliases ?? []
      flags.push(...aliases.flatMap(({ open, close }) => ['--tag-alias', `${open},${close}`]))
    } else if (option === 'strict') flags.push('--strict-json')
    else if (!NO_FLAGS.has(option)) {
      const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      flags.push(...(value === true ? [flag] : [flag, String(value)]))
    }
  }
  return flags
}

const NO_FLAGS = new Set(['limits', 'toolChoice', 'whitespace', 'end'])

export async function explain(flags: readonly string[], world: World): Promise<Explained[]> {
  const { stdout, stderr } = await talaria(['parse', '--explain', '--json', ...flags], world)
  expect(stderr.replace('talaria: the input was empty\n', '')).toBe('')
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Explained)
}

/** Checks places, order and completeness of the explanation of raw text. */
export async function checkExplanation(
  text: string,
  options: ParserOptions,
  more: readonly string[] = [],
): Promise<void> {
  const flags = ['--input', 'text', ...flagsOf(options), ...more]
  const list = await explain(flags, { stdin: text })
  let reached = 0
  for (const { line, column, start, end, marker } of list) {
    if (start === null || end === null) throw new Error('an entry of raw text stands nowhere')
    if (marker === null) expect(end).toBe(start)
    else {
      // In order, and none lies in another.
      expect(start).toBeGreaterThanOrEqual(reached)
      expect(marker).toBe(text.slice(start, end))
      expect(marker.trim()).toBe(marker)
      expect(marker).not.toBe('')
      reached = end
    }
    const before = text.slice(0, start).split('\n')
    expect({ line, column }).toEqual({ line: before.length, column: before.at(-1)!.length + 1 })
  }
  checkLiterals(text, options, list)
  await checkOutcome(text, flags, list)
}

/** Each literal marker of the text lies in one entry. */
function checkLiterals(text: string, options: ParserOptions, list: readonly Explained[]): void {
  const aliases = (options.tagAliases ?? []).flatMap(({ open, close }) => [open, close])
  const { preset } = options
  const dialect = options.dialect ?? (preset && PRESETS[preset]?.options.dialect)
  for (const literal of [...markersOf(dialect), ...aliases]) {
    for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
      const holding = list.filter(({ start, end }) => start! < at + literal.length && end! > at)
      expect(holding, `${literal} at ${at}`).not.toEqual([])
      if (!literal.startsWith('<')) continue
      expect(holding, `${literal} at ${at}`).toHaveLength(1)
      expect(holding[0]!.start, `${literal} at ${at}`).toBeLessThanOrEqual(at)
    }
  }
}

/** Each call and each warning is told of once, and the exit code is that of the same parse. */
async function checkOutcome(
  text: string,
  flags: readonly string[],
  list: readonly Explained[],
): Promise<void> {
  const plain = await talaria(['parse', '--to', 'message', '--strict', ...flags], { stdin: text })
  const message = JSON.parse(plain.stdout)
  const calls = list.flatMap((entry) => entry.calls)
  const names = (some: readonly { readonly name?: string }[]): string[] =>
    some.map(({ name = '' }) => name).sort()
  expect(names(calls.filter(({ complete }) => complete))).toEqual(names(message.calls))
  expect(names(calls.filter(({ complete }) => !complete))).toEqual(names(message.failed))
  const told = list.flatMap(({ warnings }) => warnings.map((warning) => JSON.stringify(warning)))
  const wanted = message.warnings.map((warning: object) => JSON.stringify(warning))
  expect(told.sort()).toEqual(wanted.sort())

  const shown = await talaria(['parse', '--explain', '--strict', ...flags], { stdin: text })
  expect(shown.code).toBe(plain.code)
  const places = [...shown.stdout.matchAll(/^(?:\d+:\d+) +@(\d+) /gm)].map(([, at]) => Number(at))
  expect(places).toEqual(list.map(({ start }) => start))
  expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
}
