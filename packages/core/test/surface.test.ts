/** What the package shows: the names of each entry point, and sources that run anywhere. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .toSorted()
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies?: object
}

/** Sources without comments and strings, so that words in prose do not count. */
function code(file: string): string {
  return readFileSync(join(root, 'src', file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '')
}

describe('exports', () => {
  test('of each entry point', async () => {
    const entries: Readonly<Record<string, readonly string[]>> = {
      index: [
        'DEFAULT_LIMITS',
        'DIALECTS',
        'ERROR_CODES',
        'MisuseError',
        'PRESETS',
        'REPAIR_CODES',
        'RULES',
        'WARNING_CODES',
        'applyPatches',
        'collect',
        'collectAsync',
        'createCollector',
        'createIdGenerator',
        'createParser',
        'joinDeltas',
        'log',
        'logLine',
        'markersOf',
        'parse',
        'parseMessage',
      ],
      machine: [
        'MisuseError',
        'createMachine',
        'defineDialect',
        'elementCall',
        'jsonArguments',
        'jsonCall',
        'nameFirst',
      ],
      stream: ['ToolCallStream'],
      log: ['joinDeltas', 'log', 'logLine'],
      'dialects/hermes': ['hermes'],
      'dialects/reasoning': ['reasoning'],
    }
    for (const [entry, names] of Object.entries(entries)) {
      const found = (await import(join(root, 'src', `${entry}.ts`))) as object
      expect(Object.keys(found).toSorted(), entry).toEqual(names)
    }
  })

  test('each entry point of the manifest is a source that is built', () => {
    for (const [entry, { source, types, default: built }] of Object.entries(manifest.exports)) {
      if (entry === './package.json') continue
      const path = source!.replace(/^\.\/src\/(.*)\.ts$/, '$1')
      expect(types).toBe(`./dist/${path}.d.ts`)
      expect(built).toBe(`./dist/${path}.js`)
      if (!path.includes('*')) expect(sources).toContain(`${path}.ts`)
    }
  })

  test('no default export and no export of everything', () => {
    for (const file of sources) expect(code(file), file).not.toMatch(/export (default|\*)/)
  })
})

describe('sources run anywhere', () => {
  test('they import one another only', () => {
    expect(manifest.dependencies ?? {}).toEqual({})
    for (const file of sources) {
      const imported = [...code(file).matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)]
      for (const [, path] of imported) expect(path, file).toMatch(/^\.\.?\/.*\.ts$/)
    }
  })

  test('they name nothing that only Node has', () => {
    const nodeOnly = /\b(process|Buffer|require|__dirname|__filename|setImmediate|global)\b/
    for (const file of sources)
      expect(code(file).replace(/'[^'\n]*'|`[^`]*`/g, ''), file).not.toMatch(nodeOnly)
  })

  test('the loop knows no dialect, and a body knows no parser', () => {
    const imports = (file: string): string[] =>
      [...code(file).matchAll(/from '([^']+)'/g)].map((found) => found[1]!)
    expect(imports('parser.ts').filter((path) => path.includes('dialects/'))).toEqual([])
    for (const file of sources.filter((path) => path.startsWith('bodies/')))
      expect(
        imports(file).filter((path) => /parser|dialect/.test(path)),
        file,
      ).toEqual([])
    for (const file of sources.filter((path) => path.startsWith('dialects/')))
      expect(
        imports(file).filter((path) => /parser/.test(path)),
        file,
      ).toEqual([])
  })
})
