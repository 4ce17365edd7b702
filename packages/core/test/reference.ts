/**
 * The slow twin: reads a whole text as the Hermes family does, with any look-ahead it likes.
 *
 * It goes through the text character by character, asks at each one whether a marker stands there,
 * and reads a call by recursive descent. It shares no code with the machine, so the two can only
 * agree by reading the same contract. It knows no cut and no limit.
 */
import { isDeepStrictEqual } from 'node:util'
import type { MachineOptions, Tool } from '../src/options.ts'
import {
  type ReadCall,
  readBareCalls,
  readCalls,
  type ReadFailure,
  type ReadWarning,
  type Run,
} from './reference-calls.ts'
import { type CallRules, closerAt, Openers, type Opening } from './reference-openers.ts'
import {
  BRACKET_MARKERS,
  CALL_MARKER,
  matchAt,
  NAME_ATTRIBUTE,
  NAMED_FUNCTION,
  NAMED_TOOL_CALL,
  NOTATIONS,
  REASONING,
  RESULT,
  type Tag,
  TAGS,
  TOOL_CALL,
  TURN_END,
} from './reference-tags.ts'

export type { ReadCall, ReadFailure, ReadWarning } from './reference-calls.ts'

export interface Prose {
  readonly kind: 'text' | 'reasoning'
  text: string
}

export type ReadPart = Prose | ReadCall | ReadFailure

export interface Reading {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ReadCall[]
  readonly failed: readonly ReadFailure[]
  readonly parts: readonly ReadPart[]
  /** In no order. */
  readonly warnings: readonly ReadWarning[]
}

/** The machine's own options, without limits and what changes no reading. */
export type ReadOptions = Omit<
  MachineOptions,
  'explain' | 'generateId' | 'limits' | 'patches' | 'tagAliases' | 'trace' | 'whitespace'
>

/** Arguments longer than this are not compared. */
const LONGEST_COMPARED = 65_536

/** Reads a whole text. */
export function read(source: string, options: ReadOptions = {}): Reading {
  const turnEnds = options.specialTokens === 'keep' ? [] : source.matchAll(TURN_END)
  for (const { index, 1: role } of turnEnds) {
    // Where a marker is looked for, the input ends before the token.
    const reader = new Reader(source.slice(0, index), options, 0, source.charAt(index))
    reader.read()
    if (reader.opaque) continue
    if (!reader.over) {
      const code = role ? 'fabricated-turn' : 'special-token'
      reader.warnings.push({ code, start: index })
    }
    return reader.reading()
  }
  const reader = new Reader(source, options)
  reader.read()
  return reader.reading()
}

class Reader {
  readonly warnings: ReadWarning[] = []
  readonly parts: ReadPart[] = []
  /** The input ended inside a string. */
  opaque = false
  /** What follows is discarded. */
  over = false
  private readonly source: string
  private readonly options: ReadOptions
  private readonly rules: CallRules
  private readonly openers: Openers
  /** Tools are off: every call is text. */
  private readonly off: boolean
  private at = 0
  private prose: Prose | undefined
  /** White space that belongs to the next prose, if there is any. */
  private space = ''
  /** Tags that closed without their marker, which may still come. */
  private late: readonly Tag[] = []
  /** A call object may begin that has no opener. */
  private fresh = true
  private lineStart = true
  private fence = ''
  /** Behind the line that opened it. */
  private inFence = false
  private inline = 0
  private blockQuote = false
  /** In reasoning in which calls count. */
  private thinking = false
  /** Openers before this offset belong to one that was warned of. */
  private watched = 0

  constructor(source: string, options: ReadOptions, start = 0, behind = '') {
    const { tools } = options
    this.source = source
    this.options = options
    const { strict, guessQuotes, curlyQuotes, gluedArguments } = options
    this.rules = {
      strict: strict === true,
      guessQuotes: guessQuotes === true,
      curlyQuotes: curlyQuotes === true,
      gluedArguments: gluedArguments ?? 'fail',
      stripOrphanTags: options.stripOrphanTags === true,
      behind,
      parametersOf: tools && new Map(tools.map(parametersOf)),
    }
    this.openers = new Openers(source, this.rules)
    this.off = tools?.length === 0 || options.toolChoice === 'none'
    this.at = start
  }

