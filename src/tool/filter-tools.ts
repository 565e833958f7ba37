import { ToolwrightError } from '../error/error.ts'
import type { ReadonlyContext } from './context.ts'
import { unprefixedTool } from './prefix-tools.ts'
import type { Tool } from './tool.ts'
import { isToolset, type Toolset } from './toolset.ts'
import { wrapToolset } from './wrap-toolset.ts'

/** Which tools may be seen: their names, or a question asked each time they are listed. Only `true` lets one through. */
export type ToolFilter = readonly string[] | ((tool: Tool, context: ReadonlyContext) => boolean)

/**
 * Some of a toolset's tools. An empty list is no tools; a name that matches nothing is no error; a predicate that
 * throws leaves the tool out. Names are those without a prefix.
 *
 * @example
 * filterTools(files, ['read_file', 'list_files'])
 * filterTools(files, (tool, { state }) => tool.name !== 'delete_file' || state.get('user:admin') === true)
 */
export function filterTools(toolset: Toolset, filter: ToolFilter): Toolset {
  if (!isToolset(toolset) || !(typeof filter === 'function' || Array.isArray(filter)))
    throw new ToolwrightError('INVALID_CONFIG', 'filterTools() takes a toolset and a list of names or a function.')
  const passes = typeof filter === 'function' ? filter : named(filter)
  return wrapToolset(toolset, async (context) => {
    const tools = await toolset.listTools(context)
    return tools.filter((tool) => {
      try {
        const passed: unknown = passes(unprefixedTool(tool), context)
        if (passed instanceof Promise) passed.catch(() => {}) // no `true`, whatever it becomes
        return passed === true
      } catch {
        return false
      }
    })
  })
}

function named(names: readonly string[]): (tool: Tool) => boolean {
  const allowed = new Set(names)
  return (tool) => allowed.has(tool.name)
}
