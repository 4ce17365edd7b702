/**
 * Lenient JSON: what is repaired, what the repaired text is, and what is no repair.
 *
 * Each case runs whole, unit by unit and at every cut in two, with path patches: the events must be
 * the same, the deltas must be a beginning of the text at any time, and the patches must build the
 * value.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { collect, type JsonValue, type Message, type RepairCode } from '../src/index.ts'
import { chunked, cutAt, drive, type DriveOptions, uncut } from './drive.ts'
import { verifyGrammar } from './grammar.ts'
import { fc } from './random.ts'
import { printSloppily, sloppyInput } from './sloppy-printer.ts'

interface Read {
  readonly call: Message['calls'][number] | undefined
  readonly failed: Message['failed'][number] | undefined
  readonly warnings: Message['warnings']
  readonly text: string
}

/**
 * Reads a stream with one call at the most, in every way; `few`: not at every cut. Without patches
 * and traces the machine has a shorter way for strings, so that is tried, too.
 */
function readStream(source: string, options: DriveOptions = {}, few = false): Read {
  const whole = drive([source], { patches: true, ...options })
  const expected = uncut(whole)
  const units = chunked(source, 1)
  const ways = [units, chunked(source, 3)]
  if (!few) for (let cut = 1; cut < source.length; cut++) ways.push(cutAt(source, [cut]))
  for (const chunks of ways) {
    const driven = drive(chunks, { patches: true, ...options })
    verifyGrammar(driven.events)
    const found = uncut(driven)
    if (!isDeepStrictEqual(found, expected)) {
      expect(found, JSON.stringify(chunks)).toEqual(expected)
    }
  }
  const { calls, failed, warnings, text, parts } = collect(whole.events)
  const quiet = { ...options, trace: undefined }
  expect(collect(drive(units, quiet).events).parts).toEqual(parts)
  expect(calls.length + failed.length).toBeLessThan(2)
  return { call: calls[0], failed: failed[0], warnings, text }
}

function callWith(json: string): string {
  return `<tool_call>{"name":"f","arguments":${json}}</tool_call>`
}

/** Arguments, and what they come to: their text and the repairs. */
type Repaired = readonly [source: string, text: string, ...repairs: string[]]

function verifyRepaired([source, text, ...repairs]: Repaired, options: DriveOptions = {}): void {
  const { call, failed } = readStream(callWith(source), options)
  expect(failed).toBeUndefined()
  expect(call).toMatchObject({ name: 'f', arguments: text, input: JSON.parse(text) as JsonValue })
  expect(call?.repairs ?? []).toEqual(repairs)
}

