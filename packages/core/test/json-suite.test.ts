/**
 * What JSON is, by the letter of RFC 8259, tried as the arguments of a call, character by character.
 *
 * Each accepted text has to come through exactly as it was written; each rejected one has to fail
 * its call, unless lenient reading knows what it means. What `JSON.parse` says about each line is
 * checked first, so the tables can't be wrong.
 */
import { describe, expect, test } from 'vitest'
import { collect } from '../src/index.ts'
import { chunked, drive } from './drive.ts'
import { verifyGrammar } from './grammar.ts'
import { type ReadOptions, read } from './reference.ts'

/** Values that an object may hold. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  literals: ['true', 'false', 'null', ' true ', '\t\n\r null \r\n'],
  numbers: [
    '0',
    '-0',
    '0.0',
    '-0.1',
    '12',
    '-12',
    '1.5',
    '1e1',
    '1E1',
    '1e+1',
    '1e-1',
    '0e0',
    '0e+1',
    '-0e-1',
    '1.25e+10',
    '123e65',
    '1e999',
    '-1e999',
    '1e-999',
    '0.4e0066999999999999999999999999999999999999999999999999999999999999999999999999999999',
    '12345678901234567890',
    '-98765432109876543210.0123456789012345678901234567890',
    '9007199254740993',
    '1.00000000000000000000000000000000000000000001',
  ],
  strings: [
    '""',
    '" "',
    '"a"',
    '"\\""',
    '"\\\\"',
    '"\\/"',
    '"\\b\\f\\n\\r\\t"',
    '"\\u0000"',
    '"\\u001f"',
    '"\\u00e9\\u00E9"',
    '"\\uD834\\uDD1E"',
    '"\\ud834"',
    '"\\udd1e"',
    '"\\udd1e\\ud834"',
    '"\\ud834\\ud834\\udd1e"',
    '"\\ud834x"',
    '"\\ud834\\n"',
    '"\ud834"',
    '"\udd1e\ud834"',
    '"\\ud834\udd1e"',
    '"\ud834\\udd1e"',
    '"\\u2028\\u2029"',
    '"\u2028\u2029"',
    '"\u007f"',
    '"\u0080\u009f"',
    '"\ufeff"',
    '"\ufffe\uffff"',
    '"€𝄞"',
    '"\\\\u0041"',
    '"\\\\\\""',
    '"\\\\\\\\"',
    '"/* no comment */ // none"',
    '"{[,:]}"',
    '"\'"',
    '"`"',
    '"</tool_call>"',
    '"<tool_call>{\\"name\\":\\"f\\"}</tool_call>"',
    '"<think>"',
    '"<"',
    '"</"',
    '"</tool_call"',
  ],
  lists: [
    '[]',
    '[ ]',
    '[[]]',
    '[""]',
    '[1]',
    '[1,2]',
    '[ 1 , 2 ]',
    '[\n1\r\n,\t2 ]',
    '[null,1,"",{},[]]',
    '[[],[[]],[[],[]]]',
    '[{"a":[{"b":[]}]}]',
  ],
  objects: [
    '{}',
    '{ }',
    '{"a":1}',
    '{ "a" : 1 }',
    '{"a":1,"b":2}',
    '{"a":1,"a":2}',
    '{"a":{"a":{"a":{}}}}',
    '{"":0}',
    '{" ":0}',
    '{"\\u0000":0}',
    '{"\\"":0}',
    '{"a\\/b":0}',
    '{"b":1,"a":2,"10":3,"2":4}',
    '{"__proto__":{"x":1}}',
    '{"__proto__":null,"constructor":{"prototype":{}}}',
    '{"toString":1,"hasOwnProperty":2}',
    '{"name":"g","arguments":{"name":"h"}}',
    '{"</tool_call>":"<tool_call>"}',
  ],
}

