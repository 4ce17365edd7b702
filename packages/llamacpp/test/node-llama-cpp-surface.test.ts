/** What the entries for node-llama-cpp show, and that one of them never imports it. */
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as node from '../src/node.ts'
import * as piano from '../src/piano.ts'

test('exports', () => {
  expect(Object.keys(node).toSorted()).toEqual(['createDetokenizer', 'fromNodeLlamaCpp'])
  expect(Object.keys(piano).toSorted()).toEqual([
    'CHAT_TEMPLATE',
    'DEMO_SCRIPTS',
    'createPiano',
    'createRandom',
    'createVocabulary',
    'loadNodeLlamaCpp',
    'pianoModel',
    'randomModel',
    'renderPrompt',
    'writeGguf',
  ])
})

test('the adapter imports neither Node’s modules nor node-llama-cpp', () => {
  const folder = fileURLToPath(new URL('../src/node/', import.meta.url))
  const sources = readdirSync(folder).map((name) => readFileSync(folder + name, 'utf8'))
  expect(sources.length).toBeGreaterThan(3)
  const imports = sources.flatMap((source) => [
    ...source.matchAll(/(?:from|import\() ?'([^'.][^']*)'/g),
  ])
  expect([...new Set(imports.map(([, name]) => name))]).toEqual(['@talaria/core'])
})
