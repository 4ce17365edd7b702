/** What the package's first entry shows, and that it runs where there is no Node. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as entry from '../src/index.ts'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

test('its exports', () => {
  expect(Object.keys(entry).toSorted()).toEqual([
    'MAX_FRAME_SIZE',
    'SOURCE_ERROR_CODES',
    'createLlamaServerReader',
    'fromLlamaServer',
    'fromLlamaServerStream',
  ])
})

test('its sources import nothing of Node’s and nothing but the core and the parser of events', () => {
  const files = new Set<string>()
  const outside = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/ from '([^']+)'/g)) {
      if (from.startsWith('.')) visit(join(dirname(file), from))
      else outside.add(from)
    }
  }
  visit(join(SOURCES, 'index.ts'))
  expect([...files].map((file) => relative(SOURCES, file))).toContain('sse.ts')
  expect([...outside].toSorted()).toEqual([
    '@talaria/core',
    '@talaria/core/machine',
    'eventsource-parser',
  ])
})