  reading(): Reading {
    const { parts, warnings } = this
    const joined = (kind: Prose['kind']): string =>
      parts.map((part) => (part.kind === kind ? part.text : '')).join('')
    return {
      text: joined('text'),
      reasoning: joined('reasoning'),
      calls: parts.filter((part) => part.kind === 'call'),
      failed: parts.filter((part) => part.kind === 'failed'),
      parts,
      warnings: [...warnings, ...this.suspects()],
    }
  }

  /** Calls that repeat an earlier one, and calls whose arguments hold a marker. */
  private suspects(): ReadWarning[] {
    const calls = this.parts.filter((part) => part.kind === 'call')
    const short = calls.filter((call) => call.arguments.length <= LONGEST_COMPARED)
    const repeated = short.filter((call, i) => short.slice(0, i).some((one) => isSame(call, one)))
    const marked = calls.filter((call) => CALL_MARKER.test(call.arguments))
    return [
      ...repeated.map(({ start }) => ({ code: 'duplicate-call', start }) as const),
      ...marked.map(({ start }) => ({ code: 'suspicious-arguments', start }) as const),
    ]
  }

  read(): void {
    const { startIn } = this.options
    if (startIn === 'reasoning') this.readBegunReasoning()
    if (startIn === 'call' && !this.off && this.openers.bodyFollows(0, TOOL_CALL))
      this.readCalls({ tag: TOOL_CALL, start: 0, body: 0 })
    this.readText()
  }

  readText(): void {
    while (this.at < this.source.length && !this.over) this.step()
  }

  // ---- prose

  private step(): void {
    if (this.readRefuted() || this.readMessageStart()) return
    if (!this.quoted && (this.readReasoningMarker() || this.readBareLine() || this.readResult()))
      return
    if (!this.hidden && (this.readLate() || this.readOpening())) return
    this.warnOfNotation()
    this.watch(this.off ? 'call-while-disabled' : 'quoted-call')
    if (this.readOrphanOfReasoning() || this.readOrphan()) return
    this.character()
  }

  /** What was read behind an opener that opens nothing is text, in which no marker counts. */
  private readRefuted(kind: Prose['kind'] = 'text'): boolean {
    const { refuted } = this.openers
    if (refuted?.from !== this.at || refuted.to === this.at) return false
    if (bracketMarkerAt(this.source, this.at)) return false
    this.readTo(refuted.to, kind)
    return true
  }

  /** Any opener or closer of reasoning that counts. */
  private readReasoningMarker(): boolean {
    const { source, at } = this
    const opened = REASONING.find(([open]) => source.startsWith(open, at))
    if (opened && this.lineStart) {
      this.endPart()
      this.at += opened[0].length
      this.readReasoning([opened[1]])
      return true
    }
    const closed = REASONING.find(([, close]) => source.startsWith(close, at))
    if (!closed || source.slice(0, at).trim() !== '') return false
    this.endPart()
    this.at += closed[1].length
    this.fresh = true
    return true
  }

  /** The close marker of a tag that counted as closed. */
  private readLate(): boolean {
    const { source, at } = this
    const late = this.late.find((tag) => matchAt(tag.closer, source, at))
    if (!late) return false
    this.late = this.late.filter((tag) => tag !== late)
    this.at = matchAt(late.closer, source, at)!.end
    if (this.prose) this.lineStart = false
    else this.endPart()
    return true
  }

  private readOpening(): boolean {
    const opening = this.off ? undefined : this.openers.openingAt(this.at, this.lineStart)
    if (!opening) return false
    this.readCalls(opening)
    return true
  }

  private readCalls(opening: Opening): void {
    this.endPart()
    const rules = { ...this.rules, thinking: this.thinking }
    this.take(readCalls(this.source, rules, this.openers, opening))
  }

  private take(run: Run): void {
    this.parts.push(...run.parts)
    this.warnings.push(...run.warnings)
    this.at = run.at
    this.late = run.late
    this.opaque = run.opaque
    this.endPart()
    const failed = run.parts.at(-1)
    if (failed?.kind === 'failed' && this.options.failedAsText) {
      this.put(this.thinking ? 'reasoning' : 'text', failed.raw)
      this.endPart()
    }
    // Brackets behind the call stand on the line, too.
    this.lineStart = /(^|\n)[ \t\r]*$/.test(this.source.slice(run.partEnd, run.at))
  }

