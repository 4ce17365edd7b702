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
  'malformed-call': 'The call broke its grammar before its name was known.',
  'malformed-arguments': 'The call broke its grammar after its name was known.',
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
  'orphan-close-tag': 'A close marker closes nothing.',
  'surplus-closer': 'Brackets after a complete call were skipped.',
  'trailing-text': 'Text stood between a complete call and its close marker.',
  'unknown-key': 'A key beside the arguments was ignored.',
  'unknown-tool': 'The call names a tool that was not declared.',
  'quoted-call':
    'A call in code or in a block quote was kept as text (for fences see `callsInFences`).',
  'possible-call':
    'Text looks like a call but has no marker (see `bareJson`, `fencedCall`, `tagAliases`).',
  'call-in-reasoning': 'A call inside reasoning was not made (see `callsInReasoning`).',
  'unclosed-reasoning': 'The input ended inside reasoning.',
  'call-while-disabled': 'Tools are off, so a call was kept as text.',
  'foreign-dialect': 'A notation that is not read was kept as text (see `tagAliases`).',
  'type-coercion-failed': 'A value does not fit its declared type and stayed a string.',
  'duplicate-call': 'The call repeats an earlier one: same name, equal arguments.',
  'fabricated-result': 'The model wrote a tool result itself (see `dropAfterFabricated`).',
  'fabricated-turn': 'The model wrote another turn itself; the answer ends before it.',
  'special-token': 'End-of-turn tokens at the end were dropped.',
  'suspicious-escape': 'A string mixes invalid escapes with control escapes.',
  'suspicious-arguments': 'A finished argument holds a marker of a call.',
}

/** Codes in `repairs` of `tool-call-end`. */
export type RepairCode =
  | 'control-character'
  | 'invalid-escape'
  | 'trailing-comma'
  | 'missing-comma'
  | 'comment'
  | 'single-quotes'
  | 'curly-quotes'
  | 'inner-quotes'
  | 'unquoted-key'
  | 'python-literal'
  | 'byte-order-mark'
  | 'missing-brace'
  | 'doubled-braces'
  | 'code-fence'
  | 'decoded-arguments'
  | 'empty-arguments'
  | 'lifted-arguments'
  | 'first-arguments'
  | 'function-key'

/** Each code with the line that the docs show. */
export const REPAIR_CODES: Readonly<Record<RepairCode, string>> = {
  'control-character': 'A raw control character in a string was escaped.',
  'invalid-escape': 'A backslash that escapes nothing was kept as text.',
  'trailing-comma': 'A comma before a closing bracket was dropped.',
  'missing-comma': 'A comma between two members was added.',
  comment: 'A comment was dropped.',
  'single-quotes': 'A string in single quotes was put into double ones.',
  'curly-quotes': 'A string in curly quotes was put into double ones (option `curlyQuotes`).',
  'inner-quotes': 'A quote inside a string was escaped (option `guessQuotes`).',
  'unquoted-key': 'A key without quotes was put into quotes.',
  'python-literal': '`True`, `False` or `None` became `true`, `false` or `null`.',
  'byte-order-mark': 'A byte order mark between tokens was dropped.',
  'missing-brace': 'The outer brace was missing before the close marker.',
  'doubled-braces': 'Doubled braces became single ones.',
  'code-fence': 'A code fence inside the tag was dropped.',
  'decoded-arguments': 'Arguments in a string were decoded.',
  'empty-arguments': '`null`, `""` or `[]` became `{}`.',
  'lifted-arguments': 'Keys beside the name became the arguments.',
  'first-arguments':
    'What followed the arguments in their string was dropped (option `gluedArguments`).',
  'function-key': 'The name stood in a key, `"function=NAME"`.',
}

/** Codes of the rules by which a marker was read, for `explain`. */
export type RuleCode =
  | 'call'
  | 'no-grammar'
  | 'quoted'
  | 'in-reasoning'
  | 'tools-off'
  | 'not-at-line-start'
  | 'undeclared'
  | 'closes'
  | 'closes-late'
  | 'orphan'
  | 'reasoning'
  | 'structure'
  | 'in-arguments'
  | 'failed-call'
  | 'in-result'
  | 'end-of-turn'
  | 'not-at-end'
  | 'fabricated'
  | 'foreign'
  | 'bare'

/** Each rule in words. */
export const RULES: Readonly<Record<RuleCode, string>> = {
  call: 'The grammar of a call follows, so it opens one.',
  'no-grammar': 'No call follows that the marker could open, so it is text.',
  quoted: 'It stands in code or in a block quote, so it is text.',
  'in-reasoning': 'It stands in reasoning, which is opaque.',
  'tools-off': 'Tools are off, so every call is text.',
  'not-at-line-start': 'It counts only at the start of a line, so it is text.',
  undeclared: 'It counts only with the name of a declared tool, so it is text.',
  closes: 'It closes what is open.',
  'closes-late': 'It closes a call whose tag had counted as closed.',
  orphan: 'It closes nothing: text, unless an option drops it.',
  reasoning: 'It opens reasoning.',
  structure: 'It is part of the call’s own grammar.',
  'in-arguments': 'It stands where no marker counts, so it belongs to the call.',
  'failed-call': 'It stands in a failed call.',
  'in-result': 'It stands in a tool result that the model invented, which is opaque.',
  'end-of-turn': 'It ends the turn, so it is no text.',
  'not-at-end': 'It is not at the very end, so it is data where it stands.',
  fabricated: 'The model wrote what is not its own to write.',
  foreign: 'It belongs to a notation that is not read, so it is text.',
  bare: 'A call object without a marker counts only if a close marker follows or an option says so.',
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
