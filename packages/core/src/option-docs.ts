/**
 * What the docs say of each option: its values, its default, what it does, and how much text each
 * value holds back beyond what the default does.
 *
 * The types make it complete: an option or a value that is forgotten here does not compile.
 * Nothing that runs imports this file, so no bundle holds it; docs/options.md shows it.
 */
import { DEFAULT_LIMITS } from './limits.ts'
import type { ParserOptions } from './options.ts'

/** A line in Markdown; empty for nothing. */
type Line = string

/** An option that is one of a few values. */
export interface ChoiceDoc<Value extends string | boolean> {
  readonly kind: 'choice'
  readonly default: Value
  readonly does: Line
  /** By value: what it holds back beyond the default, and the limit of that. */
  readonly holds: { readonly [Each in `${Value}`]: Line }
}

/** An option that is whatever its caller has. */
export interface OpenDoc<Value> {
  readonly kind: 'open'
  /** The values in words. */
  readonly takes: Line
  /** Absent: without the option there is none. */
  readonly default?: Value
  readonly does: Line
  readonly holds: Line
}

type OptionDoc<Value> = [Value] extends [string | boolean]
  ? string extends Value
    ? OpenDoc<Value>
    : ChoiceDoc<Value>
  : OpenDoc<Value>

export type OptionDocs = {
  readonly [Name in keyof ParserOptions]-?: OptionDoc<Exclude<ParserOptions[Name], undefined>>
}

const NOTHING = { true: '', false: '' }

