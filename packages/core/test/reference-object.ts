/**
 * The slow twin's reading of one call as a JSON object: which key says what, what shapes arguments
 * come in, and when the object is complete.
 */
import { isCutCloser, isName, matchAt, type Tag } from './reference-tags.ts'
import { Broken, Json, type CallNotes, type JsonRules } from './reference-json.ts'

/** What one call is made of. */
export interface Found {
  /** Valid JSON; absent if the call has no arguments. */
  readonly arguments?: string
  /** Offset of the arguments, if they are the model's own object. */
  readonly argumentsAt?: number
  readonly end: number
  /** Default `end`. */
  readonly completeAt?: number
  /** Where keys stand that mean nothing. */
  readonly unknownKeys?: readonly (readonly [start: number, end: number])[]
}

/** The object is none that may stand without a tag. */
export class Unfit extends Error {
  readonly at: number

  constructor(at: number) {
    super('unfit')
    this.at = at
  }
}

/** The object is one around a list of calls, which begins at `at`. */
export class Envelope extends Error {
  readonly at: number

  constructor(at: number) {
    super('envelope')
    this.at = at
  }
}

export interface ObjectContext {
  readonly source: string
  readonly rules: JsonRules
  /** The tags around the call. */
  readonly tags: readonly Tag[]
  /** Names of a tool's declared parameters. */
  parameters(name: string): readonly string[] | undefined
  /** The object stands without a tag: it may have the usual keys only. */
  readonly bare?: boolean
}

const NAME_KEYS: readonly string[] = ['name', 'tool', 'function', 'tool_name']
const ARGUMENT_KEYS: readonly string[] = ['arguments', 'parameters', 'args', 'input']
const NEUTRAL_KEYS: readonly string[] = ['id', 'type']
const ENVELOPE_KEY = 'tool_calls'
const FUNCTION_KEY = 'function='

interface Other {
  readonly key: string
  readonly start: number
  readonly end: number
  /** The value's text. */
  readonly text: string
}

/** Reads the object that begins at `at`. */
export function readObject(context: ObjectContext, notes: CallNotes, at: number): Found {
  return new ObjectReader(context, notes).read(at)
}

class ObjectReader {
  private readonly context: ObjectContext
  private readonly notes: CallNotes
  private readonly json: Json
  private args: { readonly text: string; readonly at: number | undefined } | undefined
  private argumentsKey: string | undefined
  private described = false
  private readonly others: Other[] = []

  constructor(context: ObjectContext, notes: CallNotes) {
    const { source, rules, tags } = context
    this.context = context
    this.notes = notes
    this.json = new Json(
      source,
      notes,
      rules,
      tags.map((tag) => tag.closer),
    )
  }

  read(at: number): Found {
    const { json, notes } = this
    json.at = at
    beginRoot(json, this.context)
    let closer: number | undefined
    const closed = json.object(
      (key, start) => this.member(key, start, true),
      () => {
        closer = this.closerFor(json.at)
        return closer !== undefined
      },
      true,
    )
    if (!closed) json.repair('missing-brace')
    if (notes.name === undefined) json.fail(json.at - 1)
    if (!this.args && this.others.length > 0) this.lift()
    if (closed && notes.doubled) closer = this.endDoubled()
    return {
      ...(this.args && { arguments: this.args.text }),
      ...(this.args?.at !== undefined && { argumentsAt: this.args.at }),
      end: json.at,
      ...(closer !== undefined && { completeAt: closer }),
      ...(this.argumentsKey !== undefined && {
        unknownKeys: this.others.map(({ start, end }) => [start, end] as const),
      }),
    }
  }

  /** The second brace of a root that began with two, or a close marker in its place. */
  private endDoubled(): number | undefined {
    const { json, notes, context } = this
    const { at } = json
    if (json.space() === '}') {
      json.at++
      return undefined
    }
    const closer = endsDoubled(json.at, context)
    if (closer === undefined || notes.name === undefined) json.fail(json.at)
    json.repair('missing-brace')
    json.at = at
    return closer
  }

  /** The end of a close marker that stands for the missing brace. */
  private closerFor(at: number): number | undefined {
    const { source, rules, tags, bare } = this.context
    if (rules.strict || this.notes.name === undefined || !this.args) return undefined
    const closer = tags.map((tag) => matchAt(tag.closer, source, at)).find(Boolean)
    if (closer || bare) return closer?.end
    const rest = source.slice(at) + (rules.behind ?? '')
    return tags.some((tag) => isCutCloser(rest, tag)) ? source.length : undefined
  }

