/**
 * The tags that the slow twin knows, as regular expressions, and what else it looks for in a text:
 * reasoning, invented results, end-of-turn tokens.
 */

/** A kind of tag, and what may stand in it. */
export interface Tag {
  readonly opener: RegExp
  readonly closer: RegExp
  readonly name: string
  /** Opens or continues a tag of this kind when openers and closers are counted. */
  readonly counted: RegExp
  /** Whether objects with a name stand in it; else arguments alone, the name being in its header. */
  readonly objects: boolean
  /** Whether `<function=NAME>` may stand in it. */
  readonly functions: boolean
  readonly inner: readonly Tag[]
}

const BLANKS = '[ \\t\\r\\n]*'
const ATTRIBUTES = `((?:[ \\t\\r\\n]+[A-Za-z0-9_:-]+${BLANKS}=${BLANKS}(?:"[^"<\\n\`]*"|'[^'<\\n\`]*'))*)`
const NAMED = /<function=[^\S\r\n]*[^\s<>"'`]+[^\S\r\n]*>/
export const NAME_ATTRIBUTE: RegExp = /[ \t\r\n]name[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)')/
export const FUNCTION_NAME: RegExp = /<function=([^>\r\n<"'`]*)>/y

function defineTag(name: string, holds: Pick<Tag, 'objects' | 'functions' | 'inner'>): Tag {
  const opener = new RegExp(`<${name}${ATTRIBUTES}${BLANKS}>`, 'y')
  return {
    opener,
    closer: new RegExp(`</${name}${BLANKS}>`, 'y'),
    name,
    counted: name === 'function' ? new RegExp(`${opener.source}|${NAMED.source}`, 'y') : opener,
    ...holds,
  }
}

export const FUNCTION: Tag = defineTag('function', { objects: true, functions: false, inner: [] })
const FUNCTION_CALL: Tag = defineTag('function_call', {
  objects: true,
  functions: true,
  inner: [],
})
export const TOOL_CALL: Tag = defineTag('tool_call', {
  objects: true,
  functions: true,
  inner: [FUNCTION_CALL, FUNCTION],
})
/** `<tool_call name="NAME">` and `<function=NAME>`. */
export const NAMED_TOOL_CALL: Tag = { ...TOOL_CALL, objects: false, functions: false, inner: [] }
export const NAMED_FUNCTION: Tag = { ...FUNCTION, objects: false }
export const TAGS: readonly Tag[] = [TOOL_CALL, FUNCTION_CALL, FUNCTION]

/** Pairs of markers around reasoning. */
export const REASONING: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
]

const TOKENS: readonly string[] = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|eot_id|>',
  '<|eom_id|>',
]
const ROLES: readonly string[] = ['<|im_start|>', '<|start_header_id|>', '<start_of_turn>']
const TOKEN = TOKENS.map(escaped).join('|')

/** Where end-of-turn tokens begin, with white space alone up to what shows their meaning. */
export const TURN_END: RegExp = new RegExp(
  `(?=(?:${TOKEN})(?:\\s*(?:${TOKEN}))*\\s*($|${ROLES.map(escaped).join('|')}))`,
  'g',
)

const RESULTS = ['tool_response', 'tool_result', 'function_result', 'function_results']
const FOREIGN = [
  'parameter',
  'param',
  'invoke',
  'function_calls',
  'tool_calls',
  'arg_key',
  'arg_value',
]
export const RESULT: RegExp = new RegExp(`<(${RESULTS.join('|')})>`, 'y')

/** Notations that are not read, and what is said of them. */
export const NOTATIONS: readonly (readonly [string, 'foreign-dialect' | 'possible-call'])[] = [
  ['<tool-call>', 'foreign-dialect'],
  ['<toolcall>', 'foreign-dialect'],
  ['[Calling tool:', 'foreign-dialect'],
  ['[TOOL_CALL]', 'foreign-dialect'],
  ['[TOOL_CALLS]', 'foreign-dialect'],
  ['[TOOL_REQUEST]', 'foreign-dialect'],
  ['< tool_call >', 'possible-call'],
  ['<|tool_call|>', 'possible-call'],
]

/** Markers whose first character may begin a list, too. */
export const BRACKET_MARKERS: readonly string[] = [
  ...REASONING.flat(),
  ...NOTATIONS.map(([literal]) => literal),
].filter((marker) => marker.startsWith('['))

/** Other families' close markers. */
export const FOREIGN_CLOSER: RegExp = new RegExp(`</(?:${FOREIGN.join('|')})${BLANKS}>`, 'y')

const LITERALS: readonly string[] = [
  ...TAGS.flatMap(({ name }) => [`<${name}>`, `</${name}>`]),
  ...REASONING.flat(),
  ...TOKENS,
  ...ROLES,
  ...RESULTS.flatMap((name) => [`<${name}>`, `</${name}>`]),
  ...FOREIGN.map((name) => `</${name}>`),
]
const STEMS = [...TAGS.map(({ name }) => name), ...FOREIGN].join('|')

/** A marker, or the beginning of one that has a header: where it stands, no value stands. */
export const MARKER: RegExp = new RegExp(
  `^</?(?:${STEMS})[ \\t\\r\\n>]|^<function=|^(?:${[
    ...LITERALS.filter((literal) => !TOKENS.includes(literal) && !ROLES.includes(literal)),
    ...NOTATIONS.map(([literal]) => literal),
  ]
    .map(escaped)
    .join('|')})`,
)

/** A marker of a call, in arguments. */
export const CALL_MARKER: RegExp = new RegExp(
  `<(?:${TAGS.map(({ name }) => name).join('|')})[ >]|</(?:${STEMS})[ >]|<function=`,
)

function escaped(literal: string): string {
  return literal.replace(/[|[\]]/g, '\\$&')
}

/** `rest` is the beginning of a marker that the end of the text cuts. */
export function isCutMarker(rest: string): boolean {
  if (!rest.startsWith('<')) return false
  if (LITERALS.some((marker) => marker.startsWith(rest) && marker !== rest)) return true
  const closer = new RegExp(`^</(?:${STEMS})${BLANKS}$`)
  return closer.test(rest) || TAGS.some((tag) => isCutHeader(rest, tag))
}

/** `rest` is an opener, cut in its attributes or its name by the end of the text. */
export function isCutHeader(rest: string, { name }: Tag): boolean {
  return new RegExp(`^(?:${cutHeader(name)})`).test(rest)
}

/** The beginning of an opener, in its attributes or its name, up to the end of the text. */
export function cutHeader(name: string): string {
  const value = `=${BLANKS}(?:"[^"<\\n\`]*|'[^'<\\n\`]*)?`
  const attribute = `[ \\t\\r\\n]+(?:[A-Za-z0-9_:-]+${BLANKS}(?:${value})?)?`
  const attributes = `<${name}(?=[ \\t\\r\\n])${ATTRIBUTES}(?:${attribute})?$`
  return name === 'function' ? `${attributes}|<function=[^<>"'\`\\r\\n]*$` : attributes
}

/** The end of input cuts a close marker: in its name, or in the blanks behind it. */
export function isCutCloser(rest: string, { name }: Tag): boolean {
  const close = `</${name}>`
  return (rest.length > 1 && close.startsWith(rest)) || rest.trimEnd() === close.slice(0, -1)
}

/** A name has a letter or a digit, and no `<`, quote or line break. */
export function isName(name: string): boolean {
  return /[\p{L}\p{N}]/u.test(name) && !/[<"'`\r\n]/.test(name)
}

/** Outside quotes it has no white space either; blanks around it are the tag's. */
export function isBareName(name: string): boolean {
  return isName(name) && !/\s/.test(name.trim())
}

export interface Match {
  readonly text: string
  readonly end: number
  /** The first group, or the second one. */
  readonly group: string
}

export function matchAt(pattern: RegExp, source: string, at: number): Match | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(source)
  if (!found) return undefined
  return { text: found[0], end: at + found[0].length, group: found[1] ?? found[2] ?? '' }
}