const REPAIRED: Readonly<Record<string, readonly Repaired[]>> = {
  'control characters': [
    ['{"a":"x\ny"}', '{"a":"x\\ny"}', 'control-character'],
    ['{"a":"\t\r\b\f"}', '{"a":"\\t\\r\\b\\f"}', 'control-character'],
    ['{"a":"\u0000\u001f"}', '{"a":"\\u0000\\u001f"}', 'control-character'],
    ['{"a\n":"\n😀\n"}', '{"a\\n":"\\n😀\\n"}', 'control-character'],
  ],
  'invalid escapes': [
    ['{"a":"\\d+\\.\\s"}', '{"a":"\\\\d+\\\\.\\\\s"}', 'invalid-escape'],
    ['{"a":"C:\\Users\\x"}', '{"a":"C:\\\\Users\\\\x"}', 'invalid-escape'],
    ['{"a":"\\u"}', '{"a":"\\\\u"}', 'invalid-escape'],
    ['{"a":"\\u12"}', '{"a":"\\\\u12"}', 'invalid-escape'],
    ['{"a":"\\u12G4"}', '{"a":"\\\\u12G4"}', 'invalid-escape'],
    ['{"a":"\\u123"}', '{"a":"\\\\u123"}', 'invalid-escape'],
    ['{"a":"\\u1\\u00e9"}', '{"a":"\\\\u1\\u00e9"}', 'invalid-escape'],
    ['{"a":"\\ud83d\\ude0"}', '{"a":"\\ud83d\\\\ude0"}', 'invalid-escape'],
    ['{"a":"\\x\\\\y"}', '{"a":"\\\\x\\\\y"}', 'invalid-escape'],
    ['{"a":"\\😀"}', '{"a":"\\\\😀"}', 'invalid-escape'],
    ['{"a":"it\\\'s"}', '{"a":"it\\\\\'s"}', 'invalid-escape'],
    ['{"\\w":1}', '{"\\\\w":1}', 'invalid-escape'],
    ['{"a":"\\\n"}', '{"a":"\\\\\\n"}', 'invalid-escape', 'control-character'],
    ['{"a":"\\u\n"}', '{"a":"\\\\u\\n"}', 'invalid-escape', 'control-character'],
  ],
  'commas too many': [
    ['{"a":1,}', '{"a":1}', 'trailing-comma'],
    ['{"a":[1,2,],}', '{"a":[1,2]}', 'trailing-comma'],
    ['{"a":1 , \n }', '{"a":1  \n }', 'trailing-comma'],
    ['{"a":["x" ,\t] , }', '{"a":["x" \t]  }', 'trailing-comma'],
    ['{"a":[[],{},],}', '{"a":[[],{}]}', 'trailing-comma'],
    ['{"a":[true,null,],}', '{"a":[true,null]}', 'trailing-comma'],
  ],
  'commas missing': [
    ['{"a":1 "b":2}', '{"a":1 ,"b":2}', 'missing-comma'],
    ['{"a":1"b":2}', '{"a":1,"b":2}', 'missing-comma'],
    [
      '{"a":"x""b":{}"c":[]\n"d":null"e":-1e5"f":0}',
      '{"a":"x","b":{},"c":[]\n,"d":null,"e":-1e5,"f":0}',
      'missing-comma',
    ],
    [
      '{"a":[{}{"b":1} [2][],1,2{"c":[[][]]}]}',
      '{"a":[{},{"b":1} ,[2],[],1,2,{"c":[[],[]]}]}',
      'missing-comma',
    ],
    ['{"a":1 \'b\':2}', '{"a":1 ,"b":2}', 'missing-comma', 'single-quotes'],
  ],
  comments: [
    ['{// c\n"a":1}', '{\n"a":1}', 'comment'],
    ['{/* c */}', '{}', 'comment'],
    ['{"a"/**/:/***/1/*x*/,/* } */"b":[/*]*/1/**//**/,2//"\n]}', '{"a":1,"b":[1,2\n]}', 'comment'],
    ['{"a":"/* no */ // none"}', '{"a":"/* no */ // none"}'],
    ['{"a":1, // last\n}', '{"a":1 \n}', 'comment', 'trailing-comma'],
    ['{"a":1 , /* x */ /* y */ }', '{"a":1    }', 'comment', 'trailing-comma'],
    [
      '{"a":1, // next\r\n "b":[1,/*x*/2,/*y*/]}',
      '{"a":1, \n "b":[1,2]}',
      'comment',
      'trailing-comma',
    ],
    ['{"a":true/* <tool_call> </tool_call> */}', '{"a":true}', 'comment'],
    ['{// <tool_call> and < and </think>\n}', '{\n}', 'comment'],
    ['{// <tool_call \n}', '{\n}', 'comment'],
    ['{"a":/* * / **/1//\n}', '{"a":1\n}', 'comment'],
    ['{"a":12/* 3 */}', '{"a":12}', 'comment'],
    ['{"a":1/**/"b":2}', '{"a":1,"b":2}', 'comment', 'missing-comma'],
  ],
  'single quotes': [
    ["{'a':'b'}", '{"a":"b"}', 'single-quotes'],
    ["{'':''}", '{"":""}', 'single-quotes'],
    ["{'a':'say \"hi\"'}", '{"a":"say \\"hi\\""}', 'single-quotes'],
    ["{'a':'it\\'s \\\"so\\\"\\n'}", '{"a":"it\'s \\"so\\"\\n"}', 'single-quotes'],
    ["{'a':['x',\"y\",'😀']}", '{"a":["x","y","😀"]}', 'single-quotes'],
    ["{'a':'\n'}", '{"a":"\\n"}', 'single-quotes', 'control-character'],
    ["{'a':'\\d'}", '{"a":"\\\\d"}', 'single-quotes', 'invalid-escape'],
    ["{'a':'\\u12'}", '{"a":"\\\\u12"}', 'single-quotes', 'invalid-escape'],
    ["{'a':'</tool_call>'}", '{"a":"</tool_call>"}', 'single-quotes'],
    ['{"a":"it\'s"}', '{"a":"it\'s"}'],
  ],
  'keys without quotes': [
    ['{a:1}', '{"a":1}', 'unquoted-key'],
    ['{a_1-b : 1,$x:{é:2}}', '{"a_1-b" : 1,"$x":{"é":2}}', 'unquoted-key'],
    ['{𝒳y𝒵:1}', '{"𝒳y𝒵":1}', 'unquoted-key'],
    ['{null:1,True:2}', '{"null":1,"True":2}', 'unquoted-key'],
    ['{a/**/:1}', '{"a":1}', 'unquoted-key', 'comment'],
    ['{ 名前 : [ { b:1 } ] , }', '{ "名前" : [ { "b":1 } ]  }', 'unquoted-key', 'trailing-comma'],
    ['{__proto__:{x:1},constructor:1}', '{"__proto__":{"x":1},"constructor":1}', 'unquoted-key'],
  ],
  'literals of Python': [
    ['{"a":True,"b":[False,None]}', '{"a":true,"b":[false,null]}', 'python-literal'],
    ['{"a":None/**/}', '{"a":null}', 'python-literal', 'comment'],
    ["{'a':None}", '{"a":null}', 'single-quotes', 'python-literal'],
    [
      '{"a":[None,],"b":True "c":False}',
      '{"a":[null],"b":true ,"c":false}',
      'python-literal',
      'trailing-comma',
      'missing-comma',
    ],
  ],
  'byte order marks': [
    ['{\ufeff"a"\ufeff:\ufeff1\ufeff}', '{"a":1}', 'byte-order-mark'],
    ['{"a":[1,\ufeff ]}', '{"a":[1 ]}', 'byte-order-mark', 'trailing-comma'],
    ['{"a":1,\ufeff "b":2}', '{"a":1, "b":2}', 'byte-order-mark'],
    ['{"\ufeff":"\ufeff"}', '{"\ufeff":"\ufeff"}'],
  ],
  'nothing as arguments': [
    ['null', '{}', 'empty-arguments'],
    ['None', '{}', 'python-literal', 'empty-arguments'],
    ['""', '{}', 'empty-arguments'],
    ["''", '{}', 'single-quotes', 'empty-arguments'],
    ['[]', '{}', 'empty-arguments'],
    ['[ \n/* none */ ]', '{}', 'comment', 'empty-arguments'],
    ['"[]"', '{}', 'decoded-arguments', 'empty-arguments'],
    ['" [ ] "', '{}', 'decoded-arguments', 'empty-arguments'],
    ['"\\"\\""', '{}', 'decoded-arguments', 'empty-arguments'],
  ],
  'arguments in a string': [
    ['"{}"', '{}', 'decoded-arguments'],
    ['"{\\"a\\": 1}"', '{"a": 1}', 'decoded-arguments'],
    ['" \\n{\\"a\\":\\"x\\"}\\t "', '{"a":"x"}', 'decoded-arguments'],
    ['"{\\"a\\":\\"x\\\\ny\\"}"', '{"a":"x\\ny"}', 'decoded-arguments'],
    ['"{\\"a\\":\\"x\\ny\\"}"', '{"a":"x\\ny"}', 'decoded-arguments', 'control-character'],
    ['"{\\"a\\":\\"\\ud83d\\ude00\\"}"', '{"a":"😀"}', 'decoded-arguments'],
    ['"{\\"a\\":\\"\\\\ud83d\\\\ude00\\"}"', '{"a":"\\ud83d\\ude00"}', 'decoded-arguments'],
    ['"{\\"a\\":\\"\\ud83d\\"}"', '{"a":"\ud83d"}', 'decoded-arguments'],
    ['"{\\u0022a\\u0022:[1,2.5e3,true]}"', '{"a":[1,2.5e3,true]}', 'decoded-arguments'],
    ['"{a:1,}"', '{"a":1}', 'decoded-arguments', 'unquoted-key', 'trailing-comma'],
    ["\"{'a': 'b', }\"", '{"a": "b" }', 'decoded-arguments', 'single-quotes', 'trailing-comma'],
    ['\'{"a":1}\'', '{"a":1}', 'single-quotes', 'decoded-arguments'],
    ['\'{"a":"it\\\'s"}\'', '{"a":"it\'s"}', 'single-quotes', 'decoded-arguments'],
    ['"{} // c"', '{}', 'decoded-arguments', 'comment'],
    ['"/*c*/{\\"a\\":1}// d\\n"', '{"a":1}', 'comment', 'decoded-arguments'],
    ['"{\\"a\\":1// </tool_call>\\n}"', '{"a":1\n}', 'decoded-arguments', 'comment'],
    ['"\ufeff{}"', '{}', 'byte-order-mark', 'decoded-arguments'],
    ['"{\\"a\\":\\"\\\\d\\"}"', '{"a":"\\\\d"}', 'decoded-arguments', 'invalid-escape'],
    ['"{\\"a\\":1,\\n}"', '{"a":1\n}', 'decoded-arguments', 'trailing-comma'],
    ['"\\"{\\\\\\"a\\\\\\": 1}\\""', '{"a": 1}', 'decoded-arguments'],
    ['"\\"{\\\\\\"a\\\\\\":\\\\\\"\\\\\\\\n\\\\\\"}\\" "', '{"a":"\\n"}', 'decoded-arguments'],
    ['"{\\"a\\":\\"</tool_call>\\"}"', '{"a":"</tool_call>"}', 'decoded-arguments'],
    ['"{\n\\"a\\":1}"', '{\n"a":1}', 'decoded-arguments', 'control-character'],
  ],
}

