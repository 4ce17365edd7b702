/** Runs commands in this process, with streams in the place of the process's own. */
import { Readable, Writable } from 'node:stream'
import { type Io, type OutputStream } from '../src/io.ts'
import { run } from '../src/run.ts'

export interface World {
  /** What comes in, in the chunks given. */
  readonly stdin?: string | Uint8Array | Iterable<string | Uint8Array> | Readable
  readonly env?: Readonly<Record<string, string>>
  /** The size of the terminal that stdout is. */
  readonly terminal?: { readonly columns: number; readonly rows: number }
  readonly signal?: AbortSignal
  /** Called with each write, before it is counted as done. */
  readonly onWrite?: (text: string) => void | Promise<void>
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What was written to stdout, one entry per write. */
  readonly writes: readonly string[]
}

/** Runs `talaria` with these arguments. */
export async function talaria(argv: readonly string[], world: World = {}): Promise<Outcome> {
  return perform((io) => run(argv, io), world)
}

/** Runs what gives an exit code. */
export async function perform(
  work: (io: Io) => Promise<number>,
  world: World = {},
): Promise<Outcome> {
  const { stdin = '', env = {}, terminal, signal = new AbortController().signal } = world
  const out = new Collected(world.onWrite)
  const err = new Collected()
  const stdout: OutputStream = terminal ? Object.assign(out, { isTTY: true, ...terminal }) : out
  const source =
    stdin instanceof Readable
      ? stdin
      : Readable.from(typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin)
  const io: Io = { stdin: source, stdout, stderr: err, env, signal }
  const code = await work(io)
  return { code, stdout: out.text, stderr: err.text, writes: out.writes }
}

/** Events of `--to events`, without the ids that a parser makes up. */
export function eventsOf(stdout: string): unknown[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, (key, value) => (key === 'id' ? undefined : value)))
}

class Collected extends Writable {
  readonly writes: string[] = []
  private readonly onWrite: World['onWrite']

  constructor(onWrite?: World['onWrite']) {
    super({ decodeStrings: false })
    this.onWrite = onWrite
  }

  get text(): string {
    return this.writes.join('')
  }

  override _write(chunk: string, _: string, done: (error?: Error) => void): void {
    this.writes.push(chunk)
    void this.settle(chunk, done)
  }

  private async settle(chunk: string, done: () => void): Promise<void> {
    await this.onWrite?.(chunk)
    done()
  }
}
