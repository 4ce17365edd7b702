/** What options add to the dialects in use: other spellings of a tag, calls at the start of a line. */
import type { Compilable } from './compile.ts'
import type { CallSection, Dialect } from './dialect.ts'
import type { MachineOptions, TagAlias } from './options.ts'

const BARE_LINES: Compilable = { name: 'bare-lines', models: [], sections: [], bareLines: true }

/** By the list of aliases, so that the same list is compiled once. */
const aliased = new WeakMap<readonly TagAlias[], WeakMap<Dialect, Dialect>>()

/** The dialects and what the options add to them. */
export function withOptions(
  dialects: readonly Dialect[],
  { bareJson, tagAliases = [] }: MachineOptions,
): readonly Compilable[] {
  const all: Compilable[] = [...dialects]
  const first = dialects.find(({ sections }) => sections.some(holdsCalls))
  // Without a dialect that has calls there are none to find.
  if (!first) return all
  if (bareJson === 'last-line') all.push(BARE_LINES)
  if (tagAliases.length > 0) all.push(aliasesOf(first, tagAliases))
  return all
}

/** A dialect of its own with the aliases of the first call tag of `dialect`. */
function aliasesOf(dialect: Dialect, aliases: readonly TagAlias[]): Dialect {
  let known = aliased.get(aliases)
  if (!known) aliased.set(aliases, (known = new WeakMap()))
  let made = known.get(dialect)
  if (!made) {
    const section = dialect.sections.find(holdsCalls) as CallSection
    const sections = aliases.map(({ open, close }) => ({ ...section, open, close }))
    known.set(dialect, (made = { name: 'aliases', models: [], sections }))
  }
  return made
}

function holdsCalls({ holds }: Dialect['sections'][number]): boolean {
  return holds === 'calls'
}
