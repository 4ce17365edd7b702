/**
 * The template engine as far as it is used here. Its declarations name their neighbours without an
 * ending, which Node's rules do not resolve: whatever is imported has no type, so it gets one here.
 */
import {
  Environment as environment,
  Interpreter as interpreter,
  parse as parseTokens,
  tokenize as makeTokens,
} from '@huggingface/jinja'

export interface Token {
  readonly type: string
  readonly value: string
}

/** A node of the syntax tree. What else it has depends on `type`. */
export interface Node {
  readonly type: string
}

/** A value of the running template. What `value` is depends on `type`. */
export interface Value {
  readonly type: string
  value: unknown
  readonly builtins: ReadonlyMap<string, Value>
}

/** What a template calls: values in, value out. Named arguments come last, in a map. */
export type Callable = (args: readonly Value[], scope: Scope) => Value

export interface Scope {
  readonly variables: ReadonlyMap<string, Value>
  /** Declares a name; throws if it is declared. Functions get plain values. */
  set(name: string, value: unknown): Value
}

export interface Interpreter {
  run(program: Node): Value
  /** Every node goes through here, those inside others too. */
  evaluate(node: Node | undefined, scope: Scope): Value
}

export const Environment: new () => Scope = environment
export const Interpreter: new (scope: Scope) => Interpreter = interpreter
export const parse: (tokens: readonly Token[]) => Node = parseTokens

/** Tokens of a source, with line breaks and blanks around blocks handled as chat templates expect. */
export function tokenize(source: string): readonly Token[] {
  return makeTokens(source, { lstrip_blocks: true, trim_blocks: true })
}
