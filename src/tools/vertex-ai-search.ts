import { checkOptions, flag, type OptionRules } from '../error/check-options.ts'
import type { Tool } from '../tool/tool.ts'
import { type DiscoveryEngineSearchOptions, discoveryEngineSearch, SEARCH_RULES } from './discovery-engine-search.ts'
import { searchTarget } from './search-target.ts'
import { serverTool } from './server-tool.ts'

export interface VertexAiSearchOptions extends DiscoveryEngineSearchOptions {
  /**
   * Where the model cannot have it beside other tools, search from here with `discoveryEngineSearch` instead of through
   * an agent of its own.
   */
  readonly bypassMultiToolsLimit?: boolean | undefined
}

const RULES: OptionRules<VertexAiSearchOptions> = { ...SEARCH_RULES, bypassMultiToolsLimit: flag }

/**
 * Gemini on Vertex AI searches a data store of yours.
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
