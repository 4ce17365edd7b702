/** The part of a tag that varies, against a regular expression over the whole text, at any cut. */
import { describe, expect, test } from 'vitest'
import {
  ATTRIBUTES,
  CLOSER,
  GOING,
  Header,
  type HeaderKind,
  NAME,
  TAKEN,
  TICK,
} from '../src/headers.ts'
import { fc } from './random.ts'

const START = 7
const LITERAL = '<tag'
const ROOM = 1_000

interface Read {
  readonly status: 'going' | 'taken' | 'refused'
  readonly text: string
  readonly name: string | undefined
  /** Within the text behind the literal. */
  readonly nameAt: number | undefined
  readonly tooLong: boolean
}

/** Reads chunks until it is decided. */
function read(kind: HeaderKind, chunks: readonly string[], limit = ROOM): Read {
  const header = new Header()
  // What an earlier header left behind must not show.
  header.begin(ATTRIBUTES, 1, '<', 0, 3)
  header.take('name="left" x="', 0)
  header.begin(kind, 3, LITERAL, START, limit)
  for (const chunk of chunks) {
    if (header.status !== GOING || chunk === '') continue
    // A header begins and ends within chunks.
    const end = header.take(`<>${chunk}`, 2)
    if (header.status === GOING) expect(end).toBe(chunk.length + 2)
  }
  expect(header.marker).toBe(3)
  expect(header.start).toBe(START)
  const { name } = header
  return {
    status: header.status === GOING ? 'going' : header.status === TAKEN ? 'taken' : 'refused',
    text: header.text.slice(LITERAL.length),
    name,
    nameAt: name === undefined ? undefined : header.nameStart - START - LITERAL.length,
    tooLong: header.tooLong,
  }
}

