// Converts the sources of a reply to Gemini's grounding and citation metadata.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { AiSdkPart, AiSdkResult } from '../ai-sdk-types.ts'
import { readProviderMetadata } from '../provider-metadata.ts'

/** Gemini's grounding metadata if the provider passes it on, otherwise built from the sources. */
export function toGroundingMetadata({ content, providerMetadata }: AiSdkResult): JsonObject | undefined {
  for (const metadata of Object.values(readProviderMetadata(providerMetadata) ?? {}))
    if (isRecord(metadata.groundingMetadata)) return toJsonValue(metadata.groundingMetadata).value as JsonObject
  const groundingChunks = content.flatMap((part) => (part.type === 'source' ? [toGroundingChunk({ ...part })] : []))
  return groundingChunks.length ? { groundingChunks } : undefined
}

function toGroundingChunk({ sourceType, url, title, filename, mediaType }: JsonObject): JsonObject {
  const named = typeof title === 'string' ? { title } : {}
  if (sourceType === 'url') return { web: { uri: typeof url === 'string' ? url : '', ...named } }
  return { retrievedContext: { ...named, ...(toJsonValue({ filename, mediaType }).value as JsonObject) } }
}

/** The citations of all parts, as Gemini's citation metadata. */
export function toCitationMetadata(content: readonly AiSdkPart[]): JsonObject | undefined {
  const found = content.flatMap((part) => {
    const { citations: given }: JsonObject = { ...part }
    return Array.isArray(given) ? given.filter(isRecord) : []
  })
  const all = found.map(({ source, startIndex, endIndex, citedText }) => {
    const { url, title }: JsonObject = isRecord(source) ? source : {}
    return toJsonValue({ startIndex, endIndex, uri: url, title, citedText }).value
  })
  return all.length ? { citations: all } : undefined
}
