/**
 * Lets Node load the sources: our packages are their TypeScript, types are blanked out as modules
 * load, and the core's own modules count their branches.
 */
import blank from 'ts-blank-space'
import { instrument } from './instrument.mjs'

const CORE = new URL('../src/', import.meta.url).href

export function resolve(specifier, context, next) {
  return next(specifier, { ...context, conditions: [...context.conditions, 'source'] })
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const { source } = await next(url, { ...context, format: 'module' })
  const text = String(source)
  const counted = url.startsWith(CORE) ? instrument(text, url) : text
  return { format: 'module', shortCircuit: true, source: `${blank(counted)}\n//# sourceURL=${url}` }
}