const SPACE = '[ \\t\\n\\r]*'
const KEY = '[A-Za-z0-9_:-]+'
const VALUE = '"[^"<\\n`]*"|\'[^\'<\\n`]*\''
const ATTRIBUTE = `${KEY}${SPACE}=${SPACE}(?:${VALUE})`
const WHOLE: Readonly<Record<0 | 1 | 2, RegExp>> = {
  [CLOSER]: new RegExp(`^${SPACE}>`),
  [ATTRIBUTES]: new RegExp(`^${SPACE}(?:${ATTRIBUTE}(?:[ \\t\\n\\r]+${ATTRIBUTE})*${SPACE})?>`),
  [NAME]: /^[^<"'`\n\r>]*>/,
}

/** What a whole header says. */
function expected(kind: 0 | 1 | 2, source: string): Omit<Read, 'status' | 'tooLong'> | undefined {
  const text = WHOLE[kind].exec(source)?.[0]
  if (text === undefined) return undefined
  if (kind === CLOSER) return { text, name: undefined, nameAt: undefined }
  if (kind === NAME) {
    const name = text.slice(0, -1).trim()
    return /^\S+$/.test(name) ? { text, name, nameAt: text.indexOf(name) } : undefined
  }
  const attributes = text.matchAll(new RegExp(`(${KEY})(${SPACE}=${SPACE})(${VALUE})`, 'g'))
  const found = [...attributes].find(([, key]) => key === 'name')
  if (found === undefined) return { text, name: undefined, nameAt: undefined }
  const [, key, equals, quoted] = found as unknown as [string, string, string, string]
  const value = quoted.slice(1, -1)
  const before = found.index + key.length + equals.length + 1
  return { text, name: value.trim(), nameAt: before + value.length - value.trimStart().length }
}

const units = fc.array(
  fc.constantFrom(...' \t\n\r><="\'`az09AZ_:-.{é', 'name', 'name="f"', " id='1'", '="', '" '),
  { maxLength: 12 },
)
const attributes = fc
  .array(
    fc.tuple(
      fc.constantFrom('', ' ', '\n', '  '),
      fc.constantFrom('name', 'name', 'id', 'x:y-z_0', 'NAME', ''),
      fc.constantFrom('=', ' = ', '=\t', ' '),
      fc.constantFrom('"f"', "'f'", '" f "', '""', '"a\'b"', "'a\"b'", 'f', '"<"', '"`"'),
    ),
    { maxLength: 3 },
  )
  .map((all) => all.flat())
const source = fc
  .tuple(fc.oneof(units, attributes), fc.constantFrom('>', ' >', '>so', ''))
  .map(([pieces, end]) => pieces.join('') + end)

describe.each([
  ['of a closer', CLOSER],
  ['of attributes', ATTRIBUTES],
  ['of a name', NAME],
] as const)('a header %s', (_, kind) => {
  test('is what the whole text says, at any cut', () => {
    fc.assert(
      fc.property(source, fc.nat(), (text, cut) => {
        const whole = read(kind, [text])
        const wanted = expected(kind, text)
        const shown = { text: whole.text, name: whole.name, nameAt: whole.nameAt }
        if (wanted)
          expect({ ...shown, status: whole.status }).toEqual({ ...wanted, status: 'taken' })
        else expect(whole.status).not.toBe('taken')
        expect(whole.tooLong).toBe(false)
        expect(text.startsWith(whole.text)).toBe(true)
        const at = cut % (text.length + 1)
        expect(read(kind, [text.slice(0, at), text.slice(at)])).toEqual(whole)
        expect(read(kind, [...text])).toEqual(whole)
      }),
    )
  })

  test('is refused by the first character that can’t stand there, which is not taken', () => {
    const ends = kind === NAME ? [...'<"\'`\n\r'] : ['<', '.', '"', '`']
    for (const end of ends) {
      const begun = kind === CLOSER ? ' ' : 'a'
      expect(read(kind, [`${begun}${end}>`])).toMatchObject({ status: 'refused', text: begun })
    }
  })

  test('is bounded, and what is released ends in no half of a pair', () => {
    const limit = LITERAL.length + 4
    const filling = kind === CLOSER ? ' ' : kind === NAME ? 'n' : ' '
    const text = filling.repeat(9)
    expect(read(kind, [text.slice(0, 3)], limit).status).toBe('going')
    for (const chunks of [[text], [...text]]) {
      const { status, tooLong, text: taken } = read(kind, chunks, limit)
      expect({ status, tooLong, taken }).toEqual({
        status: 'refused',
        tooLong: true,
        taken: text.slice(0, 4),
      })
    }
    expect(read(kind, [`${filling.repeat(4)}>`], limit)).toMatchObject({ status: 'taken' })
  })
})

test('a name that is too long is cut before a pair', () => {
  const limit = LITERAL.length + 3
  expect(read(NAME, ['abc\u{1f600}'], limit).text).toBe('abc')
  expect(read(NAME, ['ab\u{1f600}>'], limit)).toMatchObject({ text: 'ab', tooLong: true })
})

describe('attributes', () => {
  test.each([
    ['name="f">', 'f', 6],
    ["\tname\n=\r'f'\t>", 'f', 9],
    ['name="  f ">', 'f', 8],
    ['name \t =\n\r"f">', 'f', 11],
    ['id="7" name="f" name="g">', 'f', 13],
    ['NAME="f">', undefined, undefined],
    ['>', undefined, undefined],
    ['a-z_Z:09="1"\n>', undefined, undefined],
    ['a="\'" b=\'"\'>', undefined, undefined],
  ])('are read: %j', (text, name, nameAt) => {
    const found = { status: 'taken', text, name, nameAt }
    expect(read(ATTRIBUTES, [text])).toMatchObject(found)
    expect(read(ATTRIBUTES, [...text])).toMatchObject(found)
  })

  test.each([
    ['a="1"', 'b="2">'],
    ['a ', 'b="2">'],
    ['a', '>'],
    ['a ', '>'],
    ['a=', '>'],
    ['a=', '1>'],
    ['a="1', '\n">'],
    ['a="1', '`">'],
    ['a="1', '<">'],
    ['a', '{="1">'],
    ['a', '@="1">'],
    ['', '="1">'],
    ['', '"1">'],
  ])('are none: %j is followed by %j', (begun, rest) => {
    const refused = { status: 'refused', text: begun, tooLong: false }
    expect(read(ATTRIBUTES, [begun + rest])).toMatchObject(refused)
    expect(read(ATTRIBUTES, [...begun, ...rest])).toMatchObject(refused)
  })
})

test('behind a quoted close marker the next character decides, and is not taken', () => {
  expect(read(TICK, ['`so'])).toMatchObject({ status: 'refused', text: '', tooLong: false })
  expect(read(TICK, ['so`'])).toMatchObject({ status: 'taken', text: '' })
})
