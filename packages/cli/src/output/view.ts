/**
 * The answer as a person reads it: text as it comes, reasoning dimmed behind a bar, a block per
 * call, warnings, a line that sums up.
 *
 * On a terminal an open call is painted in place below everything else; once it has ended its rows
 * stay in the scrollback. Only open calls are ever painted over, so while one is open other events
 * wait. Without a terminal a call is printed when it ends, and no cursor moves.
 */
import type { Finish, StreamEvent, ToolCallEnd, ToolCallError } from '@talaria/core'
import type { Io } from '../io.ts'
import { CallBlock, count } from './call-block.ts'
import { toJson } from './json.ts'
import type { Output } from './output.ts'
import { Region } from './region.ts'
import { type ColorChoice, type Style, canMoveCursor, createStyle, wantsColor } from './style.ts'
import { VisibleText, fit, visible } from './visible.ts'

/** The size of the terminal, asked anew at each painting. */
interface TerminalSize {
  readonly columns: () => number
  readonly rows: () => number
}

export interface ViewOptions {
  readonly style: Style
  /** Absent: the output is no terminal, or one that can't move its cursor. */
  readonly terminal?: TerminalSize | undefined
}

export function createView(options: ViewOptions): Output {
  return new View(options)
}

/** What was printed last, to know where a blank line belongs. */
type Kind = 'text' | 'reasoning' | 'call' | 'note' | 'summary'

interface Prose {
  readonly kind: 'text' | 'reasoning'
  readonly visible: VisibleText
  /** Line breaks at the end of what came; they are shown once something follows. */
  breaks: number
}

class View implements Output {
  private readonly style: Style
  private readonly terminal: TerminalSize | undefined
  private ready = ''
  private lineStart = true
  private kind: Kind | undefined
  /** Open text and reasoning, by index. */
  private readonly prose = new Map<number, Prose>()
  /** The part whose last line the cursor stands on. */
  private writing: Prose | undefined
  /** Calls that are open, or that ended while an earlier one is open. */
  private blocks: CallBlock[] = []
  private readonly region = new Region()
  /** Events that wait until no call is open. */
  private waiting: StreamEvent[] = []
  /** Warnings and errors that wait for the end of the open text. */
  private notes: string[] = []
  private calls = 0
  private failed = 0

  constructor({ style, terminal }: ViewOptions) {
    this.style = style
    this.terminal = terminal
  }

  add(event: StreamEvent): void {
    switch (event.type) {
      case 'tool-call-start':
        this.open(new CallBlock(event, this.style, this.terminal?.columns()))
        return
      case 'tool-call-delta':
        this.blocks.find(({ index }) => index === event.index)?.grow(event.delta)
        return
      case 'tool-call-end':
      case 'tool-call-error':
        this.close(event)
        return
      default:
        if (this.blocks.length > 0) this.waiting.push(event)
        else this.show(event)
    }
  }

  take(): string {
    this.paint()
    const { ready } = this
    this.ready = ''
    return ready
  }

  private show(event: Exclude<StreamEvent, { type: `tool-call-${string}` }>): void {
    const { style } = this
    switch (event.type) {
      case 'stream-start':
        return
      case 'text-start':
      case 'reasoning-start': {
        const kind = event.type === 'text-start' ? 'text' : 'reasoning'
        this.prose.set(event.index, { kind, visible: new VisibleText(), breaks: 0 })
        return
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const prose = this.prose.get(event.index)
        if (prose) this.write(prose, prose.visible.take(event.delta))
        return
      }
      case 'text-end':
      case 'reasoning-end': {
        const prose = this.prose.get(event.index)
        if (prose) this.write(prose, prose.visible.end())
        this.prose.delete(event.index)
        this.showNotes()
        return
      }
      case 'part': {
        const value = fit(visible(toJson({ value: event.value })), 200)
        this.note(`${style.cyan('◆')} ${event.kind} ${style.dim(value)}`)
        return
      }
      case 'warning':
        this.note(`${style.yellow(`! ${event.code}`)}  ${visible(event.message)}`)
        return
      case 'error':
        this.note(style.red(`✗ ${visible(event.code)}: ${visible(event.message)}`))
        return
      case 'finish':
        this.prose.clear()
        this.showNotes()
        this.separate('summary')
        this.print(`${this.summary(event)}\n`)
    }
  }

