/**
 * A JSON object that is laid out over lines, as `jq` and most printers do it: a line holds a bracket,
 * or a value that may have a key, or the end of what is open.
 *
 * So each line tells whether this is still JSON, and prose is known at its first line.
 */
export class LaidOutObject {
  private readonly lines = ['{']
  private depth = 1

  /** Whether nothing but the opening bracket has come. */
  get empty(): boolean {
    return this.lines.length === 1
  }

  /** The next line, the one with the opening bracket not counted. */
  take(line: string): 'open' | 'closed' | 'no object' {
    this.lines.push(line)
    const text = line.trim().replace(/,$/, '')
    const value = text.replace(KEY, '')
    if (value === '{' || value === '[') this.depth++
    else if (text === '}' || text === ']') this.depth--
    else if (!isJson(value)) return 'no object'
    return this.depth === 0 ? 'closed' : 'open'
  }

  /** Whether a line may begin like this. */
  static mayBegin(text: string): boolean {
    return /^\s*(?:$|["{}[\]\-\dtfn])/.test(text)
  }

  /** All lines. */
  text(): string {
    return this.lines.join('\n')
  }
}

const KEY = /^"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*/

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
