import type { JsonObject } from '../../../../core/base/json.ts'
import { clip } from '../../../../core/base/limits.ts'
import { MAX_DESCRIPTION_LENGTH } from '../limits.ts'

/** Keywords that only describe. */
const TEXT_KEYWORDS = ['title', 'description', 'contentMediaType', 'contentEncoding']

/** Copies what describes a schema. */
export function writeTexts(schema: JsonObject, copy: JsonObject): void {
  for (const keyword of TEXT_KEYWORDS) {
    const text = schema[keyword]
    if (typeof text === 'string') copy[keyword] = clip(text, MAX_DESCRIPTION_LENGTH)
  }
  if (schema.deprecated === true) copy.deprecated = true
  // The server applies its defaults. Sent with a partial update, they would overwrite what is stored.
  const preset = schema.default
  if (preset !== undefined && (typeof preset !== 'object' || preset === null))
    addSentence(copy, `Default: ${clip(JSON.stringify(preset) ?? '', 100)}.`)
}

/** Adds a sentence to the description of a schema. */
export function addSentence(copy: JsonObject, sentence: string): void {
  copy.description = typeof copy.description === 'string' ? `${copy.description} ${sentence}` : sentence
}
