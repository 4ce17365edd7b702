/**
 * The promises of the protocol, each as a property of the same name.
 *
 * Inputs are random mixtures of prose, markers and calls, whole and broken, and the inputs of all
 * fixtures. What is right is said by the slow reference or follows from how the input was made.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS, type Holding, log, markersOf, type StreamEvent } from '../src/index.ts'
import {
  anyCuts,
  anyStream,
  anyUnits,
  hostileStream,
  plainProse,
  quotedCall,
  readingOptions,
  soup,
  validCalls,
  validStream,
} from './arbitraries.ts'
import {
  chunked,
  CLOSINGS,
  cutAt,
  drive,
  eventsOf,
  uncut,
  type Driven,
  type DriveOptions,
} from './drive.ts'
import { hermesInputs } from './fixture-inputs.ts'
import { verifyGrammar } from './grammar.ts'
import { fc, fewer } from './random.ts'
import { hostileTexts } from './reference-hostile-texts.ts'
import { OTHER_MARKERS, ROLES, TOKENS } from './reference-pieces.ts'
import { read, type ReadPart } from './reference.ts'

const closing = fc.constantFrom(...CLOSINGS)

/** Options that change no reading; small limits among them. */
const otherOptions: fc.Arbitrary<DriveOptions> = fc.record(
  {
    patches: fc.boolean(),
    whitespace: fc.constantFrom('layout' as const, 'exact' as const),
    limits: fc.record(
      {
        depth: fc.nat({ max: 3 }),
        name: fc.nat({ max: 12 }),
        arguments: fc.nat({ max: 60 }),
        calls: fc.nat({ max: 2 }),
        whitespace: fc.nat({ max: 4 }),
      },
      { requiredKeys: [] },
    ),
    closing,
  },
  { requiredKeys: [] },
)

/** Options that must not break what holds for every stream. */
const anyOptions: fc.Arbitrary<DriveOptions> = fc
  .tuple(readingOptions, otherOptions)
  .map(([reading, other]) => ({ ...reading, ...other }))
/** The reference knows no limit, and random strings may be long. */
const unlimited = { limits: { name: Infinity } }
const input = fc.oneof(
  { arbitrary: anyStream, weight: 6 },
  { arbitrary: hostileStream, weight: 2 },
  soup,
  anyUnits,
  fc.string({ unit: 'binary' }),
)
const longestMarker = Math.max(
  ...[...markersOf(), ...OTHER_MARKERS, ...TOKENS, ...ROLES].map((marker) => marker.length),
)

/** Longest part of a tag that is neither its literal nor its name: other attributes, blanks. */
const HEADER_ROOM = 1_024

/** What JSON is held for: a comma that may be one too many, an escape that may be none. */
const TOKEN = /(?:,[ \t\r\n]*|\\(?:u[\da-fA-F]{0,3})?)$/

function callsOf(events: readonly StreamEvent[]): { name: string; arguments: string }[] {
  return events
    .filter((event) => event.type === 'tool-call-end')
    .map((event) => ({ name: event.name, arguments: event.arguments }))
}

function joinedText(
  events: readonly StreamEvent[],
  type: 'text-delta' | 'reasoning-delta',
): string {
  return events.map((event) => (event.type === type ? event.delta : '')).join('')
}

/** `toEqual`, but quick where it holds: some properties compare a million times. */
function same(actual: unknown, expected: unknown, what?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what).toEqual(expected)
}

function count(events: readonly StreamEvent[], type: StreamEvent['type']): number {
  return events.filter((event) => event.type === type).length
}

describe('promise 1: split-free', () => {
  test('random cuts change nothing', () => {
    fc.assert(
      fc.property(input, anyCuts, anyOptions, (source, cuts, options) => {
        const whole = uncut(drive([source], options))
        same(uncut(drive(cutAt(source, cuts), options)), whole)
        same(uncut(drive(chunked(source, 1), options)), whole)
      }),
    )
  })

  test('no cut of a fixture in two changes anything', () => {
    for (const { name, source, options } of hermesInputs()) {
      const whole = uncut(drive([source], { ...options, patches: true }))
      for (let at = 1; at < source.length; at++) {
        const halves = [source.slice(0, at), source.slice(at)]
        const cut = uncut(drive(halves, { ...options, patches: true }))
        same(cut, whole, `${name}, cut at ${at}`)
      }
    }
  })
})

