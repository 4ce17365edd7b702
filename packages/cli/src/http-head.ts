/**
 * Takes away what `curl -i` puts before an answer: the status line and the headers, more than once
 * where a redirect or a `100 Continue` came first.
 *
 * Anything that is no such head is given on as it came, at the first character that tells.
 */

/** How long a head may be, in UTF-16 units. */
const LIMIT = 64 * 1024

const STATUS = /^HTTP\/\d(?:\.\d)? \d{3}(?: [^]*)?$/
const HEADER = /^[\w-]+:/

/** Takes the beginning of the input; answers once. */
export class HttpHead {
  /** The head so far. */
  private held = ''
  /** The line that stands open. */
  private line = ''
  /** The status line has come. */
  private begun = false

  /** What follows the heads, or what was no head; undefined: more input is needed. */
  take(text: string): string | undefined {
    let start = 0
    for (;;) {
      const stop = text.indexOf('\n', start)
      const end = stop < 0 ? text.length : stop + 1
      this.line += text.slice(start, end)
      this.held += text.slice(start, end)
      start = end
      if (stop < 0) {
        return this.mayBeHead() ? undefined : this.held
      }
      const line = this.line.replace(/\r?\n$/, '')
      this.line = ''
      if (this.begun && line === '') {
        this.begun = false
        this.held = ''
        continue
      }
      if (!(this.begun ? HEADER : STATUS).test(line)) return this.held + text.slice(start)
      this.begun = true
    }
  }

  /** What is no head, when no more input comes. */
  end(): string {
    return this.held
  }

  private mayBeHead(): boolean {
    if (this.held.length > LIMIT) return false
    if (this.begun) return true
    return this.line.startsWith(START) || START.startsWith(this.line)
  }
}

const START = 'HTTP/'
