/**
 * JSON as models garble it: every repair at any place, quotes that don't balance, arguments in every
 * shape. The texts say nothing of what is right; for that there is the slow twin.
 */
import { anyUnits, blank, FRAGMENTS, joined, MARKERS, TOKENS, word } from './reference-pieces.ts'
import { fc } from './random.ts'

const often = <T>(
  arbitrary: fc.Arbitrary<T>,
  weight: number,
): { arbitrary: fc.Arbitrary<T>; weight: number } => ({
  arbitrary,
  weight,
})

/** White space, and what may stand for it. */
const gap: fc.Arbitrary<string> = fc.oneof(
  often(blank, 9),
  fc.constantFrom('\ufeff', '// c\n', '//\r\n', '/* c */', '/***/', '/**/ ', ' // it\'s "x"\n'),
  fc.constantFrom('//', '/', '/*', '/* <tool_call> */', '// </tool_call>\n', '// <tool_call>\n'),
)

const stringPiece: fc.Arbitrary<string> = fc.oneof(
  often(word, 4),
  fc.constantFrom(...MARKERS, ...FRAGMENTS, ...TOKENS),
  fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\u0041', '\\ud83d\\ude00', '\\ud800', '\\t'),
  fc.constantFrom('\\x', "\\'", '\\ ', '\\u12', '\\u12G4', '\\u', '\\', '\\\n', '\\“', '\\”'),
  fc.constantFrom('\n', '\t', '\r\n', '\u0000', '\u001f', '\u007f', '\u2028', '\ufeff'),
  fc.constantFrom('"', "'", '“', '”', '": ', '", ', '" }', '{', '}', ',', ':', '//', '/*'),
  anyUnits,
)

/** A string in any quotes; now and then its last quote is not there, or another. */
const anyString: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      often(fc.constant(['"', '"']), 8),
      often(fc.constant(["'", "'"]), 4),
      fc.constantFrom(['“', '”'], ['"', "'"], ['"', ''], ['', '"']),
    ),
    fc.array(stringPiece, { maxLength: 4 }),
  )
  .map(([[open, close], pieces]) => open + joined(pieces) + close)

const tidyString: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('"', "'", '"'), fc.array(word, { maxLength: 3 }))
  .map(([quote, pieces]) => quote + joined(pieces) + quote)

const atom: fc.Arbitrary<string> = fc.oneof(
  often(fc.constantFrom('true', 'false', 'null', '0', '-1.5e3', '12345678901234567890'), 4),
  often(fc.constantFrom('True', 'False', 'None'), 2),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', 'Truest', 'nul', '01', '1.', '-', 'yes', 'f'),
)

const key: fc.Arbitrary<string> = fc.oneof(
  often(fc.constantFrom('"a"', '"b"', '"name"', '"__proto__"', '"function=g"'), 4),
  often(fc.constantFrom("'a'", "'b'", 'a', 'b_1', '$x', 'für', '𝒳', 'a-b', '“a”'), 4),
  anyString,
  fc.constantFrom('1a', '-', 'a.b', ''),
)

/** What stands between two members. */
const comma: fc.Arbitrary<string> = fc.oneof(
  often(fc.constant(','), 8),
  fc.constantFrom('', ' ', '\n', ',,', ';', '/*c*/'),
)
/** What stands behind the last one. */
const lastComma: fc.Arbitrary<string> = fc.oneof(
  often(fc.constant(''), 4),
  fc.constantFrom(',', ', ', ',\n//c\n'),
)

function listed(items: readonly string[], commas: readonly string[]): string {
  return items.map((item, i) => (i === 0 ? item : (commas[i - 1] ?? ',') + item)).join('')
}

const braces: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  often(fc.constant(['{', '}'] as const), 12),
  often(fc.constant(['{{', '}}'] as const), 2),
  fc.constantFrom(
    ['{{', '}'] as const,
    ['{', ''] as const,
    ['{', '}}'] as const,
    ['{', ']'] as const,
  ),
)