for (const [kind, cases] of Object.entries(REPAIRED)) {
  describe(kind, () => {
    for (const repaired of cases) {
      test(JSON.stringify(repaired[0]), () => {
        verifyRepaired(repaired)
        if (repaired.length === 2) return
        const { call, failed } = readStream(callWith(repaired[0]), { strict: true })
        expect(call).toBeUndefined()
        expect(failed).toMatchObject({ name: 'f', code: 'malformed-arguments' })
      })
    }
  })
}

describe('the call level', () => {
  const cases: readonly Repaired[] = [
    ["{'name':'f','arguments':{}}", '{}', 'single-quotes'],
    ['{name:"f",arguments:{a:1}}', '{"a":1}', 'unquoted-key'],
    ['{"name":"f" "arguments":{}}', '{}', 'missing-comma'],
    ['{"name":"f"\'arguments\':{}}', '{}', 'missing-comma', 'single-quotes'],
    ['{"name":"f","arguments":{},}', '{}', 'trailing-comma'],
    ['{/*a*/"name"/*b*/:/*c*/"f"/*d*/,/*e*/"arguments"/*f*/:/*g*/{}/*h*/}', '{}', 'comment'],
    [
      '\n{ // the call\n"name":"f", // <tool_call> </think>\n"arguments":{} // end\n}',
      '{}',
      'comment',
    ],
    ['{\ufeff"name":"f",\ufeff"arguments":\ufeff{}\ufeff}', '{}', 'byte-order-mark'],
    ['{"name":"f","id":None,"arguments":{}}', '{}', 'python-literal'],
    ['{"name":"f","id":\'7\',"arguments":{}}', '{}', 'single-quotes'],
    ['{"arguments":{"a":1,},"name":"f"}', '{"a":1}', 'trailing-comma'],
    ['{"arguments":"{\\"a\\":1}","name":"f"}', '{"a":1}', 'decoded-arguments'],
    ['{"arguments":null,"name":"f"}', '{}', 'empty-arguments'],
    ['{"function":{"name":"f","arguments":"{}",},}', '{}', 'decoded-arguments', 'trailing-comma'],
    ['{"function=f","arguments":{"a":1}}', '{"a":1}', 'function-key'],
    ['{"function=f" /**/ , "arguments":{}}', '{}', 'comment', 'function-key'],
    ["{'function=f'}", '{}', 'single-quotes', 'function-key'],
    ['{"arguments":{},"function=f"}', '{}', 'function-key'],
    ['{"name":"f","arguments":{"a":1}', '{"a":1}', 'missing-brace'],
    ['{"name":"f","arguments":{"a":1} // so\n', '{"a":1}', 'comment', 'missing-brace'],
    ['{"name":"f","arguments":{"a":1} // so ', '{"a":1}', 'comment', 'missing-brace'],
    ['{"arguments":{},"name":"f"', '{}', 'missing-brace'],
    ['{"name":"f","arguments":"{}"', '{}', 'decoded-arguments', 'missing-brace'],
    ['{{"name":"f","arguments":{{"a":{{"b":1}}}}}}', '{"a":{"b":1}}', 'doubled-braces'],
    ['{{"name":"f","arguments":{"a":{"b":{}}}}}', '{"a":{"b":{}}}', 'doubled-braces'],
    ['{{"name":"f","arguments":{{"a":[{{}},{{}}]}}}}', '{"a":[{},{}]}', 'doubled-braces'],
    ['{{"name":"f","arguments":{{"a":{{"b":1}} }} }}', '{"a":{"b":1} }', 'doubled-braces'],
    [
      '{{"name":"f","arguments":"{{\\"a\\":1}}"}}',
      '{"a":1}',
      'doubled-braces',
      'decoded-arguments',
    ],
    ['{{"function":{{"name":"f","arguments":{{}}}}}}', '{}', 'doubled-braces'],
  ]
  for (const [source, text, ...repairs] of cases) {
    test(JSON.stringify(source), () => {
      const { call, failed } = readStream(`<tool_call>${source}</tool_call>`)
      expect(failed).toBeUndefined()
      expect(call).toMatchObject({ name: 'f', arguments: text, repairs })
      const strict = readStream(`<tool_call>${source}</tool_call>`, { strict: true })
      expect(strict.call).toBeUndefined()
    })
  }

  test('a header that holds the name leaves the arguments alone', () => {
    const { call } = readStream("<function=f>{'a':1,// c\n}</function>")
    expect(call).toMatchObject({ name: 'f', arguments: '{"a":1\n}' })
    expect(call!.repairs).toEqual(['single-quotes', 'comment', 'trailing-comma'])
    const doubled = readStream('<function=f>{{"a":{{"b":[]}}}}</function>')
    expect(doubled.call).toMatchObject({ arguments: '{"a":{"b":[]}}', repairs: ['doubled-braces'] })
  })

  test('what proves a call: the beginning of a key', () => {
    for (const source of [
      '{}',
      '{1:2}',
      '{/* c */}',
      '{{}}',
      '{,}',
      '{/x',
      '{ word }',
      '{a b:1}',
    ]) {
      expect(readStream(`<tool_call>${source}</tool_call>`).text, source).not.toBe('')
    }
    for (const source of ['{x:', "{'", '{ word /**/ : }', '{/**/"', '{{"']) {
      expect(readStream(`<tool_call>${source}</tool_call>`).failed, source).toBeDefined()
      if (source !== '{{"' && source !== '{/**/"') continue
      expect(readStream(`<tool_call>${source}</tool_call>`, { strict: true }).text).not.toBe('')
    }
  })
})

