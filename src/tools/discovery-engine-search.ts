// A data store searched from here, over HTTP: for models that cannot search it themselves beside other tools.
import { isRecord, type JsonObject } from '../base/json.ts'
import {
  anything,
  callback,
  checkOptions,
  type OptionRules,
  oneOf,
  text,
  textOrCallback,
} from '../error/check-options.ts'
import { messageOf, ToolError, ToolwrightError } from '../error/error.ts'
import { tool } from '../tool/define.ts'
import type { Tool } from '../tool/tool.ts'
import { type AccessToken, googleToken } from './google-token.ts'
import { type SearchTarget, type SearchTargetOptions, searchTarget } from './search-target.ts'

/** `chunks`: passages; `documents`: whole documents with snippets. */
export type SearchResultMode = 'chunks' | 'documents'

export interface DiscoveryEngineSearchOptions extends SearchTargetOptions {
  /** Default `discovery_engine_search`. */
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** In the service's filter language. */
  readonly filter?: string | undefined
  /** Default 5. */
  readonly maxResults?: number | undefined
  /** Default `chunks`; where the store has none, `documents`. */
  readonly searchResultMode?: SearchResultMode | undefined
  /** Default: the application default credentials. */
  readonly accessToken?: AccessToken | undefined
  /** Default: the service's address for the store's location. */
  readonly baseUrl?: string | undefined
  readonly fetch?: typeof fetch | undefined
}

/** Of both searches of a data store. */
export const SEARCH_RULES: OptionRules<DiscoveryEngineSearchOptions> = {
  dataStoreId: text,
  searchEngineId: text,
  name: text,
  description: text,
  filter: text,
  maxResults: anything,
  searchResultMode: oneOf('chunks', 'documents'),
  accessToken: textOrCallback,
  baseUrl: text,
  fetch: callback,
}

/** Longer answers are refused. */
const MAX_ANSWER = 4_000_000
const MAX_CONTENT = 8_000

/**
 * Searches a Vertex AI Search data store or app from this process, so it stands beside any other tool and any model.
 *
 * @example
 * const docs = discoveryEngineSearch({ dataStoreId: 'projects/p/locations/global/collections/default_collection/dataStores/docs' })
 */
export function discoveryEngineSearch(options: DiscoveryEngineSearchOptions): Tool {
  checkOptions('discoveryEngineSearch()', options, SEARCH_RULES)
  const name = options.name ?? 'discovery_engine_search'
  const target = searchTarget('discoveryEngineSearch', options)
  const { maxResults = 5 } = options
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > 100) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'maxResults of discoveryEngineSearch must be a whole number from 1 to 100.',
    )
  }
  return tool({
    name,
    description: options.description ?? 'Search the documents of the data store.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for.' } },
      required: ['query'],
    },
    effect: 'none',
    run: async ({ query }, { signal }) => ({ results: await search(options, target, query, maxResults, signal) }),
  })
}

async function search(
  options: DiscoveryEngineSearchOptions,
  target: SearchTarget,
  query: string,
  pageSize: number,
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const ask = (mode: SearchResultMode): Promise<JsonObject> =>
    post(
      options,
      target,
      { query, pageSize, ...(options.filter && { filter: options.filter }), ...searchSpec(mode) },
      signal,
    )
  const { searchResultMode } = options
  if (searchResultMode) return readResults(await ask(searchResultMode))
  try {
    return readResults(await ask('chunks'))
  } catch (error) {
    // stores of structured data, or without chunks, say so with a 400
    if (!(error instanceof RejectedSearch) || error.status !== 400) throw error
    return readResults(await ask('documents'))
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
  const response = await send(`${base}/v1beta/${resource}/servingConfigs/default_config:search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await googleToken(accessToken)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error', // the token goes nowhere else
    signal,
  })
  const answer = parseAnswer(await readText(response, MAX_ANSWER))
  if (response.ok) return answer
  const detail = isRecord(answer.error) && typeof answer.error.message === 'string' ? `: ${answer.error.message}` : ''
  throw new RejectedSearch(response.status, `The search service answered ${response.status}${detail}`)
}

async function readText(response: Response, max: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > max) throw new ToolError(`The search service's answer is longer than ${max} characters.`)
  }
  return text + decoder.decode()
}

function parseAnswer(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    if (text === '') return {}
    throw new ToolError(`The search service's answer is no JSON: ${messageOf(error)}`)
  }
}

interface SearchResult {
  readonly title: string
  readonly url: string
  readonly content: string
}

function readResults({ results }: JsonObject): SearchResult[] {
  return (Array.isArray(results) ? results : []).flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    if (isRecord(one.chunk)) return [readChunk(one.chunk)]
    return isRecord(one.document) ? [readDocument(one.document)] : []
  })
}

function readChunk({ content, documentMetadata }: JsonObject): SearchResult {
  const about: JsonObject = isRecord(documentMetadata) ? documentMetadata : {}
  return { title: clipText(about.title), url: clipText(about.uri), content: clipText(content) }
}

/** What the service says of a document is in snake case. */
function readDocument({ derivedStructData, structData }: JsonObject): SearchResult {
  const about: JsonObject = isRecord(derivedStructData) ? derivedStructData : {}
  const said = [...readStrings(about.extractive_answers, 'content'), ...readStrings(about.snippets, 'snippet')]
  const content = said.join('\n') || (isRecord(structData) ? JSON.stringify(structData) : '')
  return { title: clipText(about.title), url: clipText(about.link), content: clipText(content) }
}

function readStrings(list: unknown, key: string): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: unknown) => (isRecord(one) && typeof one[key] === 'string' ? [one[key]] : []))
}

function clipText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_CONTENT).toWellFormed() : ''
}
