/** Bytes that a real llama-server sent, through the whole command. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf } from '@talaria/fixtures'
import { describe, expect, it } from 'vitest'
import { talaria } from './harness.ts'
import { createScreen } from './terminal.ts'

const folder = folderOf('recordings/llama-server')
const recordings = readdirSync(folder).filter((name) => name.endsWith('.body'))

/** Cuts bytes into pieces of changing sizes, most of them smaller than a frame. */
function cut(bytes: Uint8Array): Uint8Array[] {
  const sizes = [1, 13, 89, 2, 377, 34]
  const pieces: Uint8Array[] = []
  for (let start = 0; start < bytes.length;) {
    const size = sizes[pieces.length % sizes.length] ?? 1
    pieces.push(bytes.subarray(start, start + size))
    start += size
  }
  return pieces
}

it('finds recordings', () => {
  expect(recordings.length).toBeGreaterThan(50)
})

describe.each(recordings)('%s', (name) => {
  const bytes = readFileSync(join(folder, name))

  it('is known as an answer of a server, however it is cut', async () => {
    const log = ['parse', '--to', 'log']
    const { stdout } = await talaria([...log, '--input', 'sse'], { stdin: bytes })
    expect(stdout).toMatch(/^finish /m)
    expect((await talaria(log, { stdin: bytes })).stdout).toBe(stdout)
    expect((await talaria(log, { stdin: cut(bytes) })).stdout).toBe(stdout)
  })

  it('leaves on a terminal what is printed elsewhere', async () => {
    const printed = await talaria(['parse', '--to', 'view'], { stdin: bytes })
    const terminal = { columns: 2_000, rows: 300 }
    const screen = createScreen(terminal.columns, terminal.rows)
    await talaria(['parse', '--to', 'view', '--color=always'], {
      stdin: cut(bytes),
      terminal,
      onWrite: (text) => screen.write(text),
    })
    const lines = printed.stdout.split('\n').map((line) => line.trimEnd().replaceAll('\t', '  '))
    expect(screen.lines()).toEqual(lines.slice(0, -1))
  })
})
