// The request of `discoveryEngineSearch()`, and what it returns.

import { isRecord, type JsonObject } from '../../core/base/json.ts'
import type { AuthScheme } from '../../core/content/auth.ts'
import { messageOf, ToolError } from '../../core/error/error.ts'
import { applyCredential } from '../../services/auth/apply-credential.ts'
import type { DiscoveryEngineSearchOptions, SearchResultMode } from './discovery-engine-options.ts'
import { readResults, type SearchResult } from './discovery-engine-results.ts'
import { googleCredential } from './google-token.ts'
import type { SearchTarget } from './search-target.ts'

const BEARER: AuthScheme = { type: 'http', scheme: 'bearer' }

/** Maximum length of a response, in characters. */
const MAX_RESPONSE_LENGTH = 4_000_000

/** Searches in passages, or in documents if the data store has no passages. */
export async function searchDataStore(
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
