// Providers attach metadata to the parts they generate and need it back on the same part. It is stored as plain JSON in
// `partMetadata.aiSdk`, so it survives in the event log.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { Part } from '../../core/content/content.ts'
import type { AiSdkPart, ProviderOptions } from './ai-sdk-types.ts'

/** What `partMetadata.aiSdk` of a part contains. */
export interface StoredMetadata {
  /** The provider's metadata of the part. */
  readonly metadata?: ProviderOptions
  /** A part that only its provider understands, as it is sent in the next prompt. */
  readonly part?: AiSdkPart & JsonObject
  /** The arguments of a tool call as the model wrote them, if they are not a JSON object. */
  readonly input?: string
  /** A text before a structured answer: a thought in the log, a text for the provider. */
  readonly isText?: true
}

/** A copy of the part that stores the metadata. */
export function storeMetadata(part: Part, stored: StoredMetadata): Part {
  if (Object.keys(stored).length === 0) return part
  const signature = findThoughtSignature(stored.metadata)
  return {
    ...part,
    // also stored where gemini() reads it, so that a native Gemini model can continue the session
    ...(signature !== undefined && { thoughtSignature: signature }),
    partMetadata: { aiSdk: toJsonValue(stored).value },
  }
}

/** What `storeMetadata` stored on a part. */
export function readStoredMetadata({ partMetadata }: Part): StoredMetadata {
  const aiSdk = partMetadata?.aiSdk
  return isRecord(aiSdk) ? aiSdk : {} // only storeMetadata writes this field
}

/** The `providerMetadata` of a generated part, or undefined when it has none. */
export function readProviderMetadata(providerMetadata: unknown): ProviderOptions | undefined {
  if (!isRecord(providerMetadata)) return undefined
  const entries = Object.entries(providerMetadata).filter((entry): entry is [string, JsonObject] => isRecord(entry[1]))
  return entries.length ? Object.fromEntries(entries) : undefined
}

/** The `providerOptions` to send with a part. A signature of gemini() is sent where Google's provider reads it. */
export function providerOptionsOf(part: Part): { providerOptions?: ProviderOptions } {
  const { metadata } = readStoredMetadata(part)
  if (isRecord(metadata)) return { providerOptions: metadata }
  const { thoughtSignature } = part
  return thoughtSignature === undefined ? {} : { providerOptions: { google: { thoughtSignature } } }
}

function findThoughtSignature(metadata: ProviderOptions | undefined): string | undefined {
  for (const name of ['google', 'googleVertex', 'vertex']) {
    const signature = metadata?.[name]?.thoughtSignature
    if (typeof signature === 'string') return signature
  }
  return undefined
}
