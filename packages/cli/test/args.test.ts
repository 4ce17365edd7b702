/** What the command line says when it is wrong, and when it asks for help. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nearest } from '../src/suggest.ts'
import { talaria } from './harness.ts'

describe('a wrong command line', () => {
  it.each([
    [[], 'expected a command: parse, demo or help (talaria --help tells)'],
    [['pars'], "unknown command 'pars', did you mean 'parse'?"],
    [['answer.txt'], "unknown command 'answer.txt', expected parse, demo or help"],
    [['--helpp'], "unknown option '--helpp', did you mean '--help'?"],
    [['--to', 'log'], "unknown option '--to', expected parse, demo or help"],
    [['help', 'prase'], "unknown command 'prase', did you mean 'parse'?"],
    [['help', 'parse', 'demo'], "help takes one command, found 'demo' as well"],
    [['parse', 'a', 'b'], "parse takes one file, found 'b' as well"],
    [['parse', '--strickt'], "unknown option '--strickt', did you mean '--strict'?"],
    [['parse', '--tool=x'], "unknown option '--tool', did you mean '--tools'?"],
    [['parse', '-x'], "unknown option '-x'"],
    [['parse', '--unlike-anything'], "unknown option '--unlike-anything'"],
    [['parse', '--to'], '--to needs a value: events, message, log or view'],
    [['parse', '--to', '--strict'], '--to needs a value: events, message, log or view'],
    [
      ['parse', '-t', 'evnts'],
      "-t must be events, message, log or view, not 'evnts', did you mean 'events'?",
    ],
    [['parse', '--to=json'], "--to must be events, message, log or view, not 'json'"],
    [
      ['parse', '--input', 'ndjsn'],
      "--input must be auto, text, sse or ndjson, not 'ndjsn', did you mean 'ndjson'?",
    ],
    [['parse', '--strict=yes'], "--strict takes no value, found 'yes'"],
    [['parse', '--color=yes'], "--color must be auto, always or never, not 'yes'"],
    [['parse', '--choice', 'first'], "--choice must be a number from 0 on, not 'first'"],
    [['parse', '--choice=-1'], "--choice must be a number from 0 on, not '-1'"],
    [['parse', '--tools'], '--tools needs a value: FILE'],
    [['demo', 'x'], "demo takes no file, found 'x'"],
  ] as const)('talaria %j', async (argv, message) => {
    expect(await talaria(argv)).toEqual({
      code: 2,
      stdout: '',
      stderr: `talaria: ${message}\n`,
      writes: [],
    })
  })

  it('names the dialects', async () => {
    const { stderr, code } = await talaria(['parse', '--dialect', 'hermse'])
    expect(stderr).toMatch(
      /^talaria: --dialect must be auto.* hermes.*, did you mean 'hermes'\?\n$/,
    )
    expect(code).toBe(2)
  })

  it('can not drive the terminal', async () => {
    const { stderr } = await talaria(['parse', '--to', '\u001b[2J\n'])
    expect(stderr).toContain("not '␛[2J '")
  })
})

describe('help', () => {
  it.each([[['--help']], [['-h']], [['help']]])('talaria %j names every command', async (argv) => {
    const { stdout, code } = await talaria(argv)
    expect(stdout).toContain('\n  talaria parse [FILE] [options]\n')
    expect(stdout).toContain('\n  talaria demo ')
    expect(stdout).toContain('Exit codes\n')
    expect(code).toBe(0)
  })

  it.each(['parse', 'demo'])('talaria help %s is talaria %s --help', async (name) => {
    const { stdout, code } = await talaria(['help', name])
    expect(await talaria([name, '--help'])).toMatchObject({ stdout, code: 0 })
    expect(await talaria([name, '-h'])).toMatchObject({ stdout, code: 0 })
    expect(stdout).toMatch(new RegExp(`^Usage: talaria ${name} `))
    expect(code).toBe(0)
  })

  it('fits 100 columns', async () => {
    for (const argv of [['help'], ['help', 'parse'], ['help', 'demo']]) {
      const { stdout } = await talaria(argv)
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
    }
  })
})

describe('--version', () => {
  it.each([[['--version']], [['-V']]])('talaria %j', async (argv) => {
    const manifest: unknown = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    )
    const { version } = manifest as { version: string }
    expect(await talaria(argv)).toMatchObject({ code: 0, stdout: `${version}\n` })
  })
})

describe('did you mean', () => {
  it.each([
    ['evnets', 'events'],
    ['LOG', 'log'],
    ['veiw', 'view'],
    ['mesage', 'message'],
    ['xyz', undefined],
    ['', undefined],
  ])('%s', (word, meant) => {
    expect(nearest(word, ['events', 'message', 'log', 'view'])).toBe(meant)
  })
})
