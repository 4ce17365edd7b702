/**
 * Puts dialects together for the loop: one automaton over all their markers, and for each marker
 * what it opens or closes. Dialects that share a tag share its entry: their grammars are tried in
 * order, and the body's first character chooses.
 *
 * A tag is matched by its literal beginning and the character after it, so that `<tool_call >` and
 * `<tool_call name="f">` begin with the markers `<tool_call` + blank: a header follows.
 */
import type { Grammar } from './bodies/body.ts'
import type { CallSection, Dialect, Notation, ReasoningSection } from './dialect.ts'
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
export const TURN_END = 4
export const TURN_START = 5
export const RESULT_OPENER = 6
export const RESULT_CLOSER = 7
export const NOTATION = 8
/** `{` at the start of a line, where a call object without a marker may begin. */
export const BARE = 9
/** A tag that structures a body. */
export const BODY_TAG = 10
export type MarkerKind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10

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
  /** For notations: the warning that they give. */
  readonly code?: Notation['code']
}

/** What `compile` takes: a dialect, or further ways to write calls that options ask for. */
export interface Compilable extends Dialect {
  /** A line may begin with a call object that has no marker. */
  readonly bareLines?: boolean
}

export interface Compiled {
  readonly automaton: MarkerAutomaton
  readonly markers: readonly Marker[]
  readonly tags: readonly Tag[]
  /** Characters that may begin a marker, and “`” and “~”. */
  readonly stopCharacters: readonly string[]
  /** Matches one of them. */
  readonly stopPattern: RegExp
  /** Characters that may begin a marker of a call. */
  readonly callStops: readonly string[]
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
export function compile(dialects: readonly Compilable[]): Compiled {
  let list = known
  for (const dialect of dialects) {
    let longer = list.longer.get(dialect)
    if (!longer) list.longer.set(dialect, (longer = { longer: new WeakMap() }))
    list = longer
  }
  list.compiled ??= build(dialects)
  return list.compiled
}

function build(dialects: readonly Compilable[]): Compiled {
  const tags = new Map<string, Tag>()
  const markers = new Map<string, Marker>()
  for (const { sections } of dialects) {
    for (const section of sections) {
      if (section.holds === 'reasoning') addReasoning(markers, section)
      else addCalls(markers, tags, section)
    }
  }
  for (const dialect of dialects) addOthers(markers, dialect)
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
    callStops: [...new Set(list.filter(isOfCall).map(({ literal }) => literal.charAt(0)))],
    stops,
    marked,
  }
}

function addReasoning(markers: Map<string, Marker>, { open, close }: ReasoningSection): void {
  put(markers, plain(open, REASONING_OPENER, close))
  put(markers, plain(close, REASONING_CLOSER, close))
}

/** What is neither of calls nor of reasoning; a literal that is a marker already stays one. */
function addOthers(markers: Map<string, Marker>, dialect: Compilable): void {
  const { turnEnds = [], turnStarts = [], results = [], closers = [], notations = [] } = dialect
  for (const literal of turnEnds) put(markers, plain(literal, TURN_END, literal))
  for (const literal of turnStarts) put(markers, plain(literal, TURN_START, literal))
  for (const { open, close } of results) {
    put(markers, plain(open, RESULT_OPENER, close))
    put(markers, plain(close, RESULT_CLOSER, close))
  }
  for (const literal of closers) putCloser(markers, literal)
  for (const { literal, code } of notations) {
    if (!markers.has(literal)) put(markers, { ...plain(literal, NOTATION, literal), code })
  }
  if (dialect.bareLines) put(markers, plain('{', BARE, ''))
}

/** A marker without a header that opens no call. */
function plain(literal: string, kind: MarkerKind, close: string): Marker {
  return { literal, kind, header: undefined, tag: undefined, namedTag: undefined, close }
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
  for (const { tags: bodyTags = [] } of section.bodies) {
    for (const literal of bodyTags) put(markers, plain(literal, BODY_TAG, literal))
  }
  // A marker that opens and closes is told apart by where it stands.
  if (open !== close) putCloser(markers, close)
}

function putCloser(markers: Map<string, Marker>, close: string): void {
  put(markers, plain(close, CALL_CLOSER, close))
  if (!isTag(close)) return
  for (const space of TAG_SPACES) {
    put(markers, { ...plain(close.slice(0, -1) + space, CALL_CLOSER, close), header: CLOSER })
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
  return put(markers, { ...plain(literal, CALL_OPENER, close), header })
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

function isOfCall({ kind }: Marker): boolean {
  return kind <= CALL_CLOSER
}

function opens({ kind }: Marker): boolean {
  return kind === CALL_OPENER || kind === REASONING_OPENER
}