describe('keys beside the name', () => {
  const tools = [{ name: 'f', parameters: { properties: { a: {}, b: {} } } }, { name: 'g' }]
  const lifted: readonly Repaired[] = [
    ['{"name":"f","a":1}', '{"a":1}', 'lifted-arguments'],
    ['{"a" : 1, "name":"f", "b" : [ 1, "x" ] }', '{"a":1,"b":[ 1, "x" ]}', 'lifted-arguments'],
    ["{'a':'x','name':'f',}", '{"a":"x"}', 'single-quotes', 'trailing-comma', 'lifted-arguments'],
    [
      '{"name":"f","a":{"b":None,}}',
      '{"a":{"b":null}}',
      'python-literal',
      'trailing-comma',
      'lifted-arguments',
    ],
    ['{"name":"f","\\u0061":1.50}', '{"a":1.50}', 'lifted-arguments'],
    ['{"type":"function","name":"f","id":"1","a":1}', '{"a":1}', 'lifted-arguments'],
    ['{"name":"f","a":1,"a":2}', '{"a":1,"a":2}', 'lifted-arguments'],
  ]
  for (const [source, text, ...repairs] of lifted) {
    test(source, () => {
      const { call, warnings } = readStream(`<tool_call>${source}</tool_call>`, { tools })
      expect(call).toMatchObject({ name: 'f', arguments: text, repairs })
      expect(warnings).toEqual([])
      expect(readStream(`<tool_call>${source}</tool_call>`, { tools, strict: true }).call).toBe(
        undefined,
      )
    })
  }
  const failing = [
    '{"name":"f","c":1}',
    '{"name":"f","a":1,"c":1}',
    '{"c":1,"a":1,"name":"f"}',
    '{"name":"g","a":1}',
    '{"name":"f","a":x}',
  ]
  for (const source of failing) {
    test(source, () => {
      expect(readStream(`<tool_call>${source}</tool_call>`, { tools }).failed).toBeDefined()
    })
  }

  test('with arguments they are ignored', () => {
    const source = '<tool_call>{"a":[1],"name":"f","arguments":{"b":2},"a":3}</tool_call>'
    const { call, warnings } = readStream(source, { tools })
    expect(call!.arguments).toBe('{"b":2}')
    expect(call!.repairs).toBeUndefined()
    expect(warnings.map(({ code, start, end }) => [code, source.slice(start, end)])).toEqual([
      ['unknown-key', '"a"'],
      ['unknown-key', '"a"'],
    ])
  })
})

