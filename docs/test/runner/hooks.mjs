/** Loader hooks for `run.mjs`: modules that are in no file. */

const codes = new Map()

export function initialize(modules) {
  for (const { url, code } of modules) codes.set(url, code)
}

export function resolve(specifier, context, nextResolve) {
  if (!codes.has(specifier)) return nextResolve(specifier, context)
  return { url: specifier, format: 'module', shortCircuit: true }
}

export function load(url, context, nextLoad) {
  if (!codes.has(url)) return nextLoad(url, context)
  return { format: 'module', source: codes.get(url), shortCircuit: true }
}
