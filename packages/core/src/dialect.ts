/**
 * What a dialect is: data that says which markers a model family writes and which grammars may
 * stand between them. `defineDialect` checks a dialect once, so that the loop need not.
 */
import type { Grammar } from './bodies/body.ts'
import { MisuseError } from './errors.ts'

/** A section that holds calls. */
export interface CallSection {
  readonly holds: 'calls'
  /**
   * The opening marker, a literal. `{name}` stands for the call's name: `<function={name}>` up to
   * the “>”, `<tool_call name="{name}">` in quotes of either kind. Tags may have blanks before “>”.
   */
  readonly open: string
  readonly close: string
  /** Grammars of the body; the first that may begin with the body's first character reads it. */
  readonly bodies: readonly Grammar[]
  /** Opening markers of the sections that may stand inside this one, as these spell them. */
  readonly wraps?: readonly string[]
  /** `line-start`: outside another section the opener counts only at the start of a line. */
  readonly placement?: 'anywhere' | 'line-start'
}

/** A section that holds reasoning. Its opener counts only at the start of a line. */
export interface ReasoningSection {
  readonly holds: 'reasoning'
  readonly open: string
  readonly close: string
}

export interface Dialect {
  readonly name: string
  /** Model families that write it. */
  readonly models: readonly string[]
  readonly sections: readonly (CallSection | ReasoningSection)[]
  /** Tokens that end a turn, such as `<|im_end|>`. At the very end of the input they vanish. */
  readonly turnEnds?: readonly string[]
  /** What begins another turn behind such a token, such as `<|im_start|>`. */
  readonly turnStarts?: readonly string[]
  /** Tags around the results of tools, which are not the model's to write. */
  readonly results?: readonly ResultTag[]
  /** Other families' close markers: directly behind a complete call they close it. */
  readonly closers?: readonly string[]
  /** Beginnings of notations that are not read. */
  readonly notations?: readonly Notation[]
}

/** The tag around a tool's result. */
export interface ResultTag {
  readonly open: string
  readonly close: string
}

/** A notation that stays text, and the warning that says so. */
export interface Notation {
  readonly literal: string
  readonly code: 'foreign-dialect' | 'possible-call'
}

const LONGEST_MARKER = 64
const NAME_HOLE = '{name}'

/** Checks a dialect and returns it. Throws `MisuseError` `invalid-dialect` that names the fault. */
export function defineDialect(dialect: Dialect): Dialect {
  const fault = findFault(dialect)
  if (fault)
    throw new MisuseError('invalid-dialect', `Dialect ${JSON.stringify(dialect.name)}: ${fault}`)
  return dialect
}

/** What is wrong with a marker, if anything is. */
function markerFault(marker: string): string | undefined {
  if (marker.length < 2 || marker.length > LONGEST_MARKER) {
    return `expected markers of 2 to ${LONGEST_MARKER} characters, found ${JSON.stringify(marker)}`
  }
  if (/[\ud800-\udfff]/.test(marker)) {
    return `expected characters of one UTF-16 unit in ${JSON.stringify(marker)}`
  }
  return /^\s/.test(marker)
    ? `expected no white space at the start of ${JSON.stringify(marker)}`
    : undefined
}

function literalsOf(dialect: Dialect): string[] {
  const { sections, turnEnds = [], turnStarts = [], results = [], closers = [] } = dialect
  const tags = [...sections, ...results].flatMap(({ open, close }) => [open, close])
  const notations = (dialect.notations ?? []).map(({ literal }) => literal)
  return [...tags, ...turnEnds, ...turnStarts, ...closers, ...notations]
}

function findFault(dialect: Dialect): string | undefined {
  const { name, sections } = dialect
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(name))
    return 'expected a name of lower-case letters, digits, “-” and “.”'
  if (sections.length === 0) return 'expected a section, found none'
  for (const literal of literalsOf(dialect)) {
    const fault = markerFault(literal)
    if (fault) return fault
  }
  const openers = sections.map((section) => section.open)
  for (const section of sections) {
    if (section.open === section.close) return `${JSON.stringify(section.open)} opens and closes`
    if (section.holds === 'reasoning') continue
    if (section.bodies.length === 0) return `expected a body for ${JSON.stringify(section.open)}`
    if (
      section.open.includes(NAME_HOLE) &&
      !/^<[^\s>{}]+(=\{name\}| \w+="\{name\}")>$/.test(section.open)
    ) {
      return `expected <TAG={name}> or <TAG ATTRIBUTE="{name}">, found ${JSON.stringify(section.open)}`
    }
    for (const inner of section.wraps ?? []) {
      if (!openers.includes(inner))
        return `${JSON.stringify(section.open)} wraps ${JSON.stringify(inner)}, which no section opens`
    }
  }
  const twice = openers.find((open, at) => openers.indexOf(open) !== at)
  return twice === undefined ? undefined : `${JSON.stringify(twice)} opens two sections`
}
