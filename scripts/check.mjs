/**
 * Everything that must hold besides the tests. `npm run check` runs all of it, `npm run check -- lint
 * types` what is named. All checks run even if one fails, so that one round shows all there is to do.
 * They only look: `npm run fix` changes.
 */
import { packages } from './check/packages.mjs'
import { manifests, sources, versions } from './check/repository.mjs'
import { tool } from './check/tool.mjs'

/** Each throws, or returns findings; other answers of tools that succeeded are of no interest. */
const CHECKS = {
  versions,
  manifests,
  sources,
  build: () => tool('turbo/bin/turbo', 'run', 'build', '--output-logs=errors-only'),
  types: () => tool('typescript/bin/tsc', '--build'),
  lint: () => tool('oxlint/bin/oxlint'),
  format: () => tool('oxfmt/bin/oxfmt', '--check'),
  unused: () => tool('knip/bin/knip.js', '--no-progress'),
  packages,
  size: () => tool('size-limit/bin.js'),
}

/** Runs one check. Returns what is wrong, or nothing. */
async function problems(check) {
  try {
    const found = await check()
    return Array.isArray(found) ? found.join('\n') : ''
  } catch (error) {
    return error.message.trim() || String(error)
  }
}

const named = process.argv.slice(2)
const unknown = named.find((name) => !Object.hasOwn(CHECKS, name))
if (unknown !== undefined) {
  console.error(`talaria: no check \`${unknown}\`; there are ${Object.keys(CHECKS).join(', ')}`)
  process.exit(2)
}

let failed = 0
const names = named.length > 0 ? named : Object.keys(CHECKS)
for (const name of names) {
  const start = performance.now()
  const text = await problems(CHECKS[name])
  const seconds = ((performance.now() - start) / 1_000).toFixed(1)
  console.log(`${text === '' ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${seconds.padStart(5)} s`)
  if (text === '') continue
  failed++
  console.log(text.replace(/^(?=.)/gm, '  '))
}
console.log(
  failed > 0
    ? `Checks  ${failed} failed (${names.length})`
    : `Checks  ${names.length} passed (${names.length})`,
)
process.exitCode = failed > 0 ? 1 : 0