describe('promise 2: grammar', () => {
  test('whatever the input, the cuts and the end', () => {
    fc.assert(
      fc.property(input, anyCuts, anyOptions, (source, cuts, options) => {
        verifyGrammar(drive(cutAt(source, cuts), options).events)
      }),
    )
  })

  test('every prefix of an input may be the last', () => {
    fc.assert(
      fc.property(input, closing, (source, how) => {
        for (let end = 0; end < source.length; end++) {
          verifyGrammar(drive([source.slice(0, end)], { closing: 'none' }).events, { ended: false })
          verifyGrammar(drive([source.slice(0, end)], { closing: how }).events)
        }
      }),
      fewer,
    )
  })

  test('every prefix of a fixture may be the last', () => {
    for (const { source, options } of hermesInputs()) {
      for (let end = 0; end <= source.length; end++) {
        const how = CLOSINGS[end % CLOSINGS.length]!
        verifyGrammar(drive([source.slice(0, end)], { ...options, closing: how }).events)
      }
    }
  })

  test('the end tells how the stream ended', () => {
    fc.assert(
      fc.property(input, (source) => {
        const reason = (how: (typeof CLOSINGS)[number]): unknown => {
          const last = drive([source], { closing: how }).events.at(-1)
          return last?.type === 'finish' ? last.reason : last
        }
        expect(reason('end')).toBe(callsOf(eventsOf(source)).length > 0 ? 'tool-calls' : 'stop')
        expect(reason('abort')).toBe('aborted')
        expect(reason('fail')).toBe('error')
      }),
      fewer,
    )
  })
})

describe('promise 3: nothing lost', () => {
  function verifySpans(
    source: string,
    { events, spans }: Driven,
    { failedAsText = false }: DriveOptions = {},
  ): void {
    let end = 0
    for (const span of spans) {
      same(span.start, end, 'spans follow one another')
      same(span.end > span.start, true, 'a span holds something')
      end = span.end
    }
    same(end, source.length, 'spans reach the end')
    const owned = (kind: string): string =>
      spans.map((span) => (span.kind === kind ? source.slice(span.start, span.end) : '')).join('')
    // A failed call that is shown is still a call's.
    if (failedAsText) return
    same(joinedText(events, 'text-delta'), owned('text'))
    same(joinedText(events, 'reasoning-delta'), owned('reasoning'))
  }

  test('spans tile the input', () => {
    fc.assert(
      fc.property(input, anyCuts, anyOptions, (source, cuts, options) => {
        verifySpans(source, drive(cutAt(source, cuts), options), options)
      }),
    )
  })

  test('spans tile every prefix of a fixture', () => {
    for (const { source, options } of hermesInputs()) {
      for (let end = 0; end <= source.length; end++) {
        const prefix = source.slice(0, end)
        verifySpans(prefix, drive([prefix], options), options)
      }
    }
  })

  test('nothing emitted is taken back', () => {
    fc.assert(
      fc.property(input, readingOptions, (source, options) => {
        const whole = uncut(drive([source], options)).events
        for (let end = 0; end < source.length; end++) {
          const open = { ...options, closing: 'none' as const }
          const early = uncut(drive([source.slice(0, end)], open)).events
          const last = early.at(-1)
          const counterpart = whole[early.length - 1]
          same(early.slice(0, -1), whole.slice(0, Math.max(0, early.length - 1)))
          if (last && 'delta' in last && counterpart && 'delta' in counterpart) {
            expect(counterpart.delta.startsWith(last.delta)).toBe(true)
            same({ ...last, delta: '' }, { ...counterpart, delta: '' })
          } else same(last, counterpart)
        }
      }),
      fewer,
    )
  })
})

