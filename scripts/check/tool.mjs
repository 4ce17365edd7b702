/** What the checks share: where things are, and how a tool is run. */
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Reads JSON from a path under the root. */
export const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** The workspace's packages: folder under the root, and manifest. */
export function workspace() {
  const folders = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)
  return [...folders, 'fixtures', 'bench'].map((folder) => ({
    folder,
    manifest: readJson(`${folder}/package.json`),
  }))
}

/**
 * Runs a program to its end without a shell.
 * @returns {Promise<string>} All that it printed.
 * @throws {Error} With all that it printed, when its exit code is not 0.
 */
export function run(file, args, cwd = ROOT) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(output))))
  })
}

/** Runs the program of a development dependency, named by its file. */
export const tool = (script, ...args) =>
  run(process.execPath, [join(ROOT, 'node_modules', script), ...args])
