/** Dialects by name, for callers that do not choose what a bundle holds. */
import { checkOptions } from './check-options.ts'
import type { Dialect } from './dialect.ts'
import { hermes } from './dialects/hermes.ts'
import { reasoning } from './dialects/reasoning.ts'
import { MisuseError } from './errors.ts'
import { didYouMean } from './names.ts'
import type { Parser, ParserOptions, WithOnEvent } from './options.ts'
import { createMachine } from './parser.ts'
import { withPreset } from './presets.ts'

const ALL: readonly Dialect[] = [hermes, reasoning]

/** Names that the option `dialect` takes, `auto` aside. */
export const DIALECTS: readonly string[] = ALL.map((dialect) => dialect.name)

/** A push parser: `feed` pieces, then `end`. Throws `MisuseError` for options that can't be. */
export function createParser(options: ParserOptions & WithOnEvent): Parser {
  checkOptions(options, 'createParser')
  const { dialect, ...rest } = withPreset(options)
  return createMachine({ ...rest, onEvent: options.onEvent, dialects: dialectsOf(dialect) })
}

/**
 * The literal markers of a dialect (or of several), openers and closers, without the parts that
 * vary. Servers that drop control tokens from the text need them named, as llama-server does in
 * `preserved_tokens`.
 */
export function markersOf(dialect?: string | readonly string[]): string[] {
  const markers = new Set<string>()
  for (const { sections } of dialectsOf(dialect)) {
    for (const { open, close } of sections) {
      if (!open.includes('{name}')) markers.add(open)
      markers.add(close)
    }
  }
  return [...markers]
}

function dialectsOf(dialect: string | readonly string[] = 'auto'): readonly Dialect[] {
  const names = typeof dialect === 'string' ? [dialect] : dialect
  const dialects = names.flatMap((name) => {
    if (name === 'auto') return ALL
    const known = ALL.find((candidate) => candidate.name === name)
    if (known) return known
    const all = ['auto', ...DIALECTS]
    const near = didYouMean(name, all) || '.'
    throw new MisuseError(
      'unknown-dialect',
      `Unknown dialect “${name}”${near} Known: ${all.join(', ')}.`,
    )
  })
  return [...new Set(dialects)]
}