/** Values that no object may hold. */
const rejected: Readonly<Record<string, readonly string[]>> = {
  literals: [
    'True',
    'TRUE',
    'nul',
    'nulll',
    'tru',
    'truee',
    'fals',
    'falsee',
    'undefined',
    'NaN',
    '-NaN',
    'Infinity',
    '-Infinity',
    'None',
    'a',
    '*',
  ],
  numbers: [
    '-',
    '+1',
    '++1',
    '--1',
    '- 1',
    '01',
    '-01',
    '00',
    '-00',
    '0123',
    '.5',
    '-.5',
    '1.',
    '1.e1',
    '1.5.5',
    '1e',
    '1e+',
    '1e-',
    '1E',
    '1ee1',
    '1e1.5',
    '1e+-1',
    '0x1',
    '1_000',
    '1,5e',
    '1 000',
    '1-1',
    '1f',
    '１',
    '0b1',
    '1e１',
  ],
  strings: [
    "'a'",
    '"\\x"',
    '"\\x41"',
    '"\\a"',
    '"\\v"',
    '"\\0"',
    '"\\\'"',
    '"\\`"',
    '"\\ "',
    '"\\\n"',
    '"\\U0041"',
    '"\\u"',
    '"\\u4"',
    '"\\u41"',
    '"\\u041"',
    '"\\u004g"',
    '"\\u 041"',
    '"\\u+041"',
    '"\\u-041"',
    '"\\ud834\\u"',
    '"\\ud834\\"',
    '"\u0000"',
    '"\u0001"',
    '"\u001f"',
    '"\t"',
    '"\n"',
    '"\r"',
    '"a"b"',
    '"a" "b"',
    '"a"+"b"',
    'a"b"',
    '“a”',
    '`a`',
  ],
  lists: [
    '[1,]',
    '[,1]',
    '[,]',
    '[1,,2]',
    '[1 2]',
    '[1;2]',
    '[1:2]',
    '["a":1]',
    '[1}',
    '[1,2}',
    '[}',
    '][',
    '[]]',
    '[[]',
    '[1',
    '[1,',
    '["a"',
    '[a]',
    '[// c\n]',
    '[1/* c */]',
    '[...]',
    '(1)',
  ],
  objects: [
    '{"a"}',
    '{"a":}',
    '{"a",1}',
    '{"a"=1}',
    '{"a"::1}',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":1,,"b":2}',
    '{"a":1 "b":2}',
    '{"a":1;"b":2}',
    '{"a" 1}',
    '{"a" b:1}',
    '{a:1}',
    "{'a':1}",
    '{1:1}',
    '{null:1}',
    '{[]:1}',
    '{{}}',
    '{{"a":1}}',
    '{"a":1]',
    '{]',
    '{',
    '{"a":1',
    '{"a":1,',
    '{"a"',
    '{"a":',
    '{/* c */}',
    '{"a":1// c\n}',
    '{#c\n}',
    '{"a":1}{"b":2}',
    '{"a\n":1}',
    '{"\\x":1}',
  ],
  spaces: [
    '\u00a01',
    '1\u00a0',
    '\ufeff1',
    '\u2028 1',
    '\u000b1',
    '\u000c1',
    '1\u0000',
    '\u30001',
    '\u200b1',
    '',
    ' ',
    ',',
    ':',
    '\\',
  ],
}

/** What lenient reading makes of some of them; the others fail as they do in strict reading. */
const repaired: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['None', 'null'],
  ["'a'", '"a"'],
  ['"\\x"', '"\\\\x"'],
  ['"\\x41"', '"\\\\x41"'],
  ['"\\a"', '"\\\\a"'],
  ['"\\v"', '"\\\\v"'],
  ['"\\0"', '"\\\\0"'],
  ['"\\\'"', '"\\\\\'"'],
  ['"\\`"', '"\\\\`"'],
  ['"\\ "', '"\\\\ "'],
  ['"\\\n"', '"\\\\\\n"'],
  ['"\\U0041"', '"\\\\U0041"'],
  ['"\\u"', '"\\\\u"'],
  ['"\\u4"', '"\\\\u4"'],
  ['"\\u41"', '"\\\\u41"'],
  ['"\\u041"', '"\\\\u041"'],
  ['"\\u004g"', '"\\\\u004g"'],
  ['"\\u 041"', '"\\\\u 041"'],
  ['"\\u+041"', '"\\\\u+041"'],
  ['"\\u-041"', '"\\\\u-041"'],
  ['"\\ud834\\u"', '"\\ud834\\\\u"'],
  ['"\u0000"', '"\\u0000"'],
  ['"\u0001"', '"\\u0001"'],
  ['"\u001f"', '"\\u001f"'],
  ['"\t"', '"\\t"'],
  ['"\n"', '"\\n"'],
  ['"\r"', '"\\r"'],
  ['[1,]', '[1]'],
  ['[// c\n]', '[\n]'],
  ['[1/* c */]', '[1]'],
  ['{"a":1,}', '{"a":1}'],
  ['{"a":1 "b":2}', '{"a":1 ,"b":2}'],
  ['{a:1}', '{"a":1}'],
  ["{'a':1}", '{"a":1}'],
  ['{null:1}', '{"null":1}'],
  ['{', '{}'],
  ['{"a":1', '{"a":1}'],
  ['{"a":1,', '{"a":1}'],
  ['{/* c */}', '{}'],
  ['{"a":1// c\n}', '{"a":1\n}'],
  ['{"a\n":1}', '{"a\\n":1}'],
  ['{"\\x":1}', '{"\\\\x":1}'],
  ['\ufeff1', '1'],
])

