/**
 * Inputs for the properties: prose, markers, near-markers, valid calls of every shape, broken ones,
 * and what models write beside them: results, turns, calls without a marker.
 *
 * JSON is generated as text, not as values, so that spacing, escapes, long digits and repeated keys
 * occur; a valid call comes with the name and the arguments' text that a parser has to find in it.
 */
import type { DriveOptions } from './drive.ts'
import { looseArguments, looseCall } from './reference-hostile-json.ts'
import {
  anyUnits,
  blank,
  FRAGMENTS,
  joined,
  MARKERS,
  OTHER_MARKERS,
  ROLES,
  TOKEN_PIECES,
  TOKENS,
  word,
} from './reference-pieces.ts'
import { fc } from './random.ts'

export { anyUnits } from './reference-pieces.ts'

/** What inputs and options may hold: each can be left out while something else is looked into. */
const FEATURES = {
  /** JSON that breaks its letter. */
  hostileJson: true,
  /** A code fence inside a tag. */
  fencesInTags: true,
  /** A message that begins with a call object. */
  bareObjects: true,
  specialTokens: true,
  roleHeaders: true,
  inventedResults: true,
  otherMarkers: true,
  jsonOptions: true,
  markerOptions: true,
  reasoningOptions: true,
  bareOptions: true,
} as const

function when<T>(
  feature: keyof typeof FEATURES,
  weight: number,
  arbitrary: fc.Arbitrary<T>,
): { readonly arbitrary: fc.Arbitrary<T>; readonly weight: number }[] {
  return FEATURES[feature] ? [{ arbitrary, weight }] : []
}

/** Text that holds calls, and what they are. */
export interface Sample {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** Sentences without any character of a marker or a quote. */
export const plainProse: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom('a', 'So', 'naïve', '東京', '👍🏽', '1.'), blank), {
    minLength: 1,
    maxLength: 8,
  })
  .map((pieces) => pieces.join(' '))

const prose = fc
  .array(fc.oneof({ arbitrary: word, weight: 4 }, blank, anyUnits), { maxLength: 6 })
  .map((pieces) => pieces.join(''))

/** Markers and pieces of markers in any order. */
export const soup: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { arbitrary: fc.constantFrom(...MARKERS), weight: 3 },
      { arbitrary: fc.constantFrom(...FRAGMENTS), weight: 3 },
      ...when('otherMarkers', 1, fc.constantFrom(...OTHER_MARKERS)),
      ...when('specialTokens', 1, fc.constantFrom(...TOKENS, ...TOKEN_PIECES)),
      blank,
      word,
    ),
    { maxLength: 14 },
  )
  .map((pieces) => pieces.join(''))

// ---- JSON, as text

const stringPiece = fc.oneof(
  { arbitrary: word, weight: 3 },
  fc.constantFrom(...MARKERS, ...FRAGMENTS).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\u0041', '\\ud83d\\ude00', '\\ud800', '\\u0000'),
  fc.constantFrom('{', '}', '[', ']', '`', "'", '\u007f', '\u2028'),
  anyUnits.map((text) => text.replace(/["\\\u0000-\u001f]/g, '')),
)

/** A JSON string with its quotes. */
const jsonString: fc.Arbitrary<string> = fc
  .array(stringPiece, { maxLength: 5 })
  .map((pieces) => `"${pieces.join('')}"`)

const jsonAtom = fc.oneof(
  jsonString,
  jsonString,
  fc.constantFrom('true', 'false', 'null'),
  fc.constantFrom('0', '-0', '7', '-1.50', '1e9', '1E+400', '0.1e-7', '9007199254740993.0'),
  fc.bigInt().map(String),
)

const jsonKey = fc.oneof(
  jsonString,
  fc.constantFrom('"a"', '"b"', '"name"', '"arguments"', '"__proto__"', '"constructor"', '""'),
)

const { object: jsonObject } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    jsonAtom,
    tie('object'),
    fc
      .tuple(fc.array(fc.tuple(blank, tie('value'), blank), { maxLength: 3 }), blank)
      .map(([items, inner]) => `[${items.length > 0 ? items.map(joined).join(',') : inner}]`),
  ),
  object: fc
    .tuple(
      fc.array(fc.tuple(blank, jsonKey, blank, fc.constant(':'), blank, tie('value'), blank), {
        maxLength: 3,
      }),
      blank,
    )
    .map(([items, inner]) => `{${items.length > 0 ? items.map(joined).join(',') : inner}}`),
}))

export { jsonObject }

// ---- calls

