/** The tables that are written from the code, by the name that stands above them. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readFixtures } from '../../fixtures/src/index.ts'
import {
  DIALECTS,
  DEFAULT_LIMITS,
  ERROR_CODES,
  WARNING_CODES,
} from '../../packages/core/src/index.ts'
import type { Dialect } from '../../packages/core/src/machine.ts'
import { SOURCE_ERROR_CODES } from '../../packages/llamacpp/src/index.ts'
import { membersOf } from './declarations.ts'
import { ROOT } from './pages.ts'

type Row = readonly string[]

export const GENERATED: Readonly<Record<string, () => string>> = {
  'error codes': () => codes(ERROR_CODES, /^tool-call-error \d+ (\S+)/),
  'warning codes': () => codes(WARNING_CODES, /^warning (\S+)/),
  'stream error codes': () =>
    table(
      ['code', 'meaning'],
      Object.entries(SOURCE_ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
  limits: () =>
    table(
      ['limit', 'default', 'what it bounds'],
      membersOf('packages/core/src/limits.ts', 'Limits').map(({ name, doc }) => [
        `\`${name}\``,
        DEFAULT_LIMITS[name as keyof typeof DEFAULT_LIMITS].toLocaleString('en'),
        doc,
      ]),
    ),
  dialects: () => table(['name', 'models', 'opener', 'closer', 'holds'], dialectRows()),
}

/** Codes with their line, and whether a case that passes shows them. */
function codes(lines: Readonly<Record<string, string>>, pattern: RegExp): string {
  const shown = new Set(fixtureLines().map((line) => pattern.exec(line)?.[1]))
  return table(
    ['code', 'meaning', 'emitted'],
    Object.entries(lines).map(([code, meaning]) => [
      `\`${code}\``,
      meaning,
      shown.has(code) ? 'yes' : 'not yet',
    ]),
  )
}

/** The event lines of all fixtures but those that do not pass yet. */
function fixtureLines(): string[] {
  return ['hermes', 'wire'].flatMap((name) => {
    const folder = join(ROOT, 'fixtures', name)
    const files = readdirSync(folder)
    const list = files.includes('not-yet.json')
      ? (JSON.parse(readFileSync(join(folder, 'not-yet.json'), 'utf8')) as Record<string, string[]>)
      : {}
    const notYet = new Set(Object.values(list).flat())
    return files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        readFixtures(join(folder, file))
          .filter(({ id }) => !notYet.has(`${file}#${id}`))
          .flatMap(({ events = [] }) => events),
      )
  })
}

/** One row per section; a dialect's name and models stand in its first. */
function dialectRows(): Row[] {
  return dialects.flatMap(({ name, models, sections }) =>
    sections.map((section, at) => [
      at === 0 ? `\`${name}\`` : '',
      at === 0 ? models.join(', ') : '',
      `\`${section.open}\``,
      `\`${section.close}\``,
      section.holds === 'reasoning'
        ? 'reasoning'
        : section.bodies.map((grammar) => `\`${grammar.name}\``).join(', ') +
          (section.placement === 'line-start' ? ', at a line start' : ''),
    ]),
  )
}

const dialects: readonly Dialect[] = await Promise.all(
  DIALECTS.map(async (name) => {
    const file = join(ROOT, `packages/core/src/dialects/${name}.ts`)
    const found = Object.values((await import(file)) as Record<string, Dialect>)
    return found.find((value) => value.name === name)!
  }),
)

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|\n`
  return [line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('')
}