  /** Prints prose. Line breaks at the beginning and at the end of a part are layout. */
  private write(prose: Prose, text: string): void {
    const going = this.writing === prose
    let start = 0
    while (!going && text[start] === '\n') start++
    let end = text.length
    while (end > start && text[end - 1] === '\n') end--
    if (end === start) {
      // Nothing but line breaks. Before the first character of the part they count for nothing.
      if (going) prose.breaks += text.length
      return
    }
    if (!going) this.separate(prose.kind)
    const shown = '\n'.repeat(going ? prose.breaks : 0) + text.slice(start, end)
    prose.breaks = text.length - end
    this.writing = prose
    if (prose.kind === 'text') return this.print(shown)
    // A bar tells reasoning from text where there are no colours.
    this.print(this.style.dim((going ? '' : BAR) + shown.replaceAll('\n', `\n${BAR}`)))
  }

  private note(line: string): void {
    this.notes.push(line)
    if (this.prose.size === 0) this.showNotes()
  }

  private showNotes(): void {
    for (const line of this.notes) {
      this.separate('note')
      this.print(`${line}\n`)
    }
    this.notes = []
  }

  private open(block: CallBlock): void {
    if (this.blocks.length === 0 && this.terminal) this.separate('call')
    this.blocks.push(block)
  }

  private close(event: ToolCallEnd | ToolCallError): void {
    if (event.type === 'tool-call-error') this.failed++
    else this.calls++
    let block = this.blocks.find(({ index, outcome }) => index === event.index && !outcome)
    if (!block) {
      block = new CallBlock(event, this.style, this.terminal?.columns())
      this.open(block)
    }
    block.end(event)
    // What ended stays where it is; it can be left for good once nothing above it changes.
    const open = this.blocks.findIndex(({ outcome }) => !outcome)
    const ended = this.blocks.splice(0, open < 0 ? this.blocks.length : open)
    if (ended.length === 0) return
    const rows = ended.flatMap((one) => one.final())
    if (this.terminal) {
      const columns = this.terminal.columns()
      this.ready += this.region.paint([...rows, ...this.liveRows()], columns)
      this.region.release(rows.length)
      this.lineStart = false
      if (this.blocks.length === 0) this.print('\n')
    } else {
      this.separate('call')
      this.print(rows.map(({ text }) => `${text}\n`).join(''))
    }
    if (this.blocks.length > 0) return
    const { waiting } = this
    this.waiting = []
    for (const one of waiting) this.add(one)
  }

  private paint(): void {
    if (!this.terminal || this.blocks.length === 0) return
    this.ready += this.region.paint(this.liveRows(), this.terminal.columns())
    this.lineStart = false
  }

  /** The open region: as many rows for each call as there is room for, the latest calls first. */
  private liveRows(): ReturnType<CallBlock['live']> {
    const { blocks, terminal } = this
    if (!terminal || blocks.length === 0) return []
    const height = Math.max(1, terminal.rows() - 1)
    const shown = blocks.slice(-height)
    const budget = Math.floor(height / shown.length)
    return shown.flatMap((block) => block.live(budget, terminal.columns()))
  }

  /** Begins a new line, with a blank one before it unless alike things follow each other. */
  private separate(kind: Kind): void {
    if (!this.lineStart) this.print('\n')
    const alike = this.kind === kind && (kind === 'call' || kind === 'note')
    if (this.kind !== undefined && !alike) this.print('\n')
    this.kind = kind
    this.writing = undefined
  }

  private print(text: string): void {
    if (text === '') return
    this.ready += text
    this.lineStart = text.endsWith('\n')
  }

  private summary({ reason, rawReason, usage }: Finish): string {
    const { style } = this
    const facts = [this.calls === 0 ? 'no calls' : count(this.calls, 'call')]
    if (this.failed > 0) facts.push(style.red(`${this.failed} failed`))
    const { inputTokens, outputTokens } = usage ?? {}
    if (inputTokens !== undefined || outputTokens !== undefined) {
      const tokens = [
        inputTokens === undefined ? [] : [`${inputTokens.toLocaleString('en-US')} in`],
        outputTokens === undefined ? [] : [`${outputTokens.toLocaleString('en-US')} out`],
      ]
      facts.push(`tokens: ${tokens.flat().join(', ')}`)
    }
    const raw = rawReason === undefined ? '' : ` (${visible(rawReason)})`
    const fine = reason === 'stop' || reason === 'tool-calls'
    const color = fine ? style.green : reason === 'error' ? style.red : style.yellow
    facts.push(`finish: ${color(visible(reason))}${raw}`)
    return facts.join(style.dim(' · '))
  }
}

const BAR = '│ '

/** The view for a command's output: live on a terminal, plain lines elsewhere. */
export function createTerminalView(io: Io, color: ColorChoice): Output {
  const { stdout } = io
  return createView({
    style: createStyle(wantsColor(color, io)),
    terminal: canMoveCursor(io)
      ? { columns: () => stdout.columns || 80, rows: () => stdout.rows || 24 }
      : undefined,
  })
}