/** Arguments that nothing repairs, and how far they were good. */
const FAILING: Readonly<Record<string, readonly string[]>> = {
  commas: ['{"a":1,|,}', '{|,}', '{"a":[|,]}', '{"a":[1,|,]}', '{"a":1,/**/|,}', '{"a":[1 |"b"]}'],
  members: ['{"a":1 |b:2}', '{"a":[1 |2]}', '{"a":["x"|"y"]}', '{"a":["x" |true]}', '{"a"|1}'],
  words: [
    '{"a":N|aN}',
    '{"a":|Infinity}',
    '{"a":-|Infinity}',
    '{"a":Tr|UE}',
    '{"a":True|e}',
    '{"a":n|one}',
    '{"a":|yes}',
  ],
  numbers: ['{"a":0|x1}', '{"a":|.5}', '{"a":|+1}', '{"a":0|1}', '{"a":1.|}', '{"a":1|_0}'],
  keys: ['{|1:2}', '{|-a:1}', '{a |b:1}', '{a|.b:1}', '{|[]:1}', '{a|!:1}'],
  comments: ['{/|x}', '{"a":1/|}', '{"a":|#c\n1}', '{"a":1/|,'],
  braces: ['{|{"a":1}}', '{"a":{|{}}}', '{"a":1|]}', '{"a":[1|}'],
  quotes: ['{"a":|“”}', '{"a":|`x`}', '{"a":"x"|y"}', "{'a':'x'|y'}"],
  'other values': ['|1', '|true', '[|1]', '[|{}]', 'N|aN', 'nul|x', '{|]'],
  strings: [
    '"|x"',
    '"|1"',
    '"|null"',
    '"{}|x"',
    '"{}|{}"',
    '"{\\"a\\":1|"',
    '"[|1]"',
    '" |"',
    '"// c|"',
    '"{} /|"',
    '"\\"\\\\\\|"{}\\\\\\"\\""',
    '"{\\u005|b"',
    '"{}/|x"',
  ],
}

