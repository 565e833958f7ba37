import { callback, type OptionRules, oneOf, text, textOrCallback } from '../../core/error/check-options.ts'
import type { AccessToken } from './google-token.ts'
import type { SearchTargetOptions } from './search-target.ts'

/** What a search returns: `chunks` are passages, `documents` are documents with snippets. */
export type SearchResultMode = 'chunks' | 'documents'

/** Options of `discoveryEngineSearch()`. One of `dataStoreId` and `searchEngineId` is required. */
export interface DiscoveryEngineSearchOptions extends SearchTargetOptions {
  /** Name of the tool. Default `discovery_engine_search`. */
  readonly name?: string | undefined
  /** What the tool searches, for the model. Default `Search the documents of the data store.` */
  readonly description?: string | undefined
  /** A filter expression of Vertex AI Search. Default: no filter. */
  readonly filter?: string | undefined
  /** Maximum number of results, from 1 to 100. Default 5. */
  readonly maxResults?: number | undefined
  /** What a search returns. Default: `chunks`, or `documents` if the data store has no chunks. */
  readonly searchResultMode?: SearchResultMode | undefined
  /** Access token for Google Cloud, or a function that returns one. Default: the application default credentials. */
  readonly accessToken?: AccessToken | undefined
  /** URL of the search service. Default: Google's service in the location of the data store. */
  readonly baseUrl?: string | undefined
  /** The fetch function for requests. Default: the global one. */
  readonly fetch?: typeof fetch | undefined
}

/** The rules of the options of both tools that search a data store. */
export const SEARCH_RULES: OptionRules<DiscoveryEngineSearchOptions> = {
  dataStoreId: text,
  searchEngineId: text,
  name: text,
  description: text,
  filter: text,
  maxResults: {
    expects: 'a whole number from 1 to 100',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100,
  },
  searchResultMode: oneOf('chunks', 'documents'),
  accessToken: textOrCallback,
  baseUrl: text,
  fetch: callback,
}