describe('promise 4: no leak', () => {
  test('between calls, text is the prose and nothing else', () => {
    const pieces = fc.array(fc.tuple(plainProse, validCalls), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(pieces, plainProse, anyCuts, (before, after, cuts) => {
        const source = before.map(([prose, sample]) => prose + sample.text).join('') + after
        const { events } = drive(cutAt(source, cuts))
        // White space alone is layout, and what stands before an unwrapped call may be one.
        const bare = (text: string): string => text.replace(/\s/g, '')
        const prose = before.map(([text]) => text).join('') + after
        expect(bare(joinedText(events, 'text-delta'))).toBe(bare(prose))
      }),
    )
  })

  test('no text delta holds a piece of a marker that counted', () => {
    fc.assert(
      fc.property(anyStream, anyCuts, (source, cuts) => {
        const { events, spans } = drive(cutAt(source, cuts))
        const text = joinedText(events, 'text-delta')
        let shown = ''
        for (const span of spans) {
          const piece = source.slice(span.start, span.end)
          if (span.kind === 'text') shown += piece
          if (span.kind === 'marker') expect(piece).toMatch(/^\s*([<[][^]*[>\]])?\s*$|^<\/?[^>]*$/)
        }
        expect(text).toBe(shown)
      }),
    )
  })
})

describe('promise 5: nothing invented', () => {
  test('calls are those that the reference finds', () => {
    fc.assert(
      fc.property(input, anyCuts, readingOptions, (source, cuts, options) => {
        const expected = read(source, options).calls
        expect(callsOf(drive(cutAt(source, cuts), { ...options, ...unlimited }).events)).toEqual(
          expected.map((call) => ({ name: call.name, arguments: call.arguments })),
        )
      }),
    )
  })

  test('code, block quotes and reasoning call nothing', () => {
    fc.assert(
      fc.property(plainProse, quotedCall, plainProse, anyCuts, (before, quoted, after, cuts) => {
        const { events } = drive(cutAt(before + quoted + after, cuts))
        expect(count(events, 'tool-call-start')).toBe(0)
        expect(count(events, 'tool-call-error')).toBe(0)
      }),
    )
  })

  test('strings in arguments call nothing', () => {
    fc.assert(
      fc.property(validStream, validCalls, anyCuts, (inner, outer, cuts) => {
        const quoted = JSON.stringify({ text: inner.text })
        const source = `<tool_call>{"name":"write","arguments":${quoted}}</tool_call>${outer.text}`
        expect(callsOf(drive(cutAt(source, cuts)).events)).toEqual([
          { name: 'write', arguments: quoted },
          ...callsOf(eventsOf(outer.text)),
        ])
      }),
    )
  })

  test('a failed call hides the calls that it quotes', () => {
    fc.assert(
      fc.property(validCalls, anyCuts, (inner, cuts) => {
        fc.pre(!inner.text.includes('</function>') && !inner.text.includes('<function='))
        const source = `<tool_call>{"name":"write","arguments":{"text": no "${inner.text}"}}</tool_call>after`
        const balanced = read(source)
        const { events } = drive(cutAt(source, cuts))
        expect(callsOf(events)).toEqual([])
        expect(count(events, 'tool-call-error')).toBe(balanced.failed.length)
      }),
    )
  })

  test('without tools there are no calls', () => {
    fc.assert(
      fc.property(anyStream, fc.boolean(), (source, listed) => {
        const off = listed ? { tools: [] } : { toolChoice: 'none' as const }
        const events = eventsOf(source, off)
        expect(count(events, 'tool-call-start') + count(events, 'tool-call-error')).toBe(0)
      }),
    )
  })
})

describe('promise 6: deltas add up', () => {
  test('valid JSON comes through character by character', () => {
    fc.assert(
      fc.property(validStream, anyCuts, fc.boolean(), ({ text, calls }, cuts, patches) => {
        const { events } = drive(cutAt(text, cuts), { patches })
        // The grammar check joins the deltas, parses the text and folds the patches.
        verifyGrammar(events)
        expect(callsOf(events)).toEqual(
          calls.map((call) => ({ name: call.name, arguments: call.arguments })),
        )
        expect(count(events, 'tool-call-error')).toBe(0)
      }),
    )
  })

  test('patches fold to the input, and their deltas are the same', () => {
    fc.assert(
      fc.property(anyStream, anyCuts, (source, cuts) => {
        const { events } = drive(cutAt(source, cuts), { patches: true })
        verifyGrammar(events)
        for (const event of events) {
          if (event.type === 'tool-call-delta') expect(event.patches).toBeDefined()
        }
        expect(log(events)).toEqual(log(eventsOf(source)))
      }),
    )
  })
})

