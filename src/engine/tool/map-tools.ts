import { toolOfFunction } from './define-tool.ts'
import { isTool, type Tool } from './tool.ts'
import { hasKey, isDynamicSource, keyOfSource, listSources, type ToolSource, toolSource } from './tool-source.ts'
import { isToolset } from './toolset.ts'
import { wrapToolset } from './wrap-toolset.ts'

/** Returns the tool to offer instead; undefined leaves it out. `toolset`: the name of the toolset that lists it. */
type ChangeTool = (tool: Tool, toolset: string | undefined) => Tool | undefined

/** The same source with other tools, also where a toolset or a dynamic source lists them later. */
export function mapTools(source: ToolSource, change: ChangeTool): ToolSource {
  return mapSource(source, change, undefined)
}

function mapSource(source: ToolSource, change: ChangeTool, toolset: string | undefined): ToolSource {
  if (isList(source)) return source.map((one) => mapSource(one, change, toolset))
  if (isDynamicSource(source)) {
    const list = async (context: Parameters<typeof listSources>[1]): Promise<ToolSource> =>
      mapSource(await listSources(source, context), change, source.name)
    return toolSource(list, {
      name: source.name,
      ...(hasKey(source) && { key: (context) => String(keyOfSource(source, context)) }),
    })
  }
  if (isToolset(source)) {
    const { name } = source
    return wrapToolset(source, async (inner, context) =>
      (await inner.listTools(context)).flatMap((tool) => change(tool, name) ?? []),
    )
  }
  const tool = typeof source === 'function' ? toolOfFunction(source, 'The tools of an agent') : source
  return isTool(tool) ? (change(tool, toolset) ?? []) : source // what is no tool is reported where it is used
}

/** `Array.isArray` does not narrow a readonly list. */
function isList(source: ToolSource): source is readonly ToolSource[] {
  return Array.isArray(source)
}
