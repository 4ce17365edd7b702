/** Rules of the house that no linter knows: each returns what is wrong, one line per finding. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, readJson, run, workspace } from './tool.mjs'

/** Lines that the plan at the head of a source file may have. */
const PLAN_LINES = 10
const SOURCE =
  /^(packages\/[^/]+\/(src|test|fuzz)|fixtures\/(src|test)|bench|docs\/test|scripts)\/.*\.m?[jt]s$/

/** All files that are in the repository or could be, as paths under the root. */
async function files() {
  // Whose the folder is does not matter to a list.
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z']
  const listed = await run('git', [...args, '--cached', '--others', '--exclude-standard'])
  return listed.split('\0').filter((path) => path !== '' && isFile(join(ROOT, path)))
}

const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true
const read = (path) => readFileSync(join(ROOT, path), 'utf8')

/** pnpm's version is one wherever it stands, and the lockfile names no registry. */
export async function versions() {
  const wanted = readJson('package.json').packageManager
  const found = []
  for (const path of await files()) {
    if (path === 'pnpm-lock.yaml' || path.endsWith('CHANGELOG.md')) continue
    for (const [text] of read(path).matchAll(/\bpnpm@\d[\w.-]*\w/g)) {
      if (text !== wanted) found.push(`${path}: ${text}, but package.json says ${wanted}`)
    }
  }
  const [address] = /\bhttps?:\/\/\S+/.exec(read('pnpm-lock.yaml')) ?? []
  if (address !== undefined) found.push(`pnpm-lock.yaml: holds an address, ${address}`)
  return found
}

/** Source files open with their plan, and re-export by name. */
export async function sources() {
  const found = []
  for (const path of await files()) {
    if (!SOURCE.test(path)) continue
    const text = read(path)
    const [, plan] = /^(?:#!.*\n)?\/\*\*([^]*?)\*\//.exec(text) ?? []
    if (plan === undefined) found.push(`${path}: does not open with its plan`)
    else if (plan.trim().split('\n').length > PLAN_LINES) {
      found.push(`${path}: its plan has more than ${PLAN_LINES} lines`)
    }
    if (/^export \*/m.test(text)) found.push(`${path}: \`export *\` hides what is exported`)
  }
  return found
}

/** Versions stand in the catalog alone; each export has its source, types and code, in this order. */
export function manifests() {
  const found = []
  for (const { folder, manifest } of [
    { folder: '.', manifest: readJson('package.json') },
    ...workspace(),
  ]) {
    const complain = (text) => found.push(`${folder}/package.json: ${text}`)
    for (const field of ['dependencies', 'devDependencies', 'optionalDependencies']) {
      for (const [name, version] of Object.entries(manifest[field] ?? {})) {
        const wanted = name.startsWith('@talaria/') ? 'workspace:*' : 'catalog:'
        if (version !== wanted) complain(`${name} is ${version}, not ${wanted}`)
      }
    }
    for (const name of Object.keys(manifest.peerDependencies ?? {})) {
      if (manifest.devDependencies?.[name] === undefined) complain(`the peer ${name} is not tested`)
    }
    for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
      const base = /^\.\/src\/(.*)\.ts$/.exec(target.source)?.[1]
      const wanted = {
        source: `./src/${base}.ts`,
        types: `./dist/${base}.d.ts`,
        default: `./dist/${base}.js`,
      }
      if (JSON.stringify(target) !== JSON.stringify(wanted)) {
        complain(`the export ${entry} is not { source, types, default } of one file`)
      }
      const path = join(ROOT, folder, base?.endsWith('*') ? dirname(target.source) : target.source)
      if (!existsSync(path)) complain(`the export ${entry} has no source`)
    }
  }
  return found
}