for (const [kind, cases] of Object.entries(FAILING)) {
  describe(`failing ${kind}`, () => {
    for (const marked of cases) {
      test(JSON.stringify(marked), () => {
        const at = marked.indexOf('|')
        const source = callWith(marked.replace('|', ''))
        const { call, failed } = readStream(source)
        expect(call).toBeUndefined()
        expect(failed).toMatchObject({ name: 'f', code: 'malformed-arguments' })
        const offset = source.indexOf('"arguments":') + '"arguments":'.length + at
        expect(failed!.offset).toBe(offset)
        expect(failed!.raw).toBe(source)
      })
    }
  })
}

describe('input that ends', () => {
  const source =
    '<tool_call>{{"name":\'f\',/*c*/"arguments":{{a:"\\d\\u12\\"\n",/**/"b":[True,1, ]"c":\'\' //x\n}}, }}'
  test('gives no call before the root is closed, and keeps what was read', () => {
    for (let size = 0; size < source.length - 1; size++) {
      const cut = source.slice(0, size)
      for (const closing of ['end', 'abort', 'fail'] as const) {
        const { call, failed, text } = readStream(cut, { closing }, true)
        expect(call).toBeUndefined()
        expect((failed?.raw ?? text).trimEnd(), cut).toBe(cut.trimEnd())
      }
    }
    expect(readStream(`${source}</tool_call>`).call!.arguments).toBe(
      '{"a":"\\\\d\\\\u12\\"\\n","b":[true,1 ],"c":"" \n}',
    )
  })

  test('a close marker that has begun stands for the brace', () => {
    const open = '<tool_call>{"name":"f","arguments":{}'
    expect(readStream(`${open}</`).call!.repairs).toEqual(['missing-brace'])
    expect(readStream(`${open}</tool_ca`).call!.repairs).toEqual(['missing-brace'])
    expect(readStream(`${open}<`).failed!.code).toBe('incomplete-call')
    expect(readStream(open).failed!.code).toBe('incomplete-call')
    expect(readStream(`${open},</tool_call>`).failed!.code).toBe('malformed-arguments')
    expect(readStream(`${open}</`, { strict: true }).failed).toBeDefined()
    expect(readStream('<tool_call>{"name":"f"</tool_call>').failed).toBeDefined()
    expect(readStream('<tool_call>{"arguments":{}</tool_call>').failed).toBeDefined()
    expect(readStream('<tool_call>{"name":"f","arguments":{</tool_call>').failed).toBeDefined()
    const nested = '<tool_call>{"function":{"name":"f","arguments":{}</tool_call>'
    expect(readStream(nested).failed!.code).toBe('malformed-arguments')
  })
})

