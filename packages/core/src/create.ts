/** Dialects by name, for callers that do not choose what a bundle holds. */
import { type Dialect } from './dialect.ts'
import { hermes } from './dialects/hermes.ts'
import { MisuseError } from './errors.ts'
import type { ParserOptions, WithOnEvent } from './options.ts'
import { type Parser, createMachine } from './parser.ts'

const ALL: readonly Dialect[] = [hermes]

/** Names that the option `dialect` takes, `auto` aside. */
export const DIALECTS: readonly string[] = ALL.map((dialect) => dialect.name)

/** A push parser: `feed` pieces, then `end`. Throws `MisuseError` for options that can't be. */
export function createParser(options: ParserOptions & WithOnEvent): Parser {
  return createMachine({ ...options, dialects: dialectsOf(options.dialect) })
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
  if (dialect === 'auto') return ALL
  const names = typeof dialect === 'string' ? [dialect] : dialect
  return names.map((name) => {
    const known = ALL.find((candidate) => candidate.name === name)
    if (known) return known
    const near = nearest(String(name))
    throw new MisuseError(
      'unknown-dialect',
      `Unknown dialect ${JSON.stringify(name)}${near ? `: did you mean “${near}”?` : ''} Known: auto, ${DIALECTS.join(', ')}.`,
    )
  })
}

function nearest(name: string): string | undefined {
  const wanted = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return ['auto', ...DIALECTS].find((known) => {
    const plain = known.replace(/[^a-z0-9]/g, '')
    return wanted !== '' && (plain.startsWith(wanted) || wanted.startsWith(plain) || distance(wanted, plain) <= 2)
  })
}

/** Levenshtein distance of two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}
