// From what people write as `tools` to what can be called.
import { extendToolTable, type SourcedTool, type ToolTable } from '../dispatch/resolve.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { isTool, type Tool } from '../tool/tool.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'

/** Tools that depend on who asks. */
export type DynamicTools = Toolset | ((context: ReadonlyContext) => ToolSource | Promise<ToolSource>)

/** What an agent's `tools` takes: tools, toolsets, functions of the context that give either, and lists of these. */
export type ToolSource = Tool | DynamicTools | readonly ToolSource[]

/** Nested arrays become one list: what is a tool now, and what must be asked later. */
export function flatten(sources: ToolSource, source: string): { tools: SourcedTool[]; dynamic: DynamicTools[] } {
  const tools: SourcedTool[] = []
  const dynamic: DynamicTools[] = []
  const visit = (one: ToolSource, depth: number): void => {
    if (isList(one) && depth < 32) for (const inner of one) visit(inner, depth + 1)
    else if (isToolset(one)) dynamic.push(one)
    else if (isTool(one)) tools.push({ tool: one, source })
    else if (typeof one === 'function') dynamic.push(one)
    else {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `The tools of ${source} hold something that is no tool, toolset or function (${one === null ? 'null' : typeof one}). Use tool({ name, description, run }).`,
      )
    }
  }
  visit(sources, 0)
  return { tools, dynamic }
}

/** A table with what its dynamic sources give to whoever asks now. One that fails is left out and reported. */
export async function listTools(
  sources: readonly DynamicTools[],
  table: ToolTable,
  context: ReadonlyContext,
  report: (problem: string) => void,
): Promise<ToolTable> {
  if (sources.length === 0) return table
  const listed = await Promise.all(sources.map((source) => ask(source, context, report, 0)))
  return extendToolTable(table, listed.flat(), report)
}

async function ask(
  source: DynamicTools,
  context: ReadonlyContext,
  report: (problem: string) => void,
  depth: number,
): Promise<SourcedTool[]> {
  const name = isToolset(source) ? `toolset "${source.name}"` : 'a tools function'
  try {
    if (depth > 8) throw new Error('tools functions are nested too deep')
    const given = isToolset(source) ? await source.listTools(context) : await source(context)
    const { tools, dynamic } = flatten(given, name)
    const inner = await Promise.all(dynamic.map((one) => ask(one, context, report, depth + 1)))
    return [...tools, ...inner.flat()]
  } catch (error) {
    report(`The tools of ${name} are left out: ${messageOf(error)}`)
    return []
  }
}

function isList(source: ToolSource): source is readonly ToolSource[] {
  return Array.isArray(source)
}
