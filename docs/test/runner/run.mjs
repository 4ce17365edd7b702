/**
 * Runs modules that are in no file, one after another: `[{ url, code }, …]` comes in as JSON, and
 * `[{ stdout, stderr }, …]` goes out. Each is loaded as if it stood at its `url`, so that its imports
 * are resolved from there.
 */
import { register } from 'node:module'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'

const modules = JSON.parse(await text(process.stdin))
register('./hooks.mjs', import.meta.url, { data: modules })

const write = process.stdout.write.bind(process.stdout)
const results = []
for (const { url } of modules) {
  const result = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) {
    process[name].write = (piece) => {
      result[name] += piece
      return true
    }
  }
  try {
    await import(url)
  } catch (error) {
    result.stderr += inspect(error)
  }
  results.push(result)
}
write(JSON.stringify(results))
