/** Reads the declared tools in either shape. */
import { describe } from './check-options.ts'
import { MisuseError } from './errors.ts'
import type { Tool, ToolDefinition } from './options.ts'

/** The bare form of a tool. */
function toolDefinition(tool: Tool): ToolDefinition {
  return 'function' in tool && typeof tool.function === 'object'
    ? tool.function
    : (tool as ToolDefinition)
}

/** The names of the declared tools. Throws `MisuseError` `invalid-tools` that says which is wrong. */
export function toolNames(tools: readonly Tool[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [at, tool] of tools.entries()) {
    const name: unknown = tool && typeof tool === 'object' ? toolDefinition(tool).name : tool
    if (typeof name !== 'string' || name === '' || typeof tool !== 'object') {
      const expected = `a tool with a name in tools[${at}]`
      throw new MisuseError('invalid-tools', `Expected ${expected}, found ${describe(name)}.`)
    }
    names.add(name)
  }
  return names
}