/** Every option, in the order of the docs. */
export const OPTION_DOCS: OptionDocs = {
  dialect: {
    kind: 'open',
    takes: 'a name, or a list of names',
    default: 'auto',
    does: 'Which dialects are read; `auto` is all that have markers.',
    holds: 'A marker is held as far as it may be the longest one of the dialects.',
  },
  preset: {
    kind: 'open',
    takes: 'the name of a preset',
    does: 'Options of a model line, from the table below; options beside it win.',
    holds: 'What its options hold.',
  },
  tools: {
    kind: 'open',
    takes: 'a list, in OpenAI’s shape or bare',
    does:
      'The tools that the request declared. `[]` makes every call text. Absent: not stated, so ' +
      'every name counts as declared.',
    holds: '',
  },
  toolChoice: {
    kind: 'choice',
    default: 'auto',
    does: '`none` makes every call text; `required` changes nothing.',
    holds: { auto: '', required: '', none: '' },
  },
  startIn: {
    kind: 'choice',
    default: 'text',
    does:
      'Where the stream begins, for a prompt that ends in an opener. `call` is the inside of the ' +
      'first call tag in use.',
    holds: { text: '', reasoning: '', call: '' },
  },
  strict: {
    kind: 'choice',
    default: false,
    does:
      'No repair: what breaks the letter of JSON fails the call, and a code fence inside the tag ' +
      'is not skipped.',
    holds: NOTHING,
  },
  guessQuotes: {
    kind: 'choice',
    default: false,
    does:
      'A double quote inside a string of the arguments ends it only if `,` `:` `}` `]` or `<` ' +
      'follows, after a key only `:` or `<`. A guess: text that holds such a pair is cut there.',
    holds: {
      true: 'The quote and the white space behind it, `limits.whitespace` characters.',
      false: '',
    },
  },
  curlyQuotes: {
    kind: 'choice',
    default: false,
    does:
      '`“` and `”` may stand where JSON wants a string’s quotes; without the option such a ' +
      'string fails the call.',
    holds: NOTHING,
  },
  gluedArguments: {
    kind: 'choice',
    default: 'fail',
    does:
      'What arguments in a string are that go on behind their object: a failed call, or (`first`) ' +
      'that object alone.',
    holds: { fail: '', first: '' },
  },
  callsInReasoning: {
    kind: 'choice',
    default: 'off',
    does:
      'Whether calls inside reasoning count: never, in tags at the very end of reasoning that is ' +
      'not closed, or always.',
    holds: {
      off: '',
      'at-end':
        'From a call’s opener on, while nothing but calls and white space follows: `limits.held` ' +
        'characters. What is longer is reasoning.',
      on: 'What a call holds.',
    },
  },
  unclosedReasoning: {
    kind: 'choice',
    default: 'reasoning',
    does: 'What reasoning is that the end of the input finds open.',
    holds: {
      reasoning: '',
      text:
        'All reasoning, up to its close marker, a call that counts, or the end: `limits.held` ' +
        'characters. What is longer is reasoning.',
    },
  },
  quotedClosers: {
    kind: 'choice',
    default: 'text',
    does: 'What a close marker of reasoning is that stands between two backticks.',
    holds: { text: '', close: '' },
  },
  callsInFences: {
    kind: 'choice',
    default: false,
    does: 'Calls in a fenced block count. Inline code and block quotes quote as before.',
    holds: NOTHING,
  },
  bareJson: {
    kind: 'choice',
    default: 'off',
    does:
      'Call objects without a marker, with declared names (or no tools stated): the whole ' +
      'message is one, a list of them or `{"tool_calls": […]}`, or (`last-line`) it ends with an ' +
      'object that begins a line.',
    holds: {
      off: '',
      'whole-message':
        'A message that begins with a list, too, while it may be one of call objects: ' +
        '`limits.arguments` characters.',
      'last-line':
        'The same, and from each `{` that begins a line on, while it may be such a call object: ' +
        '`limits.arguments` characters.',
    },
  },
  fencedCall: {
    kind: 'choice',
    default: 'off',
    does:
      'A message that is one fenced block with calls in it, with or without markers, and nothing ' +
      'else: the calls count.',
    holds: {
      off: '',
      'whole-message':
        'A message that begins with a fence: with call objects in it while it may be one, with a ' +
        'tag in it up to its end; `limits.held` characters. What is longer is text, and read as ' +
        'usual. Most blocks are let go at their first character.',
    },
  },
  tagAliases: {
    kind: 'open',
    takes: 'a list of `{ open, close }`, 2 to 64 characters each',
    default: [],
    does: 'More spellings of the first call tag in use.',
    holds: 'A marker is held as far as it may be the longest one.',
  },
  stripOrphanTags: {
    kind: 'choice',
    default: false,
    does: 'Tags that open or close no call are dropped from the text.',
    holds: NOTHING,
  },
  failedAsText: {
    kind: 'choice',
    default: false,
    does: 'The raw text of a failed call is shown as a part of text behind its error.',
    holds: NOTHING,
  },
  specialTokens: {
    kind: 'choice',
    default: 'drop',
    does: 'Whether end-of-turn tokens vanish at the very end, or all are text (`keep`).',
    holds: { drop: '', keep: '' },
  },
  dropAfterFabricated: {
    kind: 'choice',
    default: false,
    does: 'A tool result that the model invented ends the message; the rest is discarded.',
    holds: NOTHING,
  },
  whitespace: {
    kind: 'choice',
    default: 'layout',
    does: 'White space alone makes no part, or (`exact`) a part as well.',
    holds: { layout: '', exact: '' },
  },
  patches: {
    kind: 'choice',
    default: false,
    does: 'Path patches on each delta of a call.',
    holds: NOTHING,
  },
  limits: {
    kind: 'open',
    takes: 'an object with some of [them](protocol.md#limits)',
    default: DEFAULT_LIMITS,
    does: 'How far a stream may go; `Infinity` lifts a limit.',
    holds: 'Whatever the limits allow.',
  },
  generateId: {
    kind: 'open',
    takes: 'a function',
    does: 'Makes the ids of calls, which must differ. Absent: random ones.',
    holds: '',
  },
  trace: {
    kind: 'open',
    takes: 'a function',
    does: 'Is told of every span of the input and what it was.',
    holds: '',
  },
  explain: {
    kind: 'open',
    takes: 'a function',
    does: 'Is told of each marker, and by which rule it was read.',
    holds: '',
  },
}
