/** A terminal in memory: shows what a person would see after what was written. */
import xterm from '@xterm/headless'

export interface Screen {
  write(text: string): Promise<void>
  /** All lines, those that were scrolled out included, without blanks at their ends. */
  lines(): string[]
  /** The lines that are on the screen now. */
  visible(): string[]
  /** How many columns stand before the cursor. */
  column(): number
  resize(columns: number, rows: number): void
}

export function createScreen(columns: number, rows: number): Screen {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    // What the system does for a program that writes to a terminal.
    convertEol: true,
    scrollback: 10_000,
    allowProposedApi: true,
  })
  const read = (from: number): string[] => {
    const { active } = terminal.buffer
    const lines: string[] = []
    for (let row = from; row < active.length; row++) {
      lines.push(active.getLine(row)?.translateToString(true).trimEnd() ?? '')
    }
    while (lines.at(-1) === '') lines.pop()
    return lines
  }
  return {
    write: (text) => new Promise((done) => terminal.write(text, done)),
    lines: () => read(0),
    visible: () => read(terminal.buffer.active.baseY),
    column: () => terminal.buffer.active.cursorX,
    resize: (newColumns, newRows) => terminal.resize(newColumns, newRows),
  }
}
