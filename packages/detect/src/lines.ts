/**
 * Lines of a template's tags. The engine's nodes and errors have no positions, so they are found
 * beside it: the tags of the source in order, and the nodes of the tree in the same order. Where
 * the two do not agree there are no lines, never wrong ones.
 */
import type { Node, Token } from './engine.ts'

interface Tag {
  /** From 1. */
  readonly line: number
  /** Index behind it. */
  readonly end: number
}

/** A tag or a stretch of text, as the tokens tell them apart. */
interface Item {
  /** The first word of a statement, else empty. */
  readonly word: string
  readonly line: number
}

/** What nodes of blocks hold, each by its own `type`. */
interface BlockNode extends Node {
  readonly body?: readonly BlockNode[]
  readonly alternate?: readonly BlockNode[]
  readonly defaultBlock?: readonly BlockNode[]
  /** Of `set`: null if it has a block. */
  readonly value?: unknown
}

const OPENERS: ReadonlySet<string> = new Set(['OpenStatement', 'OpenExpression', 'Comment'])
const CLOSERS: ReadonlySet<string> = new Set(['CloseStatement', 'CloseExpression'])
/** Tags that the engine takes out before it reads the source. */
const IGNORED = /^\{%-?\s*(?:end)?generation\s*-?%\}$/

/** The tags of a source. */
export function tagsOf(source: string): Tag[] {
  const tags: Tag[] = []
  let line = 1
  let counted = 0
  for (let start = nextTag(source, 0); start >= 0;) {
    const end = endOfTag(source, start)
    for (; counted < start; counted++) if (source[counted] === '\n') line++
    if (!IGNORED.test(source.slice(start, end))) tags.push({ line, end })
    start = nextTag(source, end)
  }
  return tags
}

function nextTag(source: string, from: number): number {
  for (let at = source.indexOf('{', from); at >= 0; at = source.indexOf('{', at + 1)) {
    if ('%{#'.includes(source[at + 1] ?? ' ')) return at
  }
  return -1
}

/** Index behind the tag that begins at `start`; the source's length if it does not end. */
function endOfTag(source: string, start: number): number {
  const kind = source[start + 1]
  if (kind === '#') {
    const end = source.indexOf('#}', start + 2)
    return end < 0 ? source.length : end + 2
  }
  let depth = 0
  for (let at = start + 2; at < source.length; at++) {
    const character = source[at]
    const isEnd = source[at + 1] === '}'
    if (character === '"' || character === "'") at = endOfString(source, at)
    else if (character === '%' && isEnd) return at + 2
    else if (character === '}' && isEnd && depth === 0 && kind === '{') return at + 2
    else if (character === '{') depth++
    else if (character === '}') depth--
  }
  return source.length
}

/** Index of the quote that ends a string. */
function endOfString(source: string, start: number): number {
  const quote = source[start]
  let at = start + 1
  while (at < source.length && source[at] !== quote) at += source[at] === '\\' ? 2 : 1
  return at
}

/** The line of each token's tag; nothing if tags and tokens do not agree. */
export function linesOfTokens(source: string, tokens: readonly Token[]): number[] | undefined {
  const tags = tagsOf(source)
  const lines: number[] = []
  let at = -1
  for (const { type } of tokens) {
    if (OPENERS.has(type)) at++
    lines.push(tags[Math.max(at, 0)]?.line ?? 1)
  }
  return at + 1 === tags.length ? lines : undefined
}

/** The line of each node that stands in a block; none if nodes and tokens do not agree. */
export function linesOfNodes(
  program: Node,
  tokens: readonly Token[],
  lines: readonly number[],
): ReadonlyMap<Node, number> {
  const items = itemsOf(tokens, lines)
  const found = new Map<Node, number>()
  let at = 0

  const block = (nodes: readonly BlockNode[]): void => {
    for (const node of nodes) {
      const item = take(node)
      if (item.word === 'if') branches(node)
      else if (item.word === 'for') {
        block(node.body ?? [])
        if (items[at]?.word === 'else') at++
        block(node.defaultBlock ?? [])
        at++
      } else if (node.body && (item.word !== 'set' || node.value === null)) {
        block(node.body)
        at++
      }
    }
  }
  // `elif` is an `if` within the other's alternate, and only one `endif` ends them all.
  const branches = (node: BlockNode): void => {
    block(node.body ?? [])
    const { word } = items[at++] ?? { word: '' }
    if (word === 'elif' && node.alternate?.[0]) {
      at--
      take(node.alternate[0])
      branches(node.alternate[0])
    } else if (word === 'else') {
      block(node.alternate ?? [])
      at++
    }
  }
  const take = (node: Node): Item => {
    const item = items[at++] ?? { word: '', line: 1 }
    found.set(node, item.line)
    return item
  }

  block((program as BlockNode).body ?? [])
  return at === items.length ? found : new Map()
}

function itemsOf(tokens: readonly Token[], lines: readonly number[]): Item[] {
  const items: Item[] = []
  let inTag = false
  for (const [index, { type }] of tokens.entries()) {
    if (CLOSERS.has(type)) inTag = false
    else if (!inTag) {
      const word = type === 'OpenStatement' ? (tokens[index + 1]?.value ?? '') : ''
      items.push({ word, line: lines[index] ?? 1 })
      inTag = type !== 'Text' && type !== 'Comment'
    }
  }
  return items
}