  /** A message, or what follows reasoning, may be a call though no marker says so. */
  private readMessageStart(): boolean {
    const { source, at, options } = this
    if (!this.fresh || this.off || /\s/.test(source.charAt(at))) return false
    this.fresh = false
    if (/^(?:```|~~~)/.test(source.slice(at, at + 3))) return this.readFencedMessage()
    const lists = options.bareJson === 'whole-message' || options.bareJson === 'last-line'
    const list = lists && source[at] === '[' && !bracketMarkerAt(source, at)
    if (source[at] !== '{' && !list) return false
    this.readBare()
    return true
  }

  /** Call objects without a marker: behind them a close marker makes calls of them. */
  private readBare(): void {
    const { source, at, openers, rules, options } = this
    const bare = readBareCalls(source, rules, openers, at)
    if (!('parts' in bare)) {
      this.opaque = bare.opaque
      return this.readTo(bare.end)
    }
    const end = openers.afterSpace(bare.end)
    const closer = matchAt(TOOL_CALL.closer, source, end)
    const known = bare.parts.every(({ name }) => openers.isCallable(name))
    const whole = end === source.length && known
    if (!closer && !(whole && options.bareJson && options.bareJson !== 'off')) {
      if (whole) this.warnings.push({ code: 'possible-call', start: at })
      return this.readTo(bare.end)
    }
    if (closer) this.warnings.push({ code: 'missing-open-tag', start: at })
    this.endPart()
    const provedAt = closer?.end ?? Number.POSITIVE_INFINITY
    this.parts.push(...bare.parts.map((call) => ({ ...call, provedAt, completeAt: provedAt })))
    this.warnings.push(...bare.warnings)
    this.at = closer?.end ?? end
  }

  /** A message that is one fenced block of calls: they count if an option says so. */
  private readFencedMessage(): boolean {
    const { source, at, options } = this
    const counts = options.fencedCall === 'whole-message'
    const block = fencedBlock(source, at)
    if (!block) return false
    const content = source.slice(block.start, block.end).trim()
    if (!(counts ? /^[{[<]/ : /^[{[]/).test(content)) return false
    // Tags stand around all calls in the block, or around none.
    if (content[0] !== '<' && !/[}\]]$/.test(content)) return false
    const inner = new Reader(
      source.slice(0, block.end),
      { ...options, startIn: 'text', bareJson: 'whole-message', fencedCall: 'off' },
      block.start,
    )
    inner.readText()
    if (inner.parts.length === 0 || !inner.parts.every((part) => part.kind === 'call')) return false
    if (!counts) {
      this.warnings.push({ code: 'possible-call', start: at })
      return false
    }
    this.endPart()
    this.parts.push(...inner.parts)
    this.warnings.push(...inner.warnings)
    this.at = source.length
    return true
  }

  /** Characters in which no marker counts. */
  private readTo(end: number, kind: Prose['kind'] = 'text'): void {
    while (this.at < end) this.character(end, kind)
  }

  /** A call object without a marker may stand in the last line. */
  private readBareLine(): boolean {
    const { options, source, at } = this
    if (options.bareJson !== 'last-line' || this.off) return false
    if (!this.lineStart || source[at] !== '{') return false
    this.readBare()
    return true
  }

  /** A tool's result that the model wrote itself. */
  private readResult(): boolean {
    const { source, at } = this
    const result = matchAt(RESULT, source, at)
    if (!result) return false
    this.warnings.push({ code: 'fabricated-result', start: at })
    if (this.options.dropAfterFabricated) {
      this.endsOpenTag()
      this.over = true
      return true
    }
    const close = `</${result.group}>`
    const found = source.indexOf(close, result.end)
    this.readTo(found < 0 ? source.length : found + close.length)
    return true
  }

  private warnOfNotation(): void {
    if (this.quoted) return
    const found = NOTATIONS.find(([literal]) => this.source.startsWith(literal, this.at))
    if (found) this.warnings.push({ code: found[1], start: this.at })
  }

  /** A close marker of reasoning that closes nothing. True if it is no text. */
  private readOrphanOfReasoning(): boolean {
    const { source, at, quoted } = this
    const closed = REASONING.find(([, close]) => source.startsWith(close, at))
    if (!closed || quoted) return false
    this.warnings.push({ code: 'orphan-close-tag', start: at })
    return this.strip(at + closed[1].length)
  }

  /** A tag that opens or closes no call. True if it is no text. */
  private readOrphan(): boolean {
    const { source, at } = this
    if (this.openers.isSpent(at)) return this.strip(this.openers.tagAt(at)?.end)
    if (this.off || this.hidden) return false
    if (closerAt(source, at)) this.warnings.push({ code: 'orphan-close-tag', start: at })
    return this.strip(this.callTagEnd())
  }

  private strip(end: number | undefined): boolean {
    if (!this.options.stripOrphanTags || end === undefined) return false
    this.at = end
    this.lineStart = false
    // White space before it belongs to no part that could follow.
    this.space = ''
    return true
  }

  /** Where the opener or closer of a call at hand ends. */
  private callTagEnd(): number | undefined {
    const { source, at } = this
    const named = this.lineStart ? this.openers.functionAt(at) : undefined
    return (this.openers.tagAt(at) ?? closerAt(source, at) ?? named)?.end
  }

  /** Warns of an opener that does not count here, if the grammar of a call follows it. */
  private watch(code: 'call-while-disabled' | 'quoted-call' | 'call-in-reasoning'): void {
    const { at } = this
    const inReasoning = code === 'call-in-reasoning'
    if (at < this.watched || (inReasoning ? this.off : !this.off && !this.hidden)) return
    // A function without a wrapper would count nowhere else.
    const functions = !inReasoning && this.lineStart
    const watched = this.shapeEnd(at, TAGS, functions, code === 'quoted-call')
    if (watched === undefined) return
    this.watched = watched
    this.warnings.push({ code, start: at })
  }

  /** Behind the last opener at `at`, one in the other, if the grammar of a call begins there. */
  private shapeEnd(
    at: number,
    tags: readonly Tag[],
    functions: boolean,
    quoted: boolean,
  ): number | undefined {
    const { source, openers } = this
    const named = openers.functionAt(at)
    if (named && !functions) return undefined
    if (named) return this.argumentsBegin(named.end, NAMED_FUNCTION) ? named.end : undefined
    for (const tag of tags) {
      const opener = matchAt(tag.opener, source, at)
      if (!opener) continue
      if (tag === TOOL_CALL && NAME_ATTRIBUTE.test(opener.group))
        return this.argumentsBegin(opener.end, NAMED_TOOL_CALL) ? opener.end : undefined
      const body = openers.afterSpace(opener.end)
      const rest = source.slice(body)
      if (/^(?:\{\s*(?:["'{]|[\p{L}_$][\p{L}\p{N}_$-]*\s*:)|\[\s*\{)/u.test(rest)) return opener.end
      if (this.options.curlyQuotes && /^\{\s*“/.test(rest)) return opener.end
      const inner = rest.startsWith('<function=') ? body + '<function='.length : undefined
      const innerEnd = inner ?? openers.functionAt(body)?.end
      // What stands in a line that nothing quotes counts by itself.
      if (quoted && !this.hidesOver(source.slice(at, body))) return undefined
      if (tag.functions && innerEnd !== undefined) return innerEnd
      return this.shapeEnd(body, tag.inner, false, quoted)
    }
    return undefined
  }

  private argumentsBegin(at: number, { name }: Tag): boolean {
    const rest = this.source.slice(this.openers.afterSpace(at))
    return rest[0] === '{' || new RegExp(`^</${name}[ \\t\\r\\n>]`).test(rest)
  }

  /** One character of text, or one run of quote characters. */
  private character(end = Number.POSITIVE_INFINITY, kind: Prose['kind'] = 'text'): void {
    const { source, at } = this
    const fence = this.lineStart ? matchAt(/`{3,}|~{3,}/y, source, at)?.text : undefined
    const ticks = matchAt(/`+/y, source, at)?.text
    if (fence && !this.fence && !this.blockQuote) {
      this.fence = fence
      this.inFence = false
    } else if (ticks && !this.inFence && this.fence.startsWith('`')) {
      // A fence's info string has no backtick: it was inline code.
      this.inline = this.fence.length === ticks.length ? 0 : this.fence.length
      this.fence = ''
    } else if (fence && this.fence && fence.startsWith(this.fence)) {
      if (matchAt(/[ \t\r]*(\n|$)/y, source, at + fence.length)) this.fence = ''
    } else if (ticks && !this.fence && this.inline === 0) this.inline = ticks.length
    else if (ticks && this.inline === ticks.length) this.inline = 0
    else if (source[at] === '>' && this.lineStart && !this.fence) this.blockQuote = true
    const run = (fence ?? ticks ?? source.charAt(at)).slice(0, end - at)
    if (run === '\n') {
      this.lineStart = true
      this.inFence = true
      this.inline = 0
      this.blockQuote = false
    } else if (!/[ \t\r]/.test(run)) this.lineStart = false
    if (!/^\s*$/.test(run)) this.fresh = false
    this.put(kind, run)
    this.at += run.length
  }

  private get quoted(): boolean {
    return this.fence !== '' || this.inline > 0 || this.blockQuote
  }

  /** Whether that hides a call. */
  private get hidden(): boolean {
    const fenced = this.fence !== '' && !this.options.callsInFences
    return fenced || this.inline > 0 || this.blockQuote
  }

  /** Whether what hides a call goes on behind `text`: only a fence goes beyond a line break. */
  private hidesOver(text: string): boolean {
    return (this.fence !== '' && !this.options.callsInFences) || !text.includes('\n')
  }

  private put(kind: Prose['kind'], text: string): void {
    if (this.prose) {
      this.prose.text += text
      return
    }
    this.space += text
    if (this.space.trim() === '') return
    this.prose = { kind, text: this.space }
    this.parts.push(this.prose)
    this.space = ''
  }

  /** White space that no prose followed was layout. A part ends every quote. */
  private endPart(): void {
    this.prose = undefined
    this.space = ''
    this.fresh = false
    this.lineStart = true
    this.fence = ''
    this.inline = 0
    this.blockQuote = false
  }

  // ---- reasoning

  /** The opener stood in the prompt, or the model repeats it. */
  private readBegunReasoning(): void {
    const at = this.openers.afterSpace(0)
    const opened = REASONING.find(([open]) => this.source.startsWith(open, at))
    if (opened) this.at = at + opened[0].length
    this.readReasoning(opened ? [opened[1]] : REASONING.map(([, close]) => close))
  }

  /** Up to one of the closers; there are several if the opener stood in the prompt. */
  private readReasoning(closers: readonly string[]): void {
    const { options, source } = this
    const first = this.parts.length
    let end = this.reasoningEnd(closers)
    if (options.callsInReasoning === 'on') end = this.readThoughtAndCalls(closers)
    else if (end === undefined && options.callsInReasoning === 'at-end' && this.readRehearsed()) {
      this.warnings.push({ code: 'unclosed-reasoning', start: source.length })
      return
    } else this.readThought(end?.start ?? source.length)
    if (end === undefined) {
      this.warnings.push({ code: 'unclosed-reasoning', start: source.length })
      if (options.unclosedReasoning === 'text') this.makeText(first)
    }
    this.at = end?.end ?? source.length
    this.endPart()
    this.fresh = true
  }

  /** Reasoning that was never closed is text, unless a call in it has shown that it is reasoning. */
  private makeText(first: number): void {
    const parts = this.parts.slice(first)
    if (!parts.every(({ kind }) => kind === 'reasoning')) return
    this.parts.splice(first, Infinity, ...parts.map((part) => ({ ...part, kind: 'text' }) as Prose))
  }

  private readThought(end: number): void {
    const reads = this.options.callsInReasoning === 'at-end' && !this.off
    while (this.at < end) {
      const { at } = this
      const calls = reads ? this.openers.wrapperAt(at) : undefined
      if (calls) this.putCalls(calls, end)
      else if (!reads) this.watch('call-in-reasoning')
      if (this.at === at) this.put('reasoning', this.source.charAt(this.at++))
    }
  }

  /** Calls that would have counted at the end of the reasoning. */
  private putCalls(first: Opening, end: number): void {
    for (let opening: Opening | undefined = first; opening && opening.start < end;) {
      const { start } = opening
      this.warnings.push({ code: 'call-in-reasoning', start })
      const { at } = readCalls(this.source, this.rules, this.openers, opening)
      while (this.at < Math.min(at, end)) this.put('reasoning', this.source.charAt(this.at++))
      opening = this.openers.openingAt(this.openers.afterSpace(at), true)
    }
  }

  /** Reasoning in which calls are read as in text. */
  private readThoughtAndCalls(
    closers: readonly string[],
  ): { readonly start: number; readonly end: number } | undefined {
    const { source } = this
    const from = this.at
    this.thinking = true
    while (this.at < source.length) {
      const closed = this.closerOfReasoning(closers, from)
      if (closed) {
        this.endsOpenTag()
        this.thinking = false
        return closed
      }
      if (this.readRefuted('reasoning')) continue
      if (!this.hidden && (this.readLate() || this.readOpening())) continue
      this.watch(this.off ? 'call-while-disabled' : 'quoted-call')
      if (this.readOrphan()) continue
      this.character(Number.POSITIVE_INFINITY, 'reasoning')
    }
    this.thinking = false
    return undefined
  }

  /** What seemed to be text behind a call is a marker that ends its tag. */
  private endsOpenTag(): void {
    const last = this.warnings.findIndex(
      ({ code, start }) => code === 'trailing-text' && start === this.at,
    )
    if (last >= 0) this.warnings[last] = { code: 'unclosed-tag', start: this.at }
  }

  /** Where reasoning closes. */
  private reasoningEnd(
    closers: readonly string[],
  ): { readonly start: number; readonly end: number } | undefined {
    for (let start = this.at; start < this.source.length; start++) {
      const found = this.closerOfReasoning(closers, this.at, start)
      if (found) return found
    }
    return undefined
  }

  /** A close marker of reasoning that begins at `from`, unless it stands between backticks. */
  private closerOfReasoning(
    closers: readonly string[],
    from: number,
    start = this.at,
  ): { readonly start: number; readonly end: number } | undefined {
    const { source, options } = this
    const close = closers.find((closer) => source.startsWith(closer, start))
    if (close === undefined) return undefined
    const end = start + close.length
    const ticked = source[start - 1] === '`' && source[end] === '`' && start > from
    return ticked && options.quotedClosers !== 'close' ? undefined : { start, end }
  }

  /** Reasoning that was never closed and ends in calls and nothing else. */
  private readRehearsed(): boolean {
    const { source, options } = this
    for (let next = this.at; next < source.length;) {
      const at = next++
      const opening = this.openers.openingAt(at, isLineStart(source, this.at, at))
      if (!opening) continue
      // Nothing that a call holds is read, be it whole or not.
      next = readCalls(source, this.rules, this.openers, opening).at
      const rest = new Reader(source, { ...options, startIn: 'text' }, at)
      rest.readText()
      if (!rest.parts.every((part) => part.kind === 'call')) continue
      this.readThought(at)
      this.endPart()
      this.parts.push(...rest.parts)
      this.warnings.push(...rest.warnings)
      this.at = source.length
      return true
    }
    return false
  }
}

/** The content of a code block that stands at `at` and nothing behind it. */
function fencedBlock(
  source: string,
  at: number,
): { readonly start: number; readonly end: number } | undefined {
  const opener = matchAt(/(`{3,}|~{3,})[^`\n]*\n/y, source, at)
  if (!opener) return undefined
  const fence = opener.group
  const closer = new RegExp(`^[ \\t\\r]*${fence}${fence[0]!}*[ \\t\\r]*$`, 'm')
  const found = closer.exec(source.slice(opener.end))
  if (!found) return undefined
  const end = opener.end + found.index
  return source.slice(end + found[0].length).trim() === '' ? { start: opener.end, end } : undefined
}

/** A bracket begins a marker of its own, and no list. */
function bracketMarkerAt(source: string, at: number): boolean {
  return BRACKET_MARKERS.some((marker) => source.startsWith(marker, at))
}

function isLineStart(source: string, from: number, at: number): boolean {
  return /(^|\n)[ \t\r]*$/.test(source.slice(from, at))
}

function isSame(call: ReadCall, other: ReadCall): boolean {
  return call.name === other.name && isDeepStrictEqual(call.input, other.input)
}

function parametersOf(tool: Tool): readonly [string, readonly string[] | undefined] {
  const { name, parameters } = 'function' in tool ? tool.function : tool
  const { properties } = (parameters ?? {}) as { readonly properties?: object }
  return [name, properties && Object.keys(properties)]
}
