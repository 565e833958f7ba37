import type { LiveConnectOptions, LiveModel } from '../../../engine/model/live-model.ts'
import { invalid } from '../wire/fields.ts'

/** What a live model replies with. */
export type ResponseModality = NonNullable<LiveConnectOptions['responseModality']>

const MODALITIES: ReadonlyMap<string, ResponseModality> = new Map([
  ['AUDIO', 'audio'],
  ['TEXT', 'text'],
])

/**
 * The modality that ADK's query parameter `modalities` asks for; undefined if the query has none. The parameter may be repeated, but
 * a live session replies with one modality. Throws `INVALID_REQUEST`.
 */
export function readModality(given: readonly string[] = []): ResponseModality | undefined {
  const [first, ...others] = new Set(given.map((name) => MODALITIES.get(name.toUpperCase())))
  if (given.length > 0 && (first === undefined || others.length > 0))
    throw invalid('The query parameter "modalities" must be AUDIO or TEXT: a live session replies with one of them.')
  return first
}

/** The model with another modality of its replies. */
export function withModality(model: LiveModel, responseModality: ResponseModality | undefined): LiveModel {
  if (!responseModality) return model
  const { name, capabilities } = model
  return {
    name,
    ...(capabilities && { capabilities }),
    connect: (options) => model.connect({ ...options, responseModality }),
  }
}
