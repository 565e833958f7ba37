// Reads the results of a data store search.
import { isRecord, type JsonObject } from '../../core/base/json.ts'

const MAX_CONTENT_LENGTH = 8_000

/** One result of a search, as the model sees it. */
export interface SearchResult {
  /** Title of the document. */
  readonly title: string
  /** URL of the document. */
  readonly url: string
  /** The matching passage, or the snippets of the document. */
  readonly content: string
}

/** The results in a response of the search service. Unknown results are left out. */
export function readResults({ results }: JsonObject): SearchResult[] {
  return (Array.isArray(results) ? results : []).flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    if (isRecord(one.chunk)) return [readChunk(one.chunk)]
    return isRecord(one.document) ? [readDocument(one.document)] : []
  })
}

function readChunk({ content, documentMetadata }: JsonObject): SearchResult {
  const metadata: JsonObject = isRecord(documentMetadata) ? documentMetadata : {}
  return { title: clipText(metadata.title), url: clipText(metadata.uri), content: clipText(content) }
}

/** The fields of `derivedStructData` are in snake case. */
function readDocument({ derivedStructData, structData }: JsonObject): SearchResult {
  const data: JsonObject = isRecord(derivedStructData) ? derivedStructData : {}
  const texts = [...readStrings(data.extractive_answers, 'content'), ...readStrings(data.snippets, 'snippet')]
  const content = texts.join('\n') || (isRecord(structData) ? JSON.stringify(structData) : '')
  return { title: clipText(data.title), url: clipText(data.link), content: clipText(content) }
}

function readStrings(list: unknown, key: string): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: unknown) => (isRecord(one) && typeof one[key] === 'string' ? [one[key]] : []))
}

function clipText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_CONTENT_LENGTH).toWellFormed() : ''
}
