// What a part must remember for its provider, in `partMetadata.aiSdk`: plain JSON that lives in the log and goes back on
// the very same part.
import { isRecord, type JsonObject } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import type { Part } from '../content/content.ts'
import type { AiSdkPart, Bag } from './ai-sdk-types.ts'

export interface Kept {
  /** The provider's own metadata. */
  readonly metadata?: Bag
  /** A part only its provider understands, as it goes into the next prompt. */
  readonly part?: AiSdkPart & JsonObject
  /** The arguments of a call as they were sent, when they were no JSON object. */
  readonly input?: string
  /** Said on the way to a structured answer: to us a thought, to the provider a text. */
  readonly isText?: true
}

/** The part with what it must remember. */
export function keep(part: Part, kept: Kept): Part {
  if (Object.keys(kept).length === 0) return part
  const signature = signatureIn(kept.metadata)
  return {
    ...part,
    // where Gemini itself would have it, so that a native Gemini model can go on with the session
    ...(signature !== undefined && { thoughtSignature: signature }),
    partMetadata: { aiSdk: toPlain(kept).value },
  }
}

export function keptOf({ partMetadata }: Part): Kept {
  const aiSdk = partMetadata?.aiSdk
  return isRecord(aiSdk) ? aiSdk : {} // written by `keep`, or by nobody
}

/** The metadata of a part that was generated, or undefined when it has none. */
export function bagOf(providerMetadata: unknown): Bag | undefined {
  if (!isRecord(providerMetadata)) return undefined
  const bags = Object.entries(providerMetadata).filter((entry): entry is [string, JsonObject] => isRecord(entry[1]))
  return bags.length ? Object.fromEntries(bags) : undefined
}

/** What goes back with a part; a signature of a native Gemini model is put where Google's provider looks for it. */
export function providerOptionsOf(part: Part): { providerOptions?: Bag } {
  const { metadata } = keptOf(part)
  if (isRecord(metadata)) return { providerOptions: metadata }
  const { thoughtSignature } = part
  return thoughtSignature === undefined ? {} : { providerOptions: { google: { thoughtSignature } } }
}

function signatureIn(metadata: Bag | undefined): string | undefined {
  for (const name of ['google', 'googleVertex', 'vertex']) {
    const signature = metadata?.[name]?.thoughtSignature
    if (typeof signature === 'string') return signature
  }
  return undefined
}
