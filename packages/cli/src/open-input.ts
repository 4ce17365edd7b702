/**
 * The input as a stream: stdin, or a file.
 *
 * A named pipe is no file to read like others: to open it waits for a writer, and so does each
 * read, in a thread that nothing can interrupt and that keeps the process from ending. So its
 * opening is ended by a writer of our own, and it is read as a socket is.
 */
import { closeSync, constants, open as openFile, openSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { EXIT, Failure, codeOf, reasonOf } from './failure.ts'
import type { Io } from './io.ts'

/** The input, opened: a file that isn't there is no stream that broke. */
export async function openInput(file: string | undefined, io: Io): Promise<Readable> {
  if (file === undefined || file === '-') {
    if (io.stdin.isTTY) {
      io.stderr.write('talaria: reading from the terminal; Ctrl-D ends the input\n')
    }
    return io.stdin
  }
  try {
    const stats = await stat(file)
    if (stats.isFIFO()) return await openPipe(file, io.signal)
    const handle = await open(file)
    if (!stats.isDirectory()) return handle.createReadStream()
    await handle.close()
  } catch (error) {
    throw new Failure(EXIT.io, `can't read ${file}: ${reasonOf(error)}`)
  }
  throw new Failure(EXIT.io, `can't read ${file}: it is a folder`)
}

/** Opens a named pipe. A signal ends the wait for a writer; the pipe is empty then. */
async function openPipe(file: string, signal: AbortSignal): Promise<Readable> {
  let timer: NodeJS.Timeout | undefined
  const beWriter = (): void => {
    try {
      closeSync(openSync(file, constants.O_WRONLY | constants.O_NONBLOCK))
    } catch (error) {
      // Nobody is reading: the thread that opens it has not come so far yet.
      if (codeOf(error) === 'ENXIO') timer = setTimeout(beWriter, 10)
    }
  }
  signal.addEventListener('abort', beWriter)
  if (signal.aborted) beWriter()
  try {
    const fd = await promisify(openFile)(file, 'r')
    return new Socket({ fd, readable: true, writable: false })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', beWriter)
  }
}