describe('promise 6: deltas add up, of repaired JSON', () => {
  test('what was repaired is valid JSON, and says so', () => {
    fc.assert(
      fc.property(hostileStream, anyCuts, anyOptions, (source, cuts, options) => {
        const { events } = drive(cutAt(source, cuts), options)
        verifyGrammar(events)
        for (const event of events) {
          if (event.type !== 'tool-call-end' || event.repairs) continue
          // What was not repaired are the model's own characters; without arguments they are `{}`.
          expect(event.arguments === '{}' || source.includes(event.arguments)).toBe(true)
        }
      }),
    )
  })

  test('strict reading repairs nothing', () => {
    fc.assert(
      fc.property(hostileStream, (source) => {
        for (const event of eventsOf(source, { strict: true })) {
          if (event.type === 'tool-call-end') expect(event.repairs).toBeUndefined()
        }
      }),
    )
  })
})

describe('promise 7: earliest', () => {
  /** Offsets behind the characters that prove a call, those of calls that failed later, too. */
  function proofs(parts: readonly ReadPart[]): number[] {
    return parts.flatMap((part) =>
      part.kind === 'call' || (part.kind === 'failed' && part.provedAt !== undefined)
        ? [part.provedAt as number]
        : [],
    )
  }

  test('a call starts with the character that proves its name and grammar', () => {
    fc.assert(
      fc.property(anyStream, (source) => {
        const expected = proofs(read(source).parts)
        const starts: number[] = []
        drive(chunked(source, 1), {
          closing: 'none',
          ...unlimited,
          afterChunk: ({ events }, fed) => {
            while (starts.length < count(events, 'tool-call-start')) starts.push(fed)
          },
        })
        expect(starts).toEqual(expected)
      }),
    )
  })

  test('what is held back is bounded by the state that holds it', () => {
    const { whitespace, name, arguments: size } = DEFAULT_LIMITS
    const header = longestMarker + HEADER_ROOM + name
    const bounds: Readonly<Record<Holding | 'none', number>> = {
      none: 0,
      // Half of a pair may come on top of anything else.
      surrogate: header + whitespace + 1,
      whitespace,
      marker: longestMarker - 1,
      header,
      opening: header + whitespace,
      'call-header': size,
      'early-arguments': size,
      'failed-call': size,
      'json-token': 0,
      'message-start': size,
      // End-of-turn tokens may be as many as the input holds.
      'special-token': Infinity,
      // Held only where an option asks for it.
      reasoning: 0,
    }
    fc.assert(
      fc.property(input, anyCuts, (source, cuts) => {
        // Whose the characters are shows at the end; what is out shows after each chunk.
        const chunks = cutAt(source, cuts)
        const { spans } = drive(chunks)
        const prose = spans.filter((span) => span.kind === 'text' || span.kind === 'reasoning')
        drive(chunks, {
          afterChunk: ({ events, parser }, fed) => {
            const come = prose.reduce(
              (sum, { start, end }) => sum + Math.max(0, Math.min(end, fed) - start),
              0,
            )
            const out = joinedText(events, 'text-delta') + joinedText(events, 'reasoning-delta')
            const holding = parser.holding ?? 'none'
            const held = come - out.length
            expect(held, `held as ${holding} after ${fed}`).toBeLessThanOrEqual(bounds[holding])
          },
        })
      }),
    )
  })

  test('prose is out but for the beginning of a marker', () => {
    fc.assert(
      fc.property(plainProse, fc.nat(), (prose, cut) => {
        fc.pre(prose.trim() !== '')
        for (const marker of markersOf('hermes')) {
          const begun = marker.slice(0, cut % marker.length)
          const { events } = drive([`a${prose}`, begun], { closing: 'none' })
          expect(joinedText(events, 'text-delta')).toBe(`a${prose}`)
        }
      }),
    )
  })

  test('arguments are out with the chunk that brings them', () => {
    fc.assert(
      fc.property(validCalls, (sample) => {
        fc.pre(sample.calls.length === 1)
        const { argumentsAt, provedAt } = read(sample.text).calls[0]!
        fc.pre(argumentsAt !== undefined && argumentsAt + 1 >= provedAt)
        const { length } = sample.calls[0]!.arguments
        drive(chunked(sample.text, 1), {
          afterChunk: ({ events, parser }, fed) => {
            const sent = events
              .map((event) => (event.type === 'tool-call-delta' ? event.delta : ''))
              .join('')
            const come = Math.min(Math.max(0, fed - argumentsAt), length)
            const text = sample.text.slice(argumentsAt, argumentsAt + come)
            // One token waits for the next, half of a surrogate pair for the other half.
            const token = parser.holding === 'json-token' ? TOKEN.exec(text)![0].length : 0
            const half = fed === argumentsAt + come && /[\ud800-\udbff]$/.test(text) ? 1 : 0
            expect(sent.length).toBe(come - Math.max(token, half))
          },
        })
      }),
    )
  })
})

