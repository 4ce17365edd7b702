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

/** What is known of the declared tools. */
export interface Tools {
  readonly size: number
  has(name: string): boolean
  /** Names of a tool's declared parameters; nothing if it is unknown or declares none. */
  parameters(name: string): ReadonlySet<string> | undefined
}

/** Reads a list of tools. Throws `MisuseError` `invalid-tools` that says which is wrong. */
export function readTools(tools: readonly Tool[]): Tools {
  const known = new Map<string, ToolDefinition>()
  for (const [at, tool] of tools.entries()) {
    const definition = tool && typeof tool === 'object' ? toolDefinition(tool) : undefined
    const name: unknown = definition ? definition.name : tool
    if (typeof name !== 'string' || name === '' || !definition) {
      const expected = `a tool with a name in tools[${at}]`
      throw new MisuseError('invalid-tools', `Expected ${expected}, found ${describe(name)}.`)
    }
    known.set(name, definition)
  }
  return {
    size: known.size,
    has: (name) => known.has(name),
    parameters: (name) => parameterNames(known.get(name)),
  }
}

function parameterNames(tool: ToolDefinition | undefined): ReadonlySet<string> | undefined {
  const schema = tool?.parameters
  const properties: unknown = schema && 'properties' in schema ? schema.properties : undefined
  if (typeof properties !== 'object' || properties === null) return undefined
  return new Set(Object.keys(properties))
}
