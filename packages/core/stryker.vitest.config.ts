/**
 * The tests that mutants have to pass: fixtures first, since they kill most of them at once, then
 * what is quick. `MUTANT_TESTS` names others, for a closer look at a few mutants.
 */
import { defineConfig } from 'vitest/config'

const conditions = ['source', 'module', 'node', 'import', 'default']
const usual = ['fuzz/readings.test.ts', 'test/**/*.test.ts']
const slow = ['test/{differential,fixtures,fuzz,properties,surface}.test.ts']
const asked = process.env.MUTANT_TESTS

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: asked?.split(',') ?? usual,
    exclude: asked === undefined ? slow : [],
    // One worker loads the core once for all files.
    isolate: false,
    testTimeout: 60_000,
  },
})