describe('promise 8: linear', () => {
  const sizes = [1, 3, 7, 64, Number.MAX_SAFE_INTEGER]
  const constant = 64

  function verifyWork(source: string, what: string, options: DriveOptions = {}): void {
    for (const size of sizes) {
      const chunks = chunked(source, Math.min(size, Math.max(1, source.length)))
      const { parser, events } = drive(chunks, options)
      // Calls at the end of reasoning are read ahead, and again once they count.
      const looks = options.callsInReasoning === 'at-end' ? 6 : 3
      const bound = looks * source.length + constant
      expect(parser.visited, `visited of ${what} in ${size}s`).toBeLessThanOrEqual(bound)
      expect(events.length, `events of ${what} in ${size}s`).toBeLessThanOrEqual(
        2 * source.length + constant,
      )
    }
  }

  test('random inputs', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 6 }), readingOptions, (sources, options) => {
        verifyWork(sources.join(''), 'a random input', options)
      }),
    )
  })

  test('hostile inputs', () => {
    const times = 400
    const open = '<tool_call>{"name":"f","arguments":{"a":"'
    const hostile: Record<string, string> = {
      'all triggers': '<'.repeat(9 * times),
      'openers without a call': '<tool_call>'.repeat(times),
      'openers and blanks': '<tool_call >  \n'.repeat(times),
      'almost openers': '<tool_cal'.repeat(times),
      closers: '</tool_call>'.repeat(times),
      'blanks in a tag': `<tool_call${' '.repeat(9 * times)}>`,
      'blanks before a body': `<tool_call>${' \n'.repeat(4 * times)}{`,
      'white space alone': ' \n'.repeat(9 * times),
      'headers that go on': '<function=a'.repeat(times),
      'line starts': '\n<function=f>\n'.repeat(times),
      backticks: '`` ` ``` '.repeat(times),
      'a long line of quotes': `> ${'<tool_call>{"name"'.repeat(times)}`,
      'one long line, many markers': 'a <think> '.repeat(times),
      'openers in a string': open + '<tool_call>{\\"name\\"'.repeat(times) + '"}}</tool_call>',
      'escapes in a string': `${open}${'\\\\'.repeat(4 * times)}"}}</tool_call>`,
      'almost closers in a string': `${open}${'</tool_cal'.repeat(times)}"}}</tool_call>`,
      'a string without an end': open + 'abc'.repeat(4 * times),
      'nested lists': `<tool_call>{"name":"f","arguments":{"a":${'['.repeat(4 * times)}`,
      'early arguments': `<tool_call>{"arguments":{"a":"${'b'.repeat(9 * times)}"},"name":"f"}`,
      'a failed call that quotes': `${open}" no ${'<tool_call>{"name":"g"'.repeat(times)}`,
      'failed calls': '<tool_call>{"name":no}</tool_call>'.repeat(times),
      'calls back to back': '<tool_call>{"name":"f"}</tool_call>'.repeat(times),
      'brackets behind a call': `<tool_call>{"name":"f"}${'}'.repeat(9 * times)}`,
      'blanks behind a call': `<tool_call>{"name":"f"}${' \n'.repeat(4 * times)}so`,
      'commas behind a call': `<tool_call>{"name":"f"}${', '.repeat(4 * times)}so`,
      'reasoning that never closes': `<think>${'</thin `</think>` '.repeat(times)}`,
      surrogates: '\ud83d\ude00\ud83d'.repeat(3 * times),
    }
    for (const [what, source] of Object.entries(hostile)) verifyWork(source, what)
  })

  test.each(Object.entries(hostileTexts(400)))('%s', (what, { text, options }) => {
    verifyWork(text, what, options)
  })

  test('a chunk makes a bounded number of events', () => {
    const source = `a < b ${'x <y '.repeat(500)}`
    for (const size of [1, 7, 64]) {
      const chunks = chunked(source, size)
      const deltas = count(drive(chunks).events, 'text-delta')
      expect(deltas).toBeLessThanOrEqual(2 * chunks.length)
    }
    expect(count(eventsOf(source), 'text-delta')).toBe(1)
    const long = `<tool_call>{"name":"f","arguments":{"a":"${'x\\n<'.repeat(1_000)}"}}</tool_call>`
    expect(count(eventsOf(long), 'tool-call-delta')).toBe(1)
  })

  // Each took a minute or did not end while a search back ran to the beginning of the chunk.
  test('half a million units on one line are read at once', () => {
    for (const piece of [
      'see `a` and ',
      '<tool_call>',
      '</tool_call>',
      'a</think>',
      '<tool_call a="',
    ]) {
      const source = piece.repeat(Math.ceil(524_288 / piece.length))
      const { parser } = drive([source])
      expect(parser.visited, piece).toBeLessThanOrEqual(3 * source.length + 64)
    }
  })
})

