// What every toolset of an API shares: one load for all listings, and the filter and prefix of the options.
import type { ReadonlyContext } from '../../engine/context/context.ts'
import { filterTools } from '../../engine/tool/filter-tools.ts'
import { prefixTools } from '../../engine/tool/prefix-tools.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import type { Toolset } from '../../engine/tool/toolset.ts'
import { loadTools } from './load-tools.ts'
import type { ApiToolsetOptions } from './toolset-options.ts'

/**
 * Creates the listing of a toolset. `readSpec` is called once; if it fails, the next listing calls it again. Each listing
 * returns the same tools.
 */
export function apiTools(
  name: string,
  options: ApiToolsetOptions,
  readSpec: (context: ReadonlyContext) => unknown,
): Toolset['listTools'] {
  let loading: Promise<readonly Tool[]> | undefined
  const load = async (context: ReadonlyContext): Promise<readonly Tool[]> => {
    const { tools, problems } = await loadTools(await readSpec(context), options, `Toolset "${name}"`)
    const logger = options.logger ?? console
    for (const problem of problems) logger.warn(`Toolset "${name}": ${problem}`)
    return tools
  }
  const all: Toolset = {
    name,
    listTools: (context) => {
      loading ??= load(context).catch((error) => {
        loading = undefined
        throw error
      })
      return loading
    },
  }
  const filtered = options.toolFilter === undefined ? all : filterTools(all, options.toolFilter)
  const listed = options.prefix === undefined ? filtered : prefixTools(filtered, options.prefix)
  return (context) => listed.listTools(context)
}
