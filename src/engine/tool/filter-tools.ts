import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { unprefixedTool } from './prefix-tools.ts'
import type { Tool } from './tool.ts'
import { isToolset, type Toolset } from './toolset.ts'
import { wrapToolset } from './wrap-toolset.ts'

/** Names of tools, or a function that is called for each tool at each listing. Only `true` keeps the tool. */
type ToolFilter = readonly string[] | ((tool: Tool, context: ReadonlyContext) => boolean)

/**
 * Keeps some tools of a toolset. An empty list keeps none. A name without a tool is ignored. A function that throws leaves the
 * tool out. The filter sees names without the prefixes of `prefixTools`.
 *
 * @example
 * filterTools(files, ['read_file', 'list_files'])
 * filterTools(files, (tool, { state }) => tool.name !== 'delete_file' || state.get('user:admin') === true)
 */
export function filterTools(toolset: Toolset, filter: ToolFilter): Toolset {
  if (!isToolset(toolset) || !(typeof filter === 'function' || Array.isArray(filter)))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `filterTools() takes a toolset and a list of names or a function, got ${kindOf(toolset)} and ${kindOf(filter)}.`,
    )
  const passes = typeof filter === 'function' ? filter : matchNames(filter)
  return wrapToolset(toolset, async (inner, context) => {
    const tools = await inner.listTools(context)
    return tools.filter((tool) => {
      try {
        const passed: unknown = passes(unprefixedTool(tool), context)
        if (passed instanceof Promise) passed.catch(() => {}) // a promise is not `true`; its rejection must not be unhandled
        return passed === true
      } catch {
        return false
      }
    })
  })
}

function matchNames(names: readonly string[]): (tool: Tool) => boolean {
  const allowed = new Set(names)
  return (tool) => allowed.has(tool.name)
}