const WRAPPERS: readonly string[] = ['tool_call', 'function_call', 'function']
const bareName = fc.constantFrom('f', 'get_weather', 'a.b-c', 'für', '調べる', 'x1', 'ns::tool')
const jsonName = fc.oneof(
  bareName.map((name) => ({ name, text: JSON.stringify(name) })),
  fc.constantFrom(
    { name: 'Answer Tool', text: '"Answer Tool"' },
    { name: 'f', text: '" f "' },
    { name: 'né', text: '"n\\u00e9"' },
    { name: 'a/b', text: '"a\\/b"' },
    { name: '\ud800x', text: '"\ud800x"' },
  ),
)
const nameKey = fc.constantFrom(
  '"name"',
  '"name"',
  '"tool"',
  '"function"',
  '"tool_name"',
  '"n\\u0061me"',
)
const argumentsKey = fc.constantFrom(
  '"arguments"',
  '"arguments"',
  '"parameters"',
  '"args"',
  '"input"',
)
const extra = fc.constantFrom('', '', '', '"id": "c1"', '"type":"function"', '"id":{"a":[1]}')

interface CallObject {
  readonly text: string
  readonly name: string
  readonly arguments: string
}

/** An object of a name and arguments, in any order, with any spacing. */
const callObject: fc.Arbitrary<CallObject> = fc
  .record({
    name: jsonName,
    nameKey,
    args: fc.option(jsonObject, { freq: 6, nil: undefined }),
    argumentsKey,
    extra,
    extraFirst: fc.boolean(),
    argumentsFirst: fc.boolean(),
    nested: fc.constantFrom(false, false, false, true),
    space: blank,
    gap: blank,
  })
  .map((choice) => {
    const { name, args, space, gap } = choice
    const key = choice.nested ? '"name"' : choice.nameKey
    const pairs = [`${key}${space}:${space}${name.text}`]
    if (args !== undefined) pairs.push(`${choice.argumentsKey}${space}:${gap}${args}`)
    if (choice.argumentsFirst) pairs.reverse()
    const members = choice.nested ? [`"function":{${pairs.join(',')}}`] : pairs
    if (choice.extra && choice.extraFirst) members.unshift(choice.extra)
    if (choice.extra && !choice.extraFirst) members.push(choice.extra)
    const text = `{${space}${members.join(`${gap},${space}`)}${gap}}`
    return { text, name: name.name, arguments: args ?? '{}' }
  })

const wrapped: fc.Arbitrary<Sample> = fc
  .tuple(fc.constantFrom(...WRAPPERS), fc.constantFrom('', '', ' ', '\n'), blank, callObject, blank)
  .map(([tag, inTag, before, call, after]) => ({
    text: `<${tag}${inTag}>${before}${call.text}${after}</${tag}${inTag.trim()}>`,
    calls: [call],
  }))

const several: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.constantFrom(...WRAPPERS),
    fc.array(callObject, { minLength: 2, maxLength: 3 }),
    fc.constantFrom(',', ', ', '\n', '', ',\n', ';', ' ; '),
    blank,
  )
  .map(([tag, calls, separator, space]) => ({
    text: `<${tag}>${space}${calls.map((call) => call.text).join(separator)}${space}</${tag}>`,
    calls,
  }))

const list: fc.Arbitrary<Sample> = fc
  .tuple(fc.constantFrom(...WRAPPERS), fc.array(callObject, { minLength: 1, maxLength: 3 }), blank)
  .map(([tag, calls, space]) => ({
    text: `<${tag}>${space}[${space}${calls.map((call) => call.text).join(`${space},${space}`)}${space}]${space}</${tag}>`,
    calls,
  }))

const named: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.constantFrom('function', 'attribute', 'apostrophes', 'unwrapped'),
    fc.array(fc.record({ name: bareName, arguments: jsonObject }), { minLength: 1, maxLength: 2 }),
    blank,
    fc.constantFrom('', '', ' '),
  )
  .map(([shape, calls, space, inTag]) => {
    const head = ({ name }: { name: string }): string => `<function=${name}${inTag}>`
    const body = (call: (typeof calls)[number]): string => `${space}${call.arguments}${space}`
    const quote = shape === 'attribute' ? '"' : "'"
    const first = calls[0]!
    if (shape === 'function')
      return {
        text: `<tool_call>${space}${calls.map((call) => `${head(call)}${body(call)}</function>`).join(space)}${space}</tool_call>`,
        calls,
      }
    if (shape === 'unwrapped')
      return { text: `\n${head(first)}${body(first)}</function${inTag}>`, calls: [first] }
    return {
      text: `<tool_call name=${quote}${first.name}${quote}${inTag}>${body(first)}</tool_call>`,
      calls: [first],
    }
  })

/** A valid call, or several in one tag. */
export const validCalls: fc.Arbitrary<Sample> = fc.oneof(
  { arbitrary: wrapped, weight: 4 },
  several,
  list,
  { arbitrary: named, weight: 3 },
)