const NEXT = '<tool_call>{"name":"next","arguments":{}}</tool_call>'

function callWith(json: string): string {
  return `<tool_call>{"name":"f","arguments":${json}}</tool_call>`
}

for (const [kind, values] of Object.entries(accepted)) {
  describe(`accepted ${kind}`, () => {
    for (const value of values) {
      test(JSON.stringify(value), () => {
        const json = `{"a":${value}}`
        expect(() => JSON.parse(json)).not.toThrow()
        for (const size of [1, 2, 1_000]) {
          const source = callWith(json) + NEXT
          const { events } = drive(chunked(source, size), { patches: true })
          verifyGrammar(events)
          const { calls, failed } = collect(events)
          expect(failed).toEqual([])
          expect(calls.map((call) => call.arguments)).toEqual([json, '{}'])
          expect(calls[0]!.input).toEqual(JSON.parse(json))
        }
      })
    }
  })
}

/** The call that follows a failed one is read if the rest of that is over before it. */
function verifyFailed(json: string, options: ReadOptions = {}): void {
  const source = callWith(json) + NEXT
  const expected = read(source, options)
  for (const size of [1, 2, 1_000]) {
    const { events } = drive(chunked(source, size), { patches: true, ...options })
    verifyGrammar(events)
    const { calls, failed } = collect(events)
    expect(failed.map((call) => call.name)).toEqual(['f'])
    expect(failed[0]).toMatchObject({
      code: expected.failed[0]!.code,
      raw: expected.failed[0]!.raw,
    })
    expect(calls.map((call) => call.name)).toEqual(expected.calls.map((call) => call.name))
  }
}

for (const [kind, values] of Object.entries(rejected)) {
  describe(`rejected ${kind}`, () => {
    for (const value of values) {
      const json = `{"a":${value}}`
      test(`strict ${JSON.stringify(value)}`, () => {
        expect(() => JSON.parse(json)).toThrow()
        verifyFailed(json, { strict: true })
      })
      test(`lenient ${JSON.stringify(value)}`, () => {
        const text = repaired.get(value)
        if (text === undefined) return verifyFailed(json)
        for (const size of [1, 2, 1_000]) {
          const { events } = drive(chunked(callWith(json) + NEXT, size), { patches: true })
          verifyGrammar(events)
          const { calls, failed } = collect(events)
          expect(failed).toEqual([])
          expect(calls.map((call) => call.arguments)).toEqual([`{"a":${text}}`, '{}'])
          expect(calls[0]!.repairs?.length).toBeGreaterThan(0)
        }
      })
    }
  })
}

describe('depth', () => {
  test('ten thousand levels are read, one more is not', () => {
    const nested = (levels: number): string =>
      `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    for (const size of [1, 4_096]) {
      const deep = collect(drive(chunked(callWith(nested(10_000)), size)).events)
      expect(deep.calls[0]?.arguments).toBe(nested(10_000))
      const deeper = collect(drive(chunked(callWith(nested(10_001)) + NEXT, size)).events)
      expect(deeper.failed.map((call) => call.code)).toEqual(['limit'])
      expect(deeper.calls.map((call) => call.name)).toEqual(['next'])
    }
  })
})

describe('arguments that are no object', () => {
  const empty = ['null', '""', '[]', '"{}"']
  for (const value of [...empty, '1', 'true', '[{}]', '', '}', '"1"', '"null"']) {
    test(JSON.stringify(value), () => {
      for (const strict of [true, false]) {
        const { calls, failed } = collect(drive([callWith(value) + NEXT], { strict }).events)
        if (empty.includes(value) && !strict) {
          expect(calls.map((call) => call.name)).toEqual(['f', 'next'])
          expect(calls[0]!.arguments).toBe('{}')
          continue
        }
        expect(failed.map((call) => [call.name, call.code])).toEqual([['f', 'malformed-arguments']])
        expect(calls.map((call) => call.name)).toEqual(['next'])
      }
    })
  }
})
