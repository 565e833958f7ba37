import { extendToolTable, type SourcedTool, type ToolTable } from '../dispatch/resolve.ts'
import { messageOf } from '../error/error.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { isToolset } from '../tool/toolset.ts'
import { flatten, type LlmAgent, type ToolSource } from './llm-agent.ts'

/** An agent's tools for whoever asks now. A source that fails is left out and reported; the others stay. */
export async function listTools(
  agent: LlmAgent,
  table: ToolTable,
  context: ReadonlyContext,
  report: (problem: string) => void,
): Promise<ToolTable> {
  if (agent.dynamicTools.length === 0) return table
  const listed = await Promise.all(agent.dynamicTools.map((source) => ask(source, context, report, 0)))
  return extendToolTable(table, listed.flat(), report)
}

async function ask(
  source: Exclude<ToolSource, readonly ToolSource[]>,
  context: ReadonlyContext,
  report: (problem: string) => void,
  depth: number,
): Promise<SourcedTool[]> {
  const name = isToolset(source) ? `toolset "${source.name}"` : 'a tools function'
  try {
    if (depth > 8) throw new Error('tools functions are nested too deep')
    const given = isToolset(source)
      ? await source.listTools(context)
      : await (
          source as Exclude<typeof source, { name: string; listTools: unknown }> &
            ((context: ReadonlyContext) => ToolSource | Promise<ToolSource>)
        )(context)
    const { tools, dynamic } = flatten(given, name)
    const inner = await Promise.all(dynamic.map((one) => ask(one, context, report, depth + 1)))
    return [...tools, ...inner.flat()]
  } catch (error) {
    report(`The tools of ${name} are left out: ${messageOf(error)}`)
    return []
  }
}
