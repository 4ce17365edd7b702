/** What the package shows: its names, and sources that run anywhere. */
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as entry from '../src/index.ts'

const SOURCES = new URL('../src/', import.meta.url)
const sources = readdirSync(SOURCES).map((file) => ({
  file,
  text: readFileSync(new URL(file, SOURCES), 'utf8'),
}))

test('one function', () => {
  expect(Object.keys(entry)).toEqual(['detectDialect'])
})

test('the core and the template engine are all that is imported, and the engine in one place', () => {
  for (const { file, text } of sources) {
    const imported = [...text.matchAll(/from '([^'.][^']*)'/g)].map(([, name]) => name)
    const allowed = file === 'engine.ts' ? ['@huggingface/jinja'] : ['@talaria/core']
    for (const name of imported) expect(allowed, file).toContain(name)
  }
})

test('nothing is named that only Node has', () => {
  for (const { file, text } of sources)
    expect(text.replace(/\/\*[^]*?\*\//g, ''), file).not.toMatch(/\b(process|Buffer|require)\b/)
})
