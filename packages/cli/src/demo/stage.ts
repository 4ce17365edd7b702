/**
 * Shows performances one after another: the first as a table of tokens and events, so that one sees
 * what becomes of what, the others in the view that `talaria parse` has. Paced for the eye on a
 * terminal, at full speed elsewhere.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamEvent } from '@talaria/core'
import { type Io, Sink } from '../io.ts'
import type { Output } from '../output/output.ts'
import {
  type ColorChoice,
  type Style,
  canMoveCursor,
  createStyle,
  wantsColor,
} from '../output/style.ts'
import { createTerminalView } from '../output/view.ts'
import { visible } from '../output/visible.ts'
import type { Beat, Performance } from './player.ts'
import { TokenTable } from './token-table.ts'

/** Milliseconds from one token to the next, and between two performances. */
const TABLE_PACE = 75
const VIEW_PACE = 14
const PAUSE = 500
const ERASE_LINE = '\x1b[K'
/** How much of a delay is made up for by going faster. */
const LAG = 100

export interface StageOptions {
  readonly io: Io
  readonly color: ColorChoice
  /** Do not wait between tokens. */
  readonly fast: boolean
}

export class Stage {
  private readonly io: Io
  private readonly color: ColorChoice
  private readonly sink: Sink
  private readonly paced: boolean
  private readonly style: Style
  /** Until when the next wait lasts, at least. */
  private due = 0
  /** Something has been printed. */
  private begun = false
  private hasStatus = false

  constructor({ io, color, fast }: StageOptions) {
    this.io = io
    this.color = color
    this.sink = new Sink(io)
    this.style = createStyle(wantsColor(color, io))
    this.paced = !fast && canMoveCursor(io)
  }

  /** Says what is being done until the next line is printed; only where it can be taken back. */
  async status(text: string): Promise<void> {
    if (canMoveCursor(this.io)) await this.sink.write(`${text}\r`)
    this.hasStatus = canMoveCursor(this.io)
  }

  /** Prints lines of the stage's own. */
  async say(...lines: readonly string[]): Promise<void> {
    const clear = this.hasStatus ? ERASE_LINE : ''
    this.hasStatus = false
    this.begun = true
    await this.sink.write(clear + lines.map((line) => `${line}\n`).join(''))
  }

  async show(performances: readonly Performance[]): Promise<void> {
    for (const [index, { title, question, beats }] of performances.entries()) {
      if (this.io.signal.aborted) return
      if (index > 0) await this.wait(PAUSE)
      await this.announce(`${index + 1}. ${title}`, question)
      if (index === 0) await this.table(beats)
      else await this.view(beats, createTerminalView(this.io, this.color))
    }
  }

  /**
   * Shows one answer in the view, as fast as it comes; nothing is printed before it begins. Gives
   * whether its source failed.
   */
  async showAnswer(
    title: string,
    question: string,
    events: AsyncIterable<StreamEvent>,
  ): Promise<boolean> {
    const view = createTerminalView(this.io, this.color)
    let announced = false
    let failed = false
    for await (const event of events) {
      if (!announced) await this.announce(title, question)
      announced = true
      failed ||= event.type === 'error'
      view.add(event)
      await this.sink.write(view.take())
    }
    return failed
  }

  async finish(): Promise<void> {
    await this.sink.finish()
  }

  private async announce(title: string, question: string): Promise<void> {
    const { bold, dim } = this.style
    if (this.begun) await this.say('')
    await this.say(bold(visible(title)), dim(`   ${visible(question)}`), '')
  }

  private async table(beats: AsyncIterable<Beat>): Promise<void> {
    const columns = canMoveCursor(this.io) ? this.io.stdout.columns || 80 : Infinity
    const table = new TokenTable(this.style, columns)
    await this.sink.write(table.head())
    for await (const beat of beats) {
      if ('token' in beat) {
        await this.sink.write(table.token(beat.token))
        await this.wait(TABLE_PACE)
      } else await this.sink.write(table.event(beat.event))
    }
    await this.sink.write(table.finish())
  }

  private async view(beats: AsyncIterable<Beat>, output: Output): Promise<void> {
    for await (const beat of beats) {
      if ('token' in beat) await this.wait(VIEW_PACE)
      else {
        output.add(beat.event)
        await this.sink.write(output.take())
      }
    }
  }

  /** Waits until `milliseconds` after the moment that the wait before this one was for. */
  private async wait(milliseconds: number): Promise<void> {
    if (!this.paced) return
    const now = performance.now()
    this.due = Math.max(this.due + milliseconds, now - LAG)
    if (this.due <= now) return
    // Ctrl-C ends the wait; the performance ends by the same signal.
    await sleep(this.due - now, undefined, { signal: this.io.signal }).catch(() => {})
  }
}
