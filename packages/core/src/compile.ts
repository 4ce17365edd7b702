/**
 * Puts dialects together for the loop: one automaton over all their markers, and for each marker
 * what it opens or closes. Dialects that share a tag share its entry: their grammars are tried in
 * order, and the body's first character chooses.
 *
 * A tag is matched by its literal beginning and the character after it, so that `<tool_call >` and
 * `<tool_call name="f">` begin with the markers `<tool_call` + blank: a header follows.
 */
import type { Grammar } from './bodies/body.ts'
import type { CallSection, Dialect, ReasoningSection } from './dialect.ts'
import { MisuseError } from './errors.ts'
import { ATTRIBUTES, CLOSER, type HeaderKind, NAME } from './headers.ts'
import { MarkerAutomaton } from './markers.ts'

/** A way to open a call section, after all dialects in use. */
export interface Tag {
  readonly open: string
  readonly close: string
  /** What opens and closes tags of this kind, whatever their header: `<tool_call`. */
  readonly stem: string
  readonly grammars: Grammar[]
  readonly wraps: Set<string>
  readonly lineStart: boolean
}

export const CALL_OPENER = 0
export const CALL_CLOSER = 1
export const REASONING_OPENER = 2
export const REASONING_CLOSER = 3
export type MarkerKind = 0 | 1 | 2 | 3

/** What a literal marker means. */
export interface Marker {
  readonly literal: string
  readonly kind: MarkerKind
  /** The header that follows the literal, if it is not the whole marker. */
  readonly header: HeaderKind | undefined
  /** For openers: the tag without and with a name in its header. */
  tag: Tag | undefined
  namedTag: Tag | undefined
  /** The close marker, as its section spells it. */
  readonly close: string
}

export interface Compiled {
  readonly automaton: MarkerAutomaton
  readonly markers: readonly Marker[]
  readonly tags: readonly Tag[]
  /** Characters that may begin a marker, and “`” and “~”. */
  readonly stopCharacters: readonly string[]
  /** Matches one of them. */
  readonly stopPattern: RegExp
  /** By code: `STOP` for such characters, `NEWLINE` for the line break, 0 for others. */
  readonly stops: Uint8Array
  /** 1 for all of those and for first halves of surrogate pairs: a chunk without is plain text. */
  readonly marked: Uint8Array
}

export const STOP = 1
const NEWLINE = 2

const TAG_SPACES = [' ', '\t', '\n', '\r']
/** What is known of the lists that begin with the same dialects. */
interface Known {
  compiled?: Compiled
  readonly longer: WeakMap<Dialect, Known>
}
const known: Known = { longer: new WeakMap() }

/** Compiles a list of dialects; the same list is compiled once, for as long as its dialects live. */
export function compile(dialects: readonly Dialect[]): Compiled {
  let list = known
  for (const dialect of dialects) {
    let longer = list.longer.get(dialect)
    if (!longer) list.longer.set(dialect, (longer = { longer: new WeakMap() }))
    list = longer
  }
  list.compiled ??= build(dialects)
  return list.compiled
}

function build(dialects: readonly Dialect[]): Compiled {
  const tags = new Map<string, Tag>()
  const markers = new Map<string, Marker>()
  for (const { sections } of dialects) {
    for (const section of sections) {
      if (section.holds === 'reasoning') addReasoning(markers, section)
      else addCalls(markers, tags, section)
    }
  }
  const list = [...markers.values()]
  const automaton = new MarkerAutomaton(list.map((marker) => marker.literal))
  const stopCharacters = [...new Set([...list.map((marker) => marker.literal.charAt(0)), '`', '~'])]
  const stops = new Uint8Array(65_536)
  for (const character of stopCharacters) stops[character.charCodeAt(0)] = STOP
  stops['\n'.charCodeAt(0)] = NEWLINE
  const marked = stops.map((stop) => (stop === 0 ? 0 : 1)).fill(1, 0xd800, 0xdc00)
  const pattern = stopCharacters.map((character) => character.replace(/[\]\\^-]/, '\\$&')).join('')
  return {
    automaton,
    markers: list,
    tags: [...tags.values()],
    stopCharacters,
    stopPattern: new RegExp(`[${pattern}]`, 'g'),
    stops,
    marked,
  }
}

function addReasoning(markers: Map<string, Marker>, { open, close }: ReasoningSection): void {
  put(markers, {
    literal: open,
    kind: REASONING_OPENER,
    header: undefined,
    tag: undefined,
    namedTag: undefined,
    close,
  })
  put(markers, {
    literal: close,
    kind: REASONING_CLOSER,
    header: undefined,
    tag: undefined,
    namedTag: undefined,
    close,
  })
}

function addCalls(
  markers: Map<string, Marker>,
  tags: Map<string, Tag>,
  section: CallSection,
): void {
  const tag = addTag(tags, section)
  const { open, close } = section
  if (open.endsWith('={name}>')) {
    putOpener(markers, open.slice(0, -'{name}>'.length), NAME, close).namedTag = tag
  } else if (open.includes('{name}')) {
    for (const space of TAG_SPACES)
      putOpener(markers, tag.stem + space, ATTRIBUTES, close).namedTag = tag
  } else {
    putOpener(markers, open, undefined, close).tag = tag
    if (isTag(open)) {
      for (const space of TAG_SPACES)
        putOpener(markers, tag.stem + space, ATTRIBUTES, close).tag = tag
    }
  }
  const closer = { kind: CALL_CLOSER, tag: undefined, namedTag: undefined, close } as const
  put(markers, { ...closer, literal: close, header: undefined })
  if (isTag(close)) {
    for (const space of TAG_SPACES)
      put(markers, { ...closer, literal: close.slice(0, -1) + space, header: CLOSER })
  }
}

function addTag(
  tags: Map<string, Tag>,
  { open, close, bodies, wraps, placement }: CallSection,
): Tag {
  let tag = tags.get(open)
  if (!tag) {
    const stem = /^<[^\s>=]+/.exec(open)?.[0] ?? open
    const lineStart = placement === 'line-start'
    tag = { open, close, stem, grammars: [], wraps: new Set(), lineStart }
    tags.set(open, tag)
  }
  for (const grammar of bodies) if (!tag.grammars.includes(grammar)) tag.grammars.push(grammar)
  for (const inner of wraps ?? []) tag.wraps.add(inner)
  return tag
}

function isTag(marker: string): boolean {
  return /^<[^\s>]+>$/.test(marker)
}

function putOpener(
  markers: Map<string, Marker>,
  literal: string,
  header: HeaderKind | undefined,
  close: string,
): Marker {
  return put(markers, {
    literal,
    kind: CALL_OPENER,
    header,
    tag: undefined,
    namedTag: undefined,
    close,
  })
}

function put(markers: Map<string, Marker>, marker: Marker): Marker {
  const same = markers.get(marker.literal)
  if (!same) markers.set(marker.literal, marker)
  else if (same.kind !== marker.kind || (opens(marker) && same.close !== marker.close)) {
    const fault = `The dialects use ${JSON.stringify(marker.literal)} in two ways.`
    throw new MisuseError('conflicting-dialects', fault)
  }
  return same ?? marker
}

function opens({ kind }: Marker): boolean {
  return kind === CALL_OPENER || kind === REASONING_OPENER
}
