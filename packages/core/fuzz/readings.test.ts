/**
 * The fixtures for mutation testing: each read whole, then held against the promises once. A
 * thousand mutants can't wait for every cut, and seldom does one change what every cut gives alike.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  compareMessage,
  folderOf,
  readFixtures,
  type StreamCase,
  variants,
} from '@talaria/fixtures'
import { describe, expect, test } from 'vitest'
import { collect, type EndInfo, log, type ParserOptions, type Tool } from '../src/index.ts'
import { drive } from '../test/drive.ts'
import { verify } from './promises.ts'

const folder = folderOf('hermes')
const notYet = readNotYet(join(folder, 'not-yet.json'))

describe.each(readdirSync(folder).filter((file) => file.endsWith('.md')))('%s', (file) => {
  const found = readFixtures(join(folder, file))
    .flatMap(variants)
    .filter((each) => each.kind === 'stream')
  const known = found.filter(({ id }) => !notYet.has(`${basename(file)}#${id}`))
  test.each(known.map((fixture) => [fixture.title, fixture] as const))('%s', (_, fixture) => {
    const { end, ...options } = optionsOf(fixture)
    const { events, parser } = drive([fixture.input], { ...options, closing: 'none' })
    if (end === 'abort') parser.abort()
    else if (end === 'fail') parser.fail(new Error('socket hang up'))
    else parser.end(end)
    if (fixture.events) expect(log(events)).toEqual(fixture.events)
    if (fixture.message) expect(compareMessage(fixture.message, collect(events))).toEqual([])
    verify({ source: fixture.input, options }, { effort: 'little' })
  })
})

interface Given extends ParserOptions {
  readonly end?: EndInfo | 'abort' | 'fail' | undefined
}

function optionsOf({ dialect, options, tools }: StreamCase): Given {
  return {
    ...options,
    ...(dialect !== undefined && { dialect }),
    ...(tools && { tools: tools as unknown as readonly Tool[] }),
  }
}

function readNotYet(path: string): ReadonlySet<string> {
  if (!existsSync(path)) return new Set()
  const list = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, string[]>>
  return new Set(Object.values(list).flat())
}
