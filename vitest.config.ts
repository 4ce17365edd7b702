/**
 * Runs the tests of all packages from their sources: with the `source` condition an import of
 * `@talaria/core` is its TypeScript, so that no test can meet a stale build.
 */
import { defineConfig } from 'vitest/config'

const conditions = ['source', 'module', 'node', 'import', 'default']
const roots = [
  'fixtures',
  'packages/core',
  'packages/llamacpp',
  'packages/detect',
  'packages/cli',
  'bench',
  'docs',
]

export default defineConfig({
  test: {
    projects: roots.map((root) => ({
      root,
      ssr: { resolve: { conditions, externalConditions: conditions } },
      test: { name: root.slice(root.lastIndexOf('/') + 1), include: ['test/**/*.test.ts'] },
    })),
  },
})
