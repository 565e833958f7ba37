// Searches a data store over HTTP from this process: for models that cannot combine server tools with other tools.

import { isRecord, type JsonObject } from '../../core/base/json.ts'
import type { AuthScheme } from '../../core/content/auth.ts'
import {
  callback,
  checkOptions,
  type OptionRules,
  oneOf,
  text,
  textOrCallback,
} from '../../core/error/check-options.ts'
import { messageOf, ToolError } from '../../core/error/error.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { applyCredential } from '../../services/auth/apply-credential.ts'
import { readResults, type SearchResult } from './discovery-engine-results.ts'
import { type AccessToken, googleCredential } from './google-token.ts'
import { type SearchTarget, type SearchTargetOptions, searchTarget } from './search-target.ts'

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

const BEARER: AuthScheme = { type: 'http', scheme: 'bearer' }

/** Maximum length of a response, in characters. */
const MAX_RESPONSE_LENGTH = 4_000_000

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
    run: async ({ query }, { signal }) => ({ results: await search(options, target, query, signal) }),
  })
}

async function search(
  options: DiscoveryEngineSearchOptions,
  target: SearchTarget,
  query: string,
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const { filter, maxResults: pageSize = 5, searchResultMode } = options
  const send = (mode: SearchResultMode): Promise<JsonObject> =>
    post(options, target, { query, pageSize, ...(filter && { filter }), ...searchSpec(mode) }, signal)
  if (searchResultMode) return readResults(await send(searchResultMode))
  try {
    return readResults(await send('chunks'))
  } catch (error) {
    // the status of data stores with structured data or without chunks
    if (!(error instanceof RejectedSearch) || error.status !== 400) throw error
    return readResults(await send('documents'))
  }
}

function searchSpec(mode: SearchResultMode): JsonObject {
  if (mode === 'chunks') return { contentSearchSpec: { searchResultMode: 'CHUNKS' } }
  const snippetSpec = { returnSnippet: true }
  const extractiveContentSpec = { maxExtractiveAnswerCount: 1 }
  return { contentSearchSpec: { searchResultMode: 'DOCUMENTS', snippetSpec, extractiveContentSpec } }
}

class RejectedSearch extends ToolError {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function post(
  { accessToken, baseUrl, fetch: send = fetch }: DiscoveryEngineSearchOptions,
  { resource, location }: SearchTarget,
  body: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const host = location === 'global' ? '' : `${location}-`
  const base = baseUrl ?? `https://${host}discoveryengine.googleapis.com`
  const request = new Request(`${base}/v1beta/${resource}/servingConfigs/default_config:search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  const credential = await googleCredential(accessToken)
  const response = await send(applyCredential(request, { authScheme: BEARER, credential, origin: base }))
  const parsed = parseBody(await readText(response))
  if (response.ok) return parsed
  const detail = isRecord(parsed.error) && typeof parsed.error.message === 'string' ? `: ${parsed.error.message}` : ''
  throw new RejectedSearch(response.status, `The search service responded with status ${response.status}${detail}`)
}

async function readText(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > MAX_RESPONSE_LENGTH)
      throw new ToolError(`The response of the search service is longer than ${MAX_RESPONSE_LENGTH} characters.`)
  }
  return text + decoder.decode()
}

function parseBody(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    if (text === '') return {}
    throw new ToolError(`The response of the search service is not JSON: ${messageOf(error)}`)
  }
}