  private member(key: string, start: number, outer: boolean): void {
    const { json, notes, context } = this
    const end = json.at
    if (outer && key.startsWith(FUNCTION_KEY) && this.takeFunctionKey(key)) return
    const known = [...(outer ? NAME_KEYS : ['name']), ...ARGUMENT_KEYS, ...NEUTRAL_KEYS]
    const unnamed = outer && notes.name === undefined && this.argumentsKey === undefined
    const envelope = context.bare === true && unnamed && key === ENVELOPE_KEY
    if (context.bare && !known.includes(key) && !envelope) throw new Unfit(end)
    json.colon()
    if (envelope) throw new Envelope(json.at)
    const { first, at } = json
    if (outer && key === 'function' && first === '{')
      return void json.object((inner, innerStart) => this.member(inner, innerStart, false))
    if (NEUTRAL_KEYS.includes(key)) return json.value()
    if (outer ? NAME_KEYS.includes(key) : key === 'name') {
      if (!json.isQuote(first)) json.fail(at)
      const name = json.string()
      return this.setName(name, json.at)
    }
    // A marker, or the end, begins no value.
    if (first === undefined || first === '<') json.fail(at)
    if (!ARGUMENT_KEYS.includes(key)) {
      notes.committed = true
      this.described ||= key === 'description'
      this.refuseDeclaration(at)
      const mark = json.out.length
      json.inside = true
      json.value()
      json.inside = false
      this.others.push({ key, start, end, text: json.out.slice(mark) })
      return
    }
    if (this.argumentsKey !== undefined) json.fail(at)
    notes.committed = true
    this.argumentsKey = key
    this.refuseDeclaration(at)
    this.args = { text: readArguments(json), at: first === '{' ? at : undefined }
  }

  /** `{"function=NAME", …}` */
  private takeFunctionKey(key: string): boolean {
    const { json } = this
    if (this.context.rules.strict) return false
    const next = json.space()
    if (next !== ',' && next !== '}') return false
    json.repair('function-key')
    this.setName(key.slice(FUNCTION_KEY.length), json.at + 1)
    return true
  }

  /** `end`: behind the character that proves the name. */
  private setName(text: string, end: number): void {
    const { notes, json } = this
    const name = text.trim()
    if (!isName(name) || (notes.name !== undefined && notes.name !== name))
      json.fail(end - 1, false, end)
    if (notes.name === undefined) notes.provedAt = end
    notes.name = name
  }

  private refuseDeclaration(at: number): void {
    if (this.described && this.argumentsKey === 'parameters') throw new Broken('declaration', at)
  }

  /** The keys beside the name are the arguments, if the tool declares them all. */
  private lift(): void {
    const { json, notes, context } = this
    const declared = context.parameters(notes.name!)
    const fit = declared && this.others.every(({ key }) => declared.includes(key))
    if (context.rules.strict || !fit) json.fail(json.at - 1)
    json.repair('lifted-arguments')
    const members = this.others.map(({ key, text }) => `${JSON.stringify(key)}:${text}`)
    this.args = { text: `{${members.join(',')}}`, at: undefined }
  }
}

/** The root of a call begins: its braces may be doubled, and then all others may. */
export function beginRoot(
  json: Json,
  { source, rules }: Pick<ObjectContext, 'source' | 'rules'>,
): void {
  if (rules.strict || source[json.at + 1] !== '{') return
  json.notes.doubled = true
  json.repair('doubled-braces')
}

/** Where a close marker ends that stands for the second brace of a root, whole or cut. */
export function endsDoubled(
  at: number,
  { source, rules, tags }: Pick<ObjectContext, 'source' | 'rules' | 'tags'>,
): number | undefined {
  const closer = tags.map((tag) => matchAt(tag.closer, source, at)).find(Boolean)
  const rest = source.slice(at) + (rules.behind ?? '')
  return closer?.end ?? (tags.some((tag) => isCutCloser(rest, tag)) ? source.length : undefined)
}

/** Arguments in one of their shapes; the text of an object. */
function readArguments(json: Json): string {
  const { first, at, rules } = json
  if (first === '{') return readInside(json)
  if (rules.strict) json.fail(at)
  if (first === 'n' || first === 'N') json.atom()
  else if (first === '[') readEmptyList(json)
  else if (json.isQuote(first)) return readDecoded(json, 1)
  else json.fail(at)
  json.repair('empty-arguments')
  return '{}'
}

function readInside(json: Json): string {
  const mark = json.out.length
  json.inside = true
  json.object()
  json.inside = false
  return json.out.slice(mark)
}

function readEmptyList(json: Json): void {
  json.at++
  if (json.space() !== ']') json.fail(json.at)
  json.at++
}

/** A string that holds the arguments' JSON. */
function readDecoded(outer: Json, level: number): string {
  const { value, offsets, closed } = outer.units()
  if (value === '' && closed) {
    outer.repair('empty-arguments')
    return '{}'
  }
  const endsAt = closed ? outer.offset(outer.at - 1) : outer.endsAt
  const json = new Json(value, outer.notes, outer.rules, [], { offsets, endsAt })
  const first = json.space()
  let text = '{}'
  if (first === '{') {
    json.repair('decoded-arguments')
    text = readInside(json)
    const glued = json.space() !== undefined
    if (glued && json.rules.gluedArguments === 'first') {
      json.repair('first-arguments')
      json.at = value.length
    }
  } else if (first === '[') {
    json.repair('decoded-arguments')
    readEmptyList(json)
    json.repair('empty-arguments')
  } else if (json.isQuote(first) && level < 2) {
    json.repair('decoded-arguments')
    text = readDecoded(json, level + 1)
  } else json.fail(json.at)
  if (json.space() !== undefined) json.fail(json.at)
  if (!closed) json.fail(value.length, true)
  return text
}