const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyString,
    atom,
    tidyString,
    tie('object'),
    fc
      .tuple(
        fc.array(fc.tuple(gap, tie('value'), gap).map(joined), { maxLength: 3 }),
        fc.array(comma, { maxLength: 2 }),
        lastComma,
        gap,
      )
      .map(([items, commas, last, inner]) => `[${listed(items, commas)}${last}${inner}]`),
  ),
  object: fc
    .tuple(
      braces,
      fc.array(
        fc
          .tuple(
            gap,
            key,
            gap,
            fc.constantFrom(':', ':', ':', ':', '=', ''),
            gap,
            tie('value'),
            gap,
          )
          .map(joined),
        {
          maxLength: 3,
        },
      ),
      fc.array(comma, { maxLength: 2 }),
      lastComma,
      gap,
    )
    .map(
      ([[open, close], items, commas, last, inner]) =>
        open + listed(items, commas) + (items.length > 0 ? last : '') + inner + close,
    ),
}))

/** JSON in a string, once or twice. */
const encoded: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      often(object, 4),
      fc.constantFrom('{}', '{"a":1}', '', '[]', '[ ]', '""', 'null', '3', '{"a":"x\ny"}', '[1]'),
    ),
    fc.constantFrom('', '', ' ', '\n', ' I hope this helps', '{"b":2}', '// c', '/* c */'),
    fc.nat({ max: 2 }),
    fc.constantFrom('', '', '', ' ', '\ufeff'),
    fc.boolean(),
  )
  .map(([text, behind, more, before, single]) => {
    let json = before + text + behind
    for (let level = 0; level < more; level++) json = JSON.stringify(json)
    const last = JSON.stringify(json)
    if (!single) return last
    return `'${last.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  })

/** Arguments in any shape. */
export const looseArguments: fc.Arbitrary<string> = fc.oneof(
  often(object, 5),
  often(encoded, 2),
  fc.constantFrom('null', 'None', '""', "''", '[]', '[ ]', '[/**/]', '[1]', '[{}]', '3', 'true'),
  fc.constantFrom('nul', '"', '"{', '"{\\"a\\":', "'{", '“{}”', '"{}"x'),
  anyString,
)

const nameText: fc.Arbitrary<string> = fc.oneof(
  often(fc.constantFrom('"f"', '"g"', "'f'", '"n\\u00e9"', '" f "'), 8),
  fc.constantFrom('“f”', '"f\\q"', '"f\ng"', '""', '"-"', '"f', 'f', '"<tool_call>"', 'null'),
)
const nameKey: fc.Arbitrary<string> = fc.constantFrom(
  ...['"name"', '"name"', "'name'", 'name', '“name”', '"tool"', '"function"', 'tool_name'],
)
const argumentsKey: fc.Arbitrary<string> = fc.constantFrom(
  ...['"arguments"', '"arguments"', "'arguments'", 'arguments', '"parameters"', '"args"', 'input'],
)

const member: fc.Arbitrary<string> = fc.oneof(
  often(fc.tuple(nameKey, gap, fc.constant(':'), gap, nameText).map(joined), 5),
  often(fc.tuple(argumentsKey, gap, fc.constant(':'), gap, looseArguments).map(joined), 5),
  fc.constantFrom('"id":"c1"', "'id': 7", '"type":"function"', 'type: None', '"description":"d"'),
  fc.constantFrom('"function=f"', "'function=g'", '"function=f":1', '"function="'),
  fc.tuple(key, gap, fc.constant(':'), gap, value).map(joined),
  fc
    .tuple(nameText, looseArguments)
    .map(([name, args]) => `"function":{"name":${name},"arguments":${args}}`),
)

/** An object that calls, or nearly does. */
export const looseCall: fc.Arbitrary<string> = fc
  .tuple(
    braces,
    fc.oneof(
      often(
        fc
          .tuple(nameKey, gap, nameText, gap, comma, gap, argumentsKey, gap, looseArguments)
          .map(
            ([name, a, f, b, sep, c, args, d, text]) =>
              `${name}:${a}${f}${b}${sep}${c}${args}:${d}${text}`,
          ),
        3,
      ),
      fc
        .tuple(
          fc.array(fc.tuple(gap, member, gap).map(joined), { maxLength: 4 }),
          fc.array(comma, { maxLength: 3 }),
        )
        .map(([members, commas]) => listed(members, commas)),
    ),
    lastComma,
    gap,
  )
  .map(([[open, close], members, last, inner]) => open + members + last + inner + close)
