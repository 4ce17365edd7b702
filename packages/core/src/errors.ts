/**
 * Every code, once: of calls that failed, of warnings, of misuse.
 *
 * Input never throws; it ends in `tool-call-error`, `warning` or `error` events with one of these
 * codes. Misuse of the API throws a `MisuseError` at once. docs/protocol.md lists the tables below.
 */

/** Codes of `tool-call-error`. */
export type ErrorCode =
  | 'incomplete-call'
  | 'malformed-call'
  | 'malformed-arguments'
  | 'mismatched-close-tag'
  | 'duplicate-parameter'
  | 'declaration'
  | 'limit'
  | 'aborted'
  | 'out-of-order-arguments'

/** Each code with the line that the docs show. */
export const ERROR_CODES: Readonly<Record<ErrorCode, string>> = {
  'incomplete-call': 'The input ended before the call was complete.',
  'malformed-call': 'The call broke its grammar before its arguments began.',
  'malformed-arguments': 'The arguments broke their grammar.',
  'mismatched-close-tag': 'A close tag of something else stood where the call had to go on.',
  'duplicate-parameter': 'A parameter came twice.',
  declaration: 'The object declares a tool; it does not call one.',
  limit: 'The call went past one of the limits.',
  aborted: 'The stream was aborted, or its source failed, inside the call.',
  'out-of-order-arguments': 'Pieces of the arguments came in an order that cannot be joined.',
}

/** Codes of `warning`. */
export type WarningCode =
  | 'unclosed-tag'
  | 'mismatched-close-tag'
  | 'missing-open-tag'
  | 'orphan-close-tag'
  | 'surplus-closer'
  | 'trailing-text'
  | 'unknown-key'
  | 'unknown-tool'
  | 'quoted-call'
  | 'possible-call'
  | 'call-in-reasoning'
  | 'unclosed-reasoning'
  | 'call-while-disabled'
  | 'foreign-dialect'
  | 'type-coercion-failed'
  | 'duplicate-call'
  | 'fabricated-result'
  | 'fabricated-turn'
  | 'special-token'
  | 'suspicious-escape'
  | 'suspicious-arguments'

/** Each code with the line that the docs show. */
export const WARNING_CODES: Readonly<Record<WarningCode, string>> = {
  'unclosed-tag': 'A complete call had no close marker.',
  'mismatched-close-tag': 'A complete call was closed by another family’s marker.',
  'missing-open-tag': 'A call began without its wrapper.',
  'orphan-close-tag': 'A close marker that closes nothing was kept as text.',
  'surplus-closer': 'Brackets after a complete call were skipped.',
  'trailing-text': 'Text stood between a complete call and its close marker.',
  'unknown-key': 'A key beside the arguments was ignored.',
  'unknown-tool': 'The call names a tool that was not declared.',
  'quoted-call': 'A call in code or in a block quote was kept as text.',
  'possible-call': 'Text looks like a call but has no marker.',
  'call-in-reasoning': 'A call inside reasoning was not made.',
  'unclosed-reasoning': 'The input ended inside reasoning.',
  'call-while-disabled': 'Tools are off, so a call was kept as text.',
  'foreign-dialect': 'A notation that is not read was kept as text.',
  'type-coercion-failed': 'A value does not fit its declared type and stayed a string.',
  'duplicate-call': 'The call repeats an earlier one: same name, equal arguments.',
  'fabricated-result': 'The model wrote a tool result itself.',
  'fabricated-turn': 'The model wrote another turn itself; the answer ends before it.',
  'special-token': 'End-of-turn tokens at the end were dropped.',
  'suspicious-escape': 'A string mixes invalid escapes with control escapes.',
  'suspicious-arguments': 'A finished argument holds a marker of a call.',
}

/** The API was used wrongly: a programming error, never a matter of input. */
export class MisuseError extends TypeError {
  override readonly name = 'MisuseError'
  /** Kebab-case, stable. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
