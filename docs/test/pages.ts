/**
 * The pages of the documentation: every Markdown file that a reader is sent to, with its fences.
 *
 * Fixtures are Markdown, too, but they are cases with a reader and tests of their own. A fence is
 * longer than any run of backticks in it, so that a page can show a fence.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

export interface Fence {
  /** The page, as a path under the root. */
  readonly page: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  /** First word behind the backticks. */
  readonly language: string
  /** The words behind it. */
  readonly flags: readonly string[]
  /** What stands in it, each line with its line break. */
  readonly text: string
  /** Only blank lines stand between it and the fence before. */
  readonly follows: boolean
}

/** Paths of all pages under the root, with `/`. */
export const PAGES: readonly string[] = [
  ...pagesIn('.'),
  ...pagesIn('docs', true),
  ...readdirSync(join(ROOT, 'packages')).flatMap((name) => pagesIn(`packages/${name}`)),
  ...pagesIn('fixtures'),
  ...pagesIn('bench'),
]

function pagesIn(folder: string, deep = false): string[] {
  return readdirSync(join(ROOT, folder), { recursive: deep, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .sort()
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

export function folderOf(page: string): string {
  return dirname(join(ROOT, page))
}

/** The fences of a page. Throws if one does not end. */
export function fencesOf(page: string): Fence[] {
  const lines = readPage(page).split('\n')
  const fences: Fence[] = []
  let since = -1
  for (let at = 0; at < lines.length; at++) {
    const [, ticks, words = ''] = /^(`{3,})([^`]*)$/.exec(lines[at]!) ?? []
    if (ticks === undefined) continue
    const end = lines.indexOf(ticks, at + 1)
    if (end < 0) throw new Error(`${page}:${at + 1}: a fence that does not end`)
    const [language = '', ...flags] = words.trim().split(/\s+/)
    fences.push({
      page,
      line: at + 1,
      language,
      flags,
      text: lines
        .slice(at + 1, end)
        .map((line) => `${line}\n`)
        .join(''),
      follows: since >= 0 && lines.slice(since, at).every((line) => line.trim() === ''),
    })
    at = end
    since = end + 1
  }
  return fences
}

/** A page's prose: fences and inline code are taken out, lines stay where they are. */
export function proseOf(page: string): string {
  return readPage(page)
    .replace(/^(`{3,})[^`]*\n[^]*?^\1$/gm, (fence) => fence.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]+`/g, '')
}

const mayUpdate = process.env['UPDATE'] === '1' && !process.env['CI']

/**
 * Puts `wanted` in the place of `part`, which stands directly behind `anchor`, if `UPDATE=1` asks for
 * it. Returns whether it did, so that there is nothing left to compare. Never in CI.
 */
export function rewritten(page: string, anchor: string, part: string, wanted: string): boolean {
  if (!mayUpdate || part === wanted) return false
  const [before, after, ...more] = readPage(page).split(anchor + part)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${page}: no single place to rewrite`)
  }
  writeFileSync(join(ROOT, page), before + anchor + wanted + after)
  return true
}