describe('options', () => {
  test('curly quotes', () => {
    const options = { curlyQuotes: true }
    verifyRepaired(['{“a”:“b "c" d\\n”}', '{"a":"b \\"c\\" d\\n"}', 'curly-quotes'], options)
    verifyRepaired(['{"a":"“x”"}', '{"a":"“x”"}'], options)
    verifyRepaired(['“{\\"a\\":1}”', '{"a":1}', 'curly-quotes', 'decoded-arguments'], options)
    const { call } = readStream('<tool_call>{“name”:“f”,“arguments”:{}}</tool_call>', options)
    expect(call).toMatchObject({ name: 'f', arguments: '{}', repairs: ['curly-quotes'] })
    const without = readStream('<tool_call>{“name”:“f”}</tool_call>')
    expect(without.failed!.code).toBe('malformed-call')
  })

  test('guessed quotes', () => {
    const options = { guessQuotes: true }
    const cases: readonly Repaired[] = [
      ['{"a":"x"}', '{"a":"x"}'],
      ['{"a" : "x" , "b" : [ "y" ] }', '{"a" : "x" , "b" : [ "y" ] }'],
      ['{"a":"say "hi" now"}', '{"a":"say \\"hi\\" now"}', 'inner-quotes'],
      ['{"a":""x""}', '{"a":"\\"x\\""}', 'inner-quotes'],
      ['{"a":"x" \n y"}', '{"a":"x\\" \\n y"}', 'inner-quotes', 'control-character'],
      ['{"a":"x"\t\t"}', '{"a":"x\\"\\t\\t"}', 'inner-quotes', 'control-character'],
      ['{"k"ey":"x"}', '{"k\\"ey":"x"}', 'inner-quotes'],
      ['{"k",":1}', '{"k\\",":1}', 'inner-quotes'],
      ['{"a":"x\\"y"}', '{"a":"x\\"y"}'],
      ["{'a':'x'}", '{"a":"x"}', 'single-quotes'],
      ['{"a":"x",}', '{"a":"x"}', 'trailing-comma'],
      ['"{\\"a\\":\\"x\\"y\\"}"', '{"a":"x\\"y"}', 'decoded-arguments', 'inner-quotes'],
    ]
    for (const repaired of cases) verifyRepaired(repaired, options)
    expect(readStream(callWith('{"a":"x"y"}'), { ...options, strict: true }).call).toBeUndefined()
    const wide = readStream(callWith(`{"a":"x"${' '.repeat(9)}y"}`), {
      ...options,
      limits: { whitespace: 8 },
    })
    expect(wide.failed!.code).toBe('malformed-arguments')
  })

  test('glued arguments', () => {
    const options = { gluedArguments: 'first' } as const
    const glued = ['decoded-arguments', 'first-arguments'] as const
    verifyRepaired(['"{\\"a\\":1}{\\"b\\":2}"', '{"a":1}', ...glued], options)
    verifyRepaired(['"{} and more \\n\\"x"', '{}', ...glued], options)
    verifyRepaired(['"{}"', '{}', 'decoded-arguments'], options)
    verifyRepaired(['"\\"{} x\\""', '{}', ...glued], options)
    expect(readStream(callWith('"[] x"'), options).failed).toBeDefined()
  })
})

describe('limits', () => {
  test('white space behind a comma', () => {
    const limits = { whitespace: 4 }
    const near = callWith(`{"a":1,${' '.repeat(4)}}`)
    expect(readStream(near, { limits }).call!.repairs).toEqual(['trailing-comma'])
    const far = callWith(`{"a":1,${' '.repeat(5)}}`)
    expect(readStream(far, { limits }).failed!.arguments).toBe(`{"a":1,${' '.repeat(5)}`)
    const valid = callWith(`{"a":[1,${' '.repeat(50)}2]}`)
    expect(readStream(valid, { limits }).call!.repairs).toBeUndefined()
  })

  test('of the arguments count what is written', () => {
    const cases = [
      '{"a":"\u0001\u0002\u0003"}',
      '{a:1,b:2,c:3}',
      '{"a":"\\d\\d\\d\\d"}',
      '{"a":1,      "b":[1,2,3]}',
      '"{\\"a\\":[1,2,3],\\"b\\":\\"\\n\\"}"',
      "{'a':'\"\"\"'}",
      '{"a":1 "b":2 "c":[{}{}]}',
      '{"a":"😀😀😀"}',
    ]
    for (const json of cases) {
      const size = readStream(callWith(json)).call!.arguments.length
      for (let limit = 1; limit < size; limit++) {
        const { failed } = readStream(callWith(json), { limits: { arguments: limit } }, true)
        expect(failed!.code, `${json} ${limit}`).toBe('limit')
        expect(failed!.raw!.length).toBeLessThan(callWith(json).length + 1)
      }
      // What is held is kept room for, so that a dropped comma may count, too.
      expect(readStream(callWith(json), { limits: { arguments: size + 8 } }).call).toBeDefined()
    }
  })

  test('of lifted arguments', () => {
    const tools = [{ name: 'f', parameters: { properties: { a: {}, b: {} } } }]
    const source = '<tool_call>{"a":[1,2,3],"name":"f","b":"xyz"}</tool_call>'
    for (let limit = 1; limit < 23; limit++) {
      const { failed } = readStream(source, { tools, limits: { arguments: limit } })
      expect(failed!.code, String(limit)).toBe('limit')
    }
    expect(readStream(source, { tools, limits: { arguments: 24 } }).call).toBeDefined()
    const deep = '<tool_call>{"name":"f","a":[[1]]}</tool_call>'
    expect(readStream(deep, { tools, limits: { depth: 2 } }).failed!.code).toBe('limit')
  })

  test('of depth count in strings, too', () => {
    const source = callWith('"{\\"a\\":[[]]}"')
    expect(readStream(source, { limits: { depth: 2 } }).failed!.code).toBe('limit')
    expect(readStream(source, { limits: { depth: 3 } }).call).toBeDefined()
  })

  test('of the name', () => {
    for (const name of ['"abcde"', "'abcde'", '"ab\\ncde"', '"\\u0061bcde"']) {
      const source = `<tool_call>{"name":${name},"arguments":{}}</tool_call>`
      expect(readStream(source, { limits: { name: 4 } }).failed!.code, name).toBe('limit')
    }
    const key = '<tool_call>{"function=abcde","arguments":{}}</tool_call>'
    expect(readStream(key, { limits: { name: 4 } }).failed!.code).toBe('limit')
    expect(readStream(key, { limits: { name: 5 } }).call!.name).toBe('abcde')
  })
})

