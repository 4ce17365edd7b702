/** The two shapes of a declared tool, as one. */
import type { Tool, ToolDefinition } from '@talaria/core'

/** A tool in its bare form. */
export function toolDefinition(tool: Tool): ToolDefinition {
  return 'function' in tool && typeof tool.function === 'object'
    ? tool.function
    : (tool as ToolDefinition)
}