/** Valid calls with plain prose between them. */
export const validStream: fc.Arbitrary<Sample> = fc
  .array(fc.tuple(fc.option(plainProse, { nil: '' }), validCalls), { minLength: 1, maxLength: 3 })
  .map((pieces) => ({
    text: pieces.map(([before, sample]) => before + sample.text).join(''),
    calls: pieces.flatMap(([, sample]) => sample.calls),
  }))

/** A call with one place changed, or its end cut off. */
export const brokenCall: fc.Arbitrary<string> = fc
  .tuple(
    validCalls,
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.oneof(fc.constant(''), fc.constantFrom(...FRAGMENTS, ...MARKERS), fc.constant('\u0001')),
    fc.boolean(),
  )
  .map(([{ text }, place, removed, inserted, cutOff]) => {
    const at = place % (text.length + 1)
    return text.slice(0, at) + inserted + (cutOff ? '' : text.slice(at + removed))
  })

/** Call-shaped text in places where nothing is called. */
export const quotedCall: fc.Arbitrary<string> = fc
  .tuple(
    validCalls,
    fc.constantFrom('think', 'thinking', 'reasoning', 'fence', 'tildes', 'inline', 'block'),
  )
  .map(([{ text }, place]) => {
    const flat = text.replace(/[\r\n]+/g, ' ')
    if (place === 'fence') return `\n\`\`\`\`\`json\n${text.replaceAll('`', "'")}\n\`\`\`\`\`\n`
    if (place === 'tildes') return `\n~~~~~\n${text.replaceAll('~', '-')}\n~~~~~\n`
    if (place === 'inline') return `so \`${flat.replaceAll('`', "'")}\` it is`
    if (place === 'block') return `\n> ${flat}\n`
    return `\n<${place}>${text.replaceAll(`</${place}>`, '')}</${place}>\n`
  })

const tagName = fc.constantFrom(...WRAPPERS)

/** A call in a tag whose JSON may break its letter, or break altogether. */
const hostileCall: fc.Arbitrary<string> = fc
  .tuple(
    tagName,
    fc.array(looseCall, { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', '', ', ', '\n', ';'),
    fc.constantFrom('', '', '', '', '}', ']', ' so', '</invoke>', ',', '```'),
    fc.constantFrom('close', 'close', 'close', 'none', 'other', 'named', 'attribute', 'list'),
    looseArguments,
  )
  .map(([tag, calls, between, behind, shape, args]) => {
    const body = calls.join(between) + behind
    if (shape === 'named') return `<tool_call><function=f>${args}${behind}</function></tool_call>`
    if (shape === 'attribute') return `<tool_call name="f">${args}${behind}</tool_call>`
    if (shape === 'list') return `<${tag}>[${calls.join(',')}]${behind}</${tag}>`
    const closer = { close: `</${tag}>`, none: '', other: '</function>' }[shape] ?? ''
    return `<${tag}>${body}${closer}`
  })

/** A code fence inside the tag. */
const fencedInTag: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('<tool_call>', '<function_call>', '<tool_call name="f">', '<function=f>'),
    fc.constantFrom('```json\n', '```\n', '\n```tool_call \n ', '```js on\n', '```'),
    fc.oneof(
      callObject.map((call) => call.text),
      fc.constantFrom('{}', '{"a":1}', '[', 'x'),
    ),
    fc.constantFrom('\n```\n', '```', '', '\n```\n```', '\n```so'),
    fc.constantFrom('</tool_call>', '</function>', ''),
  )
  .map(joined)

/** A call object that no opener stands before. */
const bareObject: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      { arbitrary: callObject.map((call) => call.text), weight: 3 },
      looseCall,
      fc.array(callObject, { maxLength: 2 }).map((calls) => {
        return `[${calls.map((call) => call.text).join(', ')}]`
      }),
      fc.constantFrom('{"a":"<tool_call>{\\"name\\":\\"f\\"}"', '{"name":"f","x":1}', '{}'),
      fc.array(callObject, { maxLength: 2 }).map((calls) => {
        return `{"tool_calls": [${calls.map((call) => call.text).join(', ')}]}`
      }),
    ),
    fc.constantFrom('</tool_call>', '\n</tool_call >', '', '\n', ' so', '</tool_ca', '</function>'),
    fc.constantFrom('', '', '\n', '<think>so</think>\n', 'so\n', '```json\n', '```\n'),
  )
  .map(([object, behind, before]) => {
    const fence = before.startsWith('```') ? '\n```' : ''
    return before + object + behind + fence
  })

