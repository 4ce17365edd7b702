/** Reads the declared tools in either shape. */
import { MisuseError } from './errors.ts'
import type { Tool, ToolDefinition } from './options.ts'

/** The bare form of a tool. */
export function toolDefinition(tool: Tool): ToolDefinition {
  return 'function' in tool && typeof tool.function === 'object' ? tool.function : (tool as ToolDefinition)
}

/** The names of the declared tools. Throws `MisuseError` `invalid-tools` that says which is wrong. */
export function toolNames(tools: readonly Tool[]): ReadonlySet<string> {
  if (!Array.isArray(tools)) {
    throw new MisuseError('invalid-tools', `Expected a list of tools, found ${describe(tools)}.`)
  }
  const names = new Set<string>()
  for (const [at, tool] of tools.entries()) {
    const name: unknown = tool && typeof tool === 'object' ? toolDefinition(tool).name : undefined
    if (typeof name !== 'string' || name === '') {
      throw new MisuseError('invalid-tools', `Expected a name in tools[${at}], found ${describe(name)}.`)
    }
    names.add(name)
  }
  return names
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : (JSON.stringify(value) ?? 'none')
}
