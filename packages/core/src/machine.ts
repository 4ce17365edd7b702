/** The machine for dialects as values: a bundle holds only what it names. */
export type { Body, Grammar, Sink } from './bodies/body.ts'
export { elementCall, nameFirst } from './bodies/element-call.ts'
export { jsonArguments } from './bodies/json-arguments.ts'
export { jsonCall } from './bodies/json-call.ts'
export {
  type CallSection,
  type Dialect,
  type Notation,
  type ReasoningSection,
  type ResultTag,
  defineDialect,
} from './dialect.ts'
export { MisuseError } from './errors.ts'
export type { EndInfo, Parser } from './options.ts'
export { createMachine } from './parser.ts'