/** End-of-turn tokens, and perhaps another turn. */
const turnEnd: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...TOKENS), blank).map(joined), {
      minLength: 1,
      maxLength: 2,
    }),
    fc.oneof(
      { arbitrary: fc.constant(''), weight: 3 },
      ...when('roleHeaders', 2, fc.constantFrom(...ROLES)),
    ),
  )
  .map(([tokens, role]) => joined(tokens) + role)

/** A result that is not the model's to write. */
const inventedResult: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('tool_response', 'tool_result', 'function_result', 'function_results'),
    fc.oneof(
      prose,
      validCalls.map((sample) => sample.text),
      fc.constantFrom('`', '\n```\n', '</tool_result>', '<|im_end|>'),
    ),
    fc.constantFrom('same', 'same', 'none', 'other'),
  )
  .map(([tag, inside, close]) => {
    const closer = { same: `</${tag}>`, none: '', other: '</tool_output>' }[close] ?? ''
    return `<${tag}>${inside}${closer}`
  })

const piece = fc.oneof(
  { arbitrary: prose, weight: 3 },
  { arbitrary: validCalls.map((sample) => sample.text), weight: 4 },
  { arbitrary: brokenCall, weight: 3 },
  { arbitrary: quotedCall, weight: 1 },
  { arbitrary: soup, weight: 2 },
  fc.constantFrom('<think>so</think>', '\n', ' ', '</tool_call>', '</function>'),
  ...when('hostileJson', 3, hostileCall),
  ...when('fencesInTags', 1, fencedInTag),
  ...when('bareObjects', 1, bareObject),
  ...when('specialTokens', 1, turnEnd),
  ...when('inventedResults', 1, inventedResult),
  ...when('otherMarkers', 1, fc.constantFrom('[THINK]so[/THINK]', '</invoke>', '<tool-call>')),
)

const plainStream: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 5 })
  .map((pieces) => pieces.join(''))

/** Any model text: all of the above, mixed. */
export const anyStream: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: plainStream, weight: 6 },
  ...when('specialTokens', 1, fc.tuple(plainStream, turnEnd).map(joined)),
  ...when('bareObjects', 1, fc.tuple(bareObject, plainStream).map(joined)),
)

/** Tags with JSON of every fault in them. */
export const hostileStream: fc.Arbitrary<string> = FEATURES.hostileJson
  ? fc.array(hostileCall, { minLength: 1, maxLength: 2 }).map(joined)
  : plainStream

// ---- options

const flag = fc.constantFrom(undefined, true)

/** Options that change how a text is read. */
export const readingOptions: fc.Arbitrary<DriveOptions> = fc
  .record(
    {
      tools: fc.constantFrom(
        [],
        [{ name: 'f' }],
        [{ name: 'f', parameters: { properties: { a: {}, b: {}, __proto__: {} } } }],
        [{ name: 'other' }, { type: 'function', function: { name: 'get_weather' } }],
      ),
      toolChoice: fc.constantFrom('auto' as const, 'auto' as const, 'none' as const),
      startIn: fc.constantFrom('text' as const, 'reasoning' as const, 'call' as const),
      ...(FEATURES.jsonOptions && {
        strict: flag,
        guessQuotes: flag,
        curlyQuotes: flag,
        gluedArguments: fc.constantFrom('fail' as const, 'first' as const),
      }),
      ...(FEATURES.markerOptions && {
        callsInFences: flag,
        failedAsText: flag,
        stripOrphanTags: flag,
        specialTokens: fc.constantFrom('drop' as const, 'keep' as const),
        dropAfterFabricated: flag,
      }),
      ...(FEATURES.reasoningOptions && {
        callsInReasoning: fc.constantFrom('off' as const, 'at-end' as const, 'on' as const),
        quotedClosers: fc.constantFrom('text' as const, 'close' as const),
        unclosedReasoning: fc.constantFrom('reasoning' as const, 'text' as const),
      }),
      ...(FEATURES.bareOptions && {
        bareJson: fc.constantFrom('off' as const, 'whole-message' as const, 'last-line' as const),
        fencedCall: fc.constantFrom('off' as const, 'whole-message' as const),
      }),
    },
    { requiredKeys: [] },
  )
  // Few at a time, so that one does not hide the others.
  .chain((options) =>
    fc
      .shuffledSubarray(Object.keys(options), {
        maxLength: Math.min(3, Object.keys(options).length),
      })
      .map((keys) => pick(options, keys)),
  )

function pick(options: object, keys: readonly string[]): DriveOptions {
  const entries = Object.entries(options).filter(
    ([key, value]) => keys.includes(key) && value !== undefined,
  )
  return Object.fromEntries(entries) as DriveOptions
}

/** Places to cut at; `cutAt` brings them into the text's length. */
export const anyCuts: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(fc.nat(), { maxLength: 8 }),
  fc.array(fc.nat(), { maxLength: 200, size: 'max' }),
)
