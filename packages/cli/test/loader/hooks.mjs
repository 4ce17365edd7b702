/**
 * Loads TypeScript with its types blanked out, and keeps the result by the source's hash: reading
 * the compiler takes a second, and the tests start dozens of processes.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const CACHE = new URL('../../node_modules/.cache/talaria/', import.meta.url)

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const source = await readFile(fileURLToPath(url), 'utf8')
  const key = createHash('sha256').update(source).digest('hex')
  const file = new URL(`${key}.js`, CACHE)
  const javascript = await readFile(file, 'utf8').catch(() => blank(source, file))
  return { format: 'module', source: javascript, shortCircuit: true }
}

async function blank(source, file) {
  const { default: blankSpace } = await import('ts-blank-space')
  const javascript = blankSpace(source)
  await mkdir(CACHE, { recursive: true })
  // Several processes may write it at once: a file that is there is whole.
  const draft = new URL(`${file.href}.${process.pid}`)
  await writeFile(draft, javascript)
  await rename(draft, file)
  return javascript
}