describe('promise 9: bounded', () => {
  const next = '<tool_call>{"name":"next","arguments":{"ok":true}}</tool_call>'
  const call = (name: string, text: string): string =>
    `<tool_call>{"name":"${name}","arguments":${text}}</tool_call>`

  function verifyLimit(limits: Record<string, number>, good: string, bad: string): void {
    for (const size of [1, 5, Number.MAX_SAFE_INTEGER]) {
      const within = drive(chunked(good, Math.min(size, good.length)), { limits })
      expect(count(within.events, 'tool-call-error')).toBe(0)
      const source = `${bad}\n${next}`
      const past = drive(chunked(source, Math.min(size, source.length)), { limits })
      verifyGrammar(past.events)
      const errors = past.events.filter((event) => event.type === 'tool-call-error')
      expect(errors.map((event) => event.code)).toEqual(['limit'])
      expect(callsOf(past.events)).toEqual([{ name: 'next', arguments: '{"ok":true}' }])
    }
  }

  test('depth', () => {
    fc.assert(
      fc.property(fc.integer({ max: 40, min: 2 }), fc.boolean(), (depth, lists) => {
        const nest = (levels: number): string =>
          lists
            ? `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
            : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
        verifyLimit({ depth }, call('f', nest(depth)), call('f', nest(depth + 1)))
      }),
      fewer,
    )
  })

  test('name', () => {
    fc.assert(
      fc.property(fc.integer({ max: 40, min: 4 }), fc.boolean(), (name, header) => {
        const shaped = (text: string): string =>
          header ? `<tool_call><function=${text}>{}</function></tool_call>` : call(text, '{}')
        verifyLimit({ name }, shaped('n'.repeat(name)), shaped('n'.repeat(name + 1)))
      }),
      fewer,
    )
  })

  test('arguments', () => {
    fc.assert(
      fc.property(fc.integer({ max: 200, min: 20 }), (size) => {
        const filled = (length: number): string => `{"a":"${'x'.repeat(length - 8)}"}`
        verifyLimit({ arguments: size }, call('f', filled(size)), call('f', filled(size + 1)))
      }),
      fewer,
    )
  })

  test('raw text of a call that failed is cut at the limit', () => {
    const bad = `<tool_call>{"name":"f","arguments":{"a":"${'x'.repeat(5_000)}"}}</tool_call>`
    const { events } = drive([bad + next], { limits: { arguments: 100 } })
    const error = events.find((event) => event.type === 'tool-call-error')
    expect(error?.raw?.length).toBeLessThanOrEqual(100)
    expect(bad.startsWith(error?.raw ?? 'none')).toBe(true)
  })

  test('calls', () => {
    for (const calls of [0, 1, 3]) {
      const { events } = drive([call('f', '{}').repeat(calls + 2)], { limits: { calls } })
      verifyGrammar(events)
      expect(callsOf(events).length).toBe(calls)
      expect(
        events.every((event) => event.type !== 'tool-call-error' || event.code === 'limit'),
      ).toBe(true)
      expect(count(events, 'tool-call-error')).toBeGreaterThan(0)
    }
  })

  test('white space', () => {
    const whitespace = 16
    for (const size of [1, 7, 1_000]) {
      const blanks = ' '.repeat(10 * whitespace)
      const { events } = drive(chunked(`${blanks}so${blanks}\n${next}${blanks}`, size), {
        limits: { whitespace },
      })
      verifyGrammar(events)
      expect(joinedText(events, 'text-delta').trim()).toBe('so')
      expect(callsOf(events).length).toBe(1)
    }
  })

  test('white space in a tag and before a body is bounded, too', () => {
    const whitespace = 16
    for (const begun of ['<tool_call', '<tool_call>', '<tool_call name="f"', '<function=f>']) {
      const chunks = [begun, ...chunked(' '.repeat(2_000), 50)]
      drive(chunks, {
        limits: { whitespace },
        afterChunk: ({ events, parser }, fed) => {
          if (parser.holding === 'whitespace') return
          const held = fed - joinedText(events, 'text-delta').length
          expect(held, `held after ${begun} and ${fed}`).toBeLessThanOrEqual(HEADER_ROOM + 400)
        },
      })
      verifyGrammar(drive(chunks, { limits: { whitespace } }).events)
    }
  })
})

describe('promise 10: no false success', () => {
  test('a prefix completes a call only once it holds the proof', () => {
    fc.assert(
      fc.property(validStream, ({ text, calls }) => {
        const complete = read(text).calls.map((call) => call.completeAt)
        expect(complete.length).toBe(calls.length)
        for (let end = 0; end <= text.length; end++) {
          const done = callsOf(eventsOf(text.slice(0, end)))
          expect(done.length, `of ${end} units`).toBe(complete.filter((at) => at <= end).length)
        }
      }),
      fewer,
    )
  })

  test('an abort or a broken source completes nothing', () => {
    fc.assert(
      fc.property(
        anyStream,
        fc.nat(),
        fc.constantFrom('abort' as const, 'fail' as const),
        readingOptions,
        (source, cut, how, options) => {
          const prefix = source.slice(0, cut % (source.length + 1))
          const open = drive([prefix], { ...options, closing: 'none' }).events
          const closed = drive([prefix], { ...options, closing: how }).events
          expect(callsOf(closed)).toEqual(callsOf(open))
        },
      ),
    )
  })
})

describe('promise 11: whole characters', () => {
  const emoji = fc.constantFrom('👍🏽', '\ud83d\ude00', '\ud83d', '\ude00', '\ud83d\ud83d\ude00', 'a')
  const units = fc.array(emoji, { maxLength: 12 }).map((pieces) => pieces.join(''))

  test('no delta is empty or separates a pair, and halves pass as they are', () => {
    fc.assert(
      fc.property(units, units, units, anyCuts, (prose, thought, value, cuts) => {
        const source = `<think>t${thought}</think>p${prose}<tool_call>{"name":"f","arguments":{"a":"${value}"}}</tool_call>`
        for (const chunks of [cutAt(source, cuts), chunked(source, 1)]) {
          const { events } = drive(chunks, { patches: true })
          verifyGrammar(events)
          expect(joinedText(events, 'text-delta')).toBe(`p${prose}`)
          expect(joinedText(events, 'reasoning-delta')).toBe(`t${thought}`)
          expect(callsOf(events)).toEqual([{ name: 'f', arguments: `{"a":"${value}"}` }])
          for (const event of events) {
            const patches = event.type === 'tool-call-delta' ? (event.patches ?? []) : []
            for (const patch of patches) {
              if (patch.op !== 'append') continue
              expect(patch.text).not.toBe('')
            }
          }
        }
      }),
    )
  })

  test('a half at the end of the input is not lost', () => {
    for (const how of CLOSINGS) {
      expect(joinedText(drive(['so \ud83d'], { closing: how }).events, 'text-delta')).toBe(
        'so \ud83d',
      )
    }
  })
})
