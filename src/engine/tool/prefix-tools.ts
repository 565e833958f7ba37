import { kindOf } from '../../core/base/kind-of.ts'
import type { FunctionDeclaration } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { overrideTool } from './override-tool.ts'
import { nameProblem, type Tool } from './tool.ts'
import { isToolset, type Toolset } from './toolset.ts'
import { wrapToolset } from './wrap-toolset.ts'

const ORIGINAL = Symbol.for('toolwright.unprefixed')

/**
 * Adds a prefix to the names of a toolset's tools: `w_` and `search` make `w_search`. `filterTools`, inside or outside, sees
 * the names without prefix.
 *
 * @example
 * tools: [prefixTools(docs, 'docs_'), prefixTools(web, 'web_')]
 */
export function prefixTools(toolset: Toolset, prefix: string): Toolset {
  if (!isToolset(toolset))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `prefixTools() takes a toolset as its first argument, got ${kindOf(toolset)}.`,
    )
  if (typeof prefix !== 'string' || nameProblem(`${prefix}x`))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `prefixTools(): ${JSON.stringify(prefix)} cannot start a tool's name. Use letters, digits and "_", such as "docs_".`,
    )
  // Returns the same object for each listing: the dispatcher caches what it knows about a tool by identity.
  const renamed = new WeakMap<Tool, Tool>()
  return wrapToolset(toolset, async (inner, context) => {
    const tools = await inner.listTools(context)
    return tools.map((tool) => {
      let made = renamed.get(tool)
      if (!made) {
        made = rename(tool, prefix)
        renamed.set(tool, made)
      }
      return made
    })
  })
}

/** The tool of the innermost toolset, without any prefix. */
export function unprefixedTool(tool: Tool): Tool {
  return (tool as { [ORIGINAL]?: Tool })[ORIGINAL] ?? tool
}

function rename(tool: Tool, prefix: string): Tool {
  const name = prefix + tool.name
  const problem = nameProblem(name)
  if (problem)
    throw new ToolwrightError('INVALID_CONFIG', `prefixTools(): "${name}" cannot be a tool's name: ${problem}.`)
  let from: FunctionDeclaration | undefined
  let declared: FunctionDeclaration | undefined
  const declaration = (): FunctionDeclaration | undefined => {
    const current = tool.declaration()
    if (current !== from) {
      from = current
      declared = current && { ...current, name }
    }
    return declared
  }
  return overrideTool(tool, { name, declaration, [ORIGINAL]: unprefixedTool(tool) })
}
