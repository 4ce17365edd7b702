/**
 * Reads the tools of a request from a file: a list in OpenAI's shape or the bare one, or a whole
 * request that holds such a list under `tools`.
 */
import { readFile } from 'node:fs/promises'
import type { Tool, ToolDefinition } from '@talaria/core'
import { EXIT, Failure, reasonOf } from './failure.ts'

/** Throws a `Failure` that names the file and the place in it. */
export async function readTools(file: string): Promise<Tool[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new Failure(EXIT.io, `can't read the tools in ${file}: ${reasonOf(error)}`)
  }
  const wrong = (place: string, expected: string, found: unknown): Failure =>
    new Failure(EXIT.usage, `${file}: ${place}: expected ${expected}, found ${kindOf(found)}`)
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new Failure(EXIT.usage, `${file}: expected JSON: ${reasonOf(error)}`)
  }
  const request = isObject(value) && 'tools' in value ? value : undefined
  const list = request ? request['tools'] : value
  const root = request ? 'tools' : '$'
  if (!Array.isArray(list)) throw wrong(root, 'a list of tools', list)

  const names = new Map<string, string>()
  return list.map((tool: unknown, index) => {
    const place = `${root}[${index}]`
    if (!isObject(tool)) throw wrong(place, 'a tool', tool)
    if ('type' in tool && tool['type'] !== 'function') {
      throw wrong(`${place}.type`, "'function'", tool['type'])
    }
    const wrapped = 'function' in tool
    const inside = wrapped ? `${place}.function` : place
    const definition = wrapped ? tool['function'] : tool
    if (!isObject(definition)) throw wrong(inside, 'an object with a name', definition)
    const { name, description, parameters } = definition
    if (typeof name !== 'string' || name.trim() === '') {
      throw wrong(`${inside}.name`, 'a name', name)
    }
    if (description !== undefined && typeof description !== 'string') {
      throw wrong(`${inside}.description`, 'a text', description)
    }
    if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
      throw wrong(`${inside}.parameters`, 'a JSON Schema', parameters)
    }
    const earlier = names.get(name)
    if (earlier !== undefined) {
      throw new Failure(EXIT.usage, `${file}: ${inside}.name: '${name}' stands at ${earlier}, too`)
    }
    names.set(name, place)
    return {
      name,
      ...(description !== undefined && { description }),
      ...(isObject(parameters) && { parameters }),
    } satisfies ToolDefinition
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What was found, short enough for one line. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
