/**
 * A template, read once and rendered with several conversations. Nothing of what a template does
 * leaves this file as an exception: it becomes a `Failure` with words, a reason and a line.
 */
import { type Budget, LimitError, MAX_BLANKS, MAX_TEMPLATE } from './budget.ts'
import { type Node, type Token, Environment, parse, tokenize } from './engine.ts'
import { GLOBALS, RaisedError } from './globals.ts'
import { BoundedInterpreter } from './interpreter.ts'
import { linesOfNodes, linesOfTokens, tagsOf } from './lines.ts'

export interface Failure {
  readonly reason: 'syntax' | 'raised' | 'failed' | 'limit'
  readonly message: string
  /** Of the tag in the template, from 1. */
  readonly line: number | undefined
}

/** What a template made of a conversation. */
export type Rendering = string | Failure

/** Renders with these variables. */
export type Render = (variables: Readonly<Record<string, unknown>>) => Rendering

/** Reads a template. All renderings are paid from one budget. */
export function readTemplate(source: string, budget: Budget): Render | Failure {
  if (source.length > MAX_TEMPLATE) {
    const limit = MAX_TEMPLATE.toLocaleString('en')
    return failure('limit', `The template has more than ${limit} characters.`)
  }
  for (const { 0: blanks } of source.matchAll(/\s+/g)) {
    if (blanks.length > MAX_BLANKS)
      return failure('limit', 'The template has too much white space in one place.')
  }

  let tokens: readonly Token[]
  try {
    tokens = tokenize(source)
  } catch (error) {
    return failureOf(error, 'syntax', lineOfFault(source))
  }
  const lines = linesOfTokens(source, tokens)
  let last = 0
  try {
    const program = parse(watched(tokens, (index) => (last = Math.max(last, index))))
    const nodes = lines && linesOfNodes(program, tokens, lines)
    return (variables) => render(program, variables, source.length, budget, nodes)
  } catch (error) {
    return failureOf(error, 'syntax', lines?.[last])
  }
}

function render(
  program: Node,
  variables: Readonly<Record<string, unknown>>,
  sourceLength: number,
  budget: Budget,
  lines: ReadonlyMap<Node, number> | undefined,
): Rendering {
  let interpreter: BoundedInterpreter | undefined
  try {
    const scope = new Environment()
    for (const [name, value] of Object.entries({ ...variables, ...GLOBALS })) {
      if (!scope.variables.has(name)) scope.set(name, value)
    }
    interpreter = new BoundedInterpreter(scope, budget, sourceLength, lines)
    return String(interpreter.run(program).value)
  } catch (error) {
    return failureOf(error, 'failed', interpreter?.line)
  }
}

/** Tokens that tell which of them is looked at. */
function watched(tokens: readonly Token[], onLook: (index: number) => void): readonly Token[] {
  return tokens.map(({ type, value }, index) => ({
    get type() {
      onLook(index)
      return type
    },
    value,
  }))
}

/** The line of the first tag that can't be cut into tokens. */
function lineOfFault(source: string): number | undefined {
  const tags = tagsOf(source)
  let [low, high] = [0, tags.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReadable(source.slice(0, tags[middle]!.end))) low = middle + 1
    else high = middle
  }
  return tags[low]?.line
}

function isReadable(source: string): boolean {
  try {
    tokenize(source)
    return true
  } catch {
    return false
  }
}

function failureOf(
  error: unknown,
  otherwise: Failure['reason'],
  line: number | undefined,
): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof RaisedError) return failure('raised', message, line)
  if (error instanceof LimitError) return failure('limit', message, line)
  // The engine's own stack, or a string that no JavaScript engine makes.
  if (error instanceof RangeError) return failure('limit', `${message}.`, line)
  return failure(otherwise, message, line)
}

function failure(reason: Failure['reason'], message: string, line?: number): Failure {
  return { reason, message, line }
}
