import { checkOptions, flag, type OptionRules } from '../../core/error/check-options.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { type DiscoveryEngineSearchOptions, SEARCH_RULES } from './discovery-engine-options.ts'
import { discoveryEngineSearch } from './discovery-engine-search.ts'
import { searchTarget } from './search-target.ts'
import { serverTool } from './server-tool.ts'

/** Options of `vertexAiSearch()`. One of `dataStoreId` and `searchEngineId` is required. */
export interface VertexAiSearchOptions extends DiscoveryEngineSearchOptions {
  /**
   * What to do on a model that cannot combine the search with other tools. True searches from this process, as
   * `discoveryEngineSearch()` does. False moves the search to an agent of its own. Default false.
   */
  readonly bypassMultiToolsLimit?: boolean | undefined
}

const RULES: OptionRules<VertexAiSearchOptions> = { ...SEARCH_RULES, bypassMultiToolsLimit: flag }

/**
 * Server tool: Gemini on Vertex AI searches your data store.
 *
 * @example
 * const store = 'projects/p/locations/global/collections/default_collection/dataStores/docs'
 * const agent = new LlmAgent({ name: 'docs', model, tools: [vertexAiSearch({ dataStoreId: store })] })
 */
export function vertexAiSearch(options: VertexAiSearchOptions): Tool {
  checkOptions('vertexAiSearch()', options, RULES)
  const { dataStoreId, searchEngineId, filter, maxResults, bypassMultiToolsLimit, ...client } = options
  searchTarget('vertexAiSearch', options)
  return serverTool({
    name: 'vertex_ai_search',
    description: 'Search the documents of the data store.',
    capability: 'vertexAiSearch',
    entry: {
      retrieval: {
        vertexAiSearch: {
          ...(dataStoreId !== undefined && { datastore: dataStoreId }),
          ...(searchEngineId !== undefined && { engine: searchEngineId }),
          ...(filter !== undefined && { filter }),
          ...(maxResults !== undefined && { maxResults }),
        },
      },
    },
    ...(bypassMultiToolsLimit && {
      substitute: () =>
        discoveryEngineSearch({ ...client, name: 'vertex_ai_search', dataStoreId, searchEngineId, filter, maxResults }),
    }),
  })
}