describe('suspicious escapes', () => {
  const places = (source: string): string[] =>
    readStream(source).warnings.map(({ code, start, end }) => `${code} ${source.slice(start, end)}`)

  test('invalid ones beside those of control characters', () => {
    expect(places(callWith('{"a":"C:\\new\\Users"}'))).toEqual([
      'suspicious-escape "C:\\new\\Users"',
    ])
    expect(places(callWith('{"a":["\\n","\\d"]}'))).toEqual([])
    expect(places(callWith('{"a":"\\t\\d","b":"\\n\\d"}'))).toEqual(['suspicious-escape "\\t\\d"'])
    expect(places('<function=f>{"a":\'\\d\\f\'}</function>')).toEqual([
      'missing-open-tag ',
      "suspicious-escape '\\d\\f'",
    ])
    expect(places('<tool_call>{"name":"f","x":1,"arguments":{"a":"\\d\\r"}}</tool_call>')).toEqual([
      'unknown-key "x"',
      'suspicious-escape "\\d\\r"',
    ])
  })

  test('in a string of arguments', () => {
    expect(places(callWith('"{\\"a\\":\\"\\\\d\\\\n\\"}"'))).toEqual([
      'suspicious-escape "\\\\d\\\\n\\"',
    ])
  })
})

describe('anything that is printed sloppily', () => {
  const choices = fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 })
  const wrappings = fc.constantFrom('plain', 'once', 'twice', 'named', 'last')
  const cuts = fc.array(fc.nat(), { maxLength: 6 })

  /** The call around arguments, and what that adds to the repairs. */
  function wrap(source: string, wrapping: string): [text: string, ...added: RepairCode[]] {
    switch (wrapping) {
      case 'once':
        return [callWith(JSON.stringify(source)), 'decoded-arguments']
      case 'twice':
        return [callWith(JSON.stringify(JSON.stringify(source))), 'decoded-arguments']
      case 'named':
        return [`<function=f>${source}</function>`]
      case 'last':
        return [`<tool_call>{"arguments":${source},"name":"f"}</tool_call>`]
      default:
        return [callWith(source)]
    }
  }

  test('is read as what it means', () => {
    fc.assert(
      fc.property(sloppyInput, choices, wrappings, cuts, (value, chosen, wrapping, places) => {
        const { source, repairs } = printSloppily(value, chosen, false)
        const [text, ...added] = wrap(source, wrapping)
        const whole = drive([text], { patches: true })
        const { calls, failed } = collect(whole.events)
        expect(failed).toEqual([])
        expect(calls[0]!.input).toEqual(value)
        expect(new Set(calls[0]!.repairs)).toEqual(new Set([...added, ...repairs]))
        for (const chunks of [cutAt(text, places), chunked(text, 1)]) {
          const driven = drive(chunks, { patches: true })
          verifyGrammar(driven.events)
          expect(uncut(driven)).toEqual(uncut(whole))
        }
      }),
    )
  })

  test('with doubled braces, too', () => {
    fc.assert(
      fc.property(sloppyInput, choices, fc.boolean(), cuts, (value, chosen, decode, places) => {
        const { source, repairs } = printSloppily(value, chosen, true)
        const inner = decode ? JSON.stringify(source) : source
        const text = `<tool_call>{{"name":"f","arguments":${inner} }}</tool_call>`
        const whole = drive([text], { patches: true })
        const { calls, failed } = collect(whole.events)
        expect(failed).toEqual([])
        expect(calls[0]!.input).toEqual(value)
        const added: RepairCode[] = decode ? ['decoded-arguments'] : []
        expect(new Set(calls[0]!.repairs)).toEqual(
          new Set(['doubled-braces', ...added, ...repairs]),
        )
        const driven = drive(cutAt(text, places), { patches: true })
        verifyGrammar(driven.events)
        expect(uncut(driven)).toEqual(uncut(whole))
      }),
    )
  })

  test('and cut anywhere is no call', () => {
    fc.assert(
      fc.property(sloppyInput, choices, wrappings, fc.nat(), (value, chosen, wrapping, place) => {
        const { source } = printSloppily(value, chosen, false)
        const [text] = wrap(source, wrapping)
        const cut = text.slice(0, place % text.lastIndexOf('}'))
        const { events } = drive([cut], { patches: true })
        verifyGrammar(events)
        const { calls, failed } = collect(events)
        expect(calls).toEqual([])
        for (const { raw } of failed) expect(cut.endsWith(raw!)).toBe(true)
      }),
    )
  })
})
