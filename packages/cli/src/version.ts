/** This package's version, read from its package.json: one folder above sources and build alike. */
import { readFileSync } from 'node:fs'

export function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version)
  }
  throw new Error('package.json has no version')
}
