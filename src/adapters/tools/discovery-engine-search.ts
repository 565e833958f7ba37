// Searches a data store over HTTP from this process: for models that cannot combine server tools with other tools.

import { loadLater } from '../../core/base/load-later.ts'
import { checkOptions } from '../../core/error/check-options.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { type DiscoveryEngineSearchOptions, SEARCH_RULES } from './discovery-engine-options.ts'
import { searchTarget } from './search-target.ts'

const searching = loadLater(() => import('./search-data-store.ts'))

/**
 * A tool that searches a Vertex AI Search data store or app. The search runs in this process, so it works with every model
 * and next to every other tool.
 *
 * @example
 * const docs = discoveryEngineSearch({ dataStoreId: 'projects/p/locations/global/collections/default_collection/dataStores/docs' })
 */
export function discoveryEngineSearch(options: DiscoveryEngineSearchOptions): Tool {
  checkOptions('discoveryEngineSearch()', options, SEARCH_RULES)
  const name = options.name ?? 'discovery_engine_search'
  const target = searchTarget('discoveryEngineSearch', options)
  return tool({
    name,
    description: options.description ?? 'Search the documents of the data store.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for.' } },
      required: ['query'],
    },
    effect: 'none',
    run: async ({ query }, { signal }) => {
      const { searchDataStore } = await searching()
      return { results: await searchDataStore(options, target, query, signal) }
    },
  })
}
