/**
 * Finds what is written like a marker, wherever it stands: tags also with a blank before “>”, with
 * attributes or with a name. The machine never looks into strings; a reader who wonders about a
 * marker does.
 */
import { type ParserOptions, PRESETS, markersOf } from '@talaria/core'

export interface Place {
  /** Offsets in UTF-16 units, `end` exclusive. */
  readonly start: number
  readonly end: number
}

/** What may follow a tag's name. Neither half takes a “<”, so a search stays linear. */
const HEADER = '(?:\\s*|\\s+[\\w:-]{1,64}\\s*=[^<>]{0,1024}|=[^\\s<>"\'`]{1,256})>'

/** The literal markers of the dialects in use, as `markersOf` names them, aliases too. */
export function literalsOf({ dialect, preset, tagAliases = [] }: ParserOptions): string[] {
  const named = dialect ?? (preset === undefined ? undefined : PRESETS[preset]?.options.dialect)
  return [...markersOf(named), ...tagAliases.flatMap(({ open, close }) => [open, close])]
}

export class Literals {
  private readonly pattern: RegExp
  private readonly stuck: RegExp

  constructor(literals: readonly string[]) {
    // The longest first, so that none hides behind its own beginning.
    const sorted = [...literals].sort((a, b) => b.length - a.length)
    const source = sorted.map(patternOf).join('|')
    this.pattern = new RegExp(source, 'g')
    this.stuck = new RegExp(source, 'y')
  }

  /** The first one at `offset` or behind it. */
  next(text: string, offset: number): Place | undefined {
    this.pattern.lastIndex = offset
    const match = this.pattern.exec(text)
    return match ? { start: match.index, end: match.index + match[0].length } : undefined
  }

  /** Where the one that begins at `offset` ends; undefined if none does. */
  endAt(text: string, offset: number): number | undefined {
    this.stuck.lastIndex = offset
    const match = this.stuck.exec(text)
    return match ? offset + match[0].length : undefined
  }
}

function patternOf(literal: string): string {
  const escaped = literal.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
  return /^<[^\s<>]+>$/.test(literal) ? escaped.slice(0, -1) + HEADER : escaped
}
