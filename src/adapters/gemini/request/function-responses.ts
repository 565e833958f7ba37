import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { FunctionResponse, Part } from '../../../core/content/content.ts'
import { isOwnId } from '../../../core/event/own-id.ts'

interface Turn {
  readonly role: 'user'
  readonly parts: readonly JsonObject[]
}

/**
 * Converts the results of a batch to a turn of responses and a turn of everything else. Media is inside its response where
 * Gemini accepts it, otherwise in the second turn.
 */
export function toResponseTurns(
  parts: readonly Part[],
  target: { readonly isGemini3: boolean },
  toParts: (parts: readonly Part[]) => JsonObject[],
): Turn[] {
  const responses: JsonObject[] = []
  const others: Part[] = []
  for (let at = 0; at < parts.length; ) {
    const part = parts[at++] as Part
    const { functionResponse } = part
    if (!functionResponse) {
      others.push(part)
      continue
    }
    const media = [...(functionResponse.parts ?? [])]
    while (isMedia(parts[at])) media.push(parts[at++] as Part) // media parts after a response belong to that response
    const inside = media.filter((one) => target.isGemini3 && fitsInsideResponse(one))
    const outside = media.filter((one) => !inside.includes(one))
    responses.push({ functionResponse: toGeminiResponse(functionResponse, toParts(inside)) })
    if (outside.length) others.push({ text: `From the result of ${functionResponse.name}:` }, ...outside)
  }
  const user = 'user' as const
  return [
    { role: user, parts: responses },
    { role: user, parts: toParts(others) },
  ]
}

const isMedia = (part: Part | undefined): boolean => part?.inlineData !== undefined || part?.fileData !== undefined

const TYPES_INSIDE_RESPONSES = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain'])

/** Whether Gemini 3 accepts a media part inside a response. */
export function fitsInsideResponse({ inlineData, fileData }: Part): boolean {
  return TYPES_INSIDE_RESPONSES.has((inlineData ?? fileData)?.mimeType ?? '')
}

/** Converts a response. Its media is already converted. */
export function toGeminiResponse({ id, name, response }: FunctionResponse, parts: readonly JsonObject[]): JsonObject {
  const names = new Set(parts.map(({ inlineData }) => (isRecord(inlineData) ? inlineData.displayName : undefined)))
  const object = isRecord(response) ? response : { output: response }
  // Gemini reads `$ref` as a reference to media and rejects any other reference
  const accepted = hasForeignReference(object, names) ? { output: JSON.stringify(object) } : object
  return { ...geminiId(id), name, response: accepted, ...(parts.length > 0 && { parts }) }
}

function hasForeignReference(value: unknown, names: ReadonlySet<unknown>): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('$ref' in value && !names.has(value.$ref)) return true
  return Object.values(value).some((inner) => hasForeignReference(inner, names))
}

/** The id of a call for Gemini. Ids that the framework created are left out: Gemini does not know them. */
export function geminiId(id: string | undefined): { id?: string } {
  return id === undefined || isOwnId(id) ? {} : { id }
}
