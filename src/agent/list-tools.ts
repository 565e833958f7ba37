// From what people write as `tools` to what can be called.
import { kindOf } from '../base/kind-of.ts'
import { extendToolTable, type SourcedTool, type ToolTable } from '../dispatch/resolve.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { bareFunction } from '../tool/bare-function.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { isTool } from '../tool/tool.ts'
import { type DynamicToolSource, isDynamicSource, listSources, type ToolSource } from '../tool/tool-source.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'

/** Tools that depend on who asks. */
export type DynamicTools = Toolset | DynamicToolSource

/** Nested arrays become one list: what is a tool now, and what must be asked later. Anything else is for `refuse`. */
export function flatten(
  sources: ToolSource,
  source: string,
  refuse: (problem: ToolwrightError) => void = raise,
): { tools: SourcedTool[]; dynamic: DynamicTools[] } {
  const tools: SourcedTool[] = []
  const dynamic: DynamicTools[] = []
  const visit = (one: unknown, depth: number): void => {
    if (Array.isArray(one) && depth < 32) for (const inner of one) visit(inner, depth + 1)
    else if (isToolset(one) || isDynamicSource(one)) dynamic.push(one)
    else if (isTool(one)) tools.push({ tool: one, source })
    else if (typeof one === 'function') refuse(bareFunction(one, `The tools of ${source}`))
    else {
      const message = `The tools of ${source} hold something that is no tool, toolset or toolSource(), but ${kindOf(one)}. Use tool({ name, description, run }).`
      refuse(new ToolwrightError('INVALID_CONFIG', message))
    }
  }
  visit(sources, 0)
  return { tools, dynamic }
}

function raise(problem: ToolwrightError): never {
  throw problem
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
  const name = `${isToolset(source) ? 'toolset' : 'tool source'} "${source.name}"`
  try {
    if (depth > 8) throw new Error('tool sources are nested too deep')
    const given = isToolset(source) ? await source.listTools(context) : await listSources(source, context)
    const { tools, dynamic } = flatten(given, name, (problem) => report(`Left out: ${problem.message}`))
    const inner = await Promise.all(dynamic.map((one) => ask(one, context, report, depth + 1)))
    return [...tools, ...inner.flat()]
  } catch (error) {
    report(`The tools of ${name} are left out: ${messageOf(error)}`)
    return []
  }
}
