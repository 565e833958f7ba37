import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { resolveReference } from '../references.ts'

/** Schemas that are looked at for one question. */
const MAX_COMPOSED = 50

/** The schema, and the schemas that it consists of through "$ref" and "allOf". Skips references that lead nowhere. */
export function composedSchemas(document: ApiDocument, schema: unknown): JsonObject[] {
  const found = new Set<JsonObject>()
  const add = (part: unknown): void => {
    if (isRecord(part) && found.size < MAX_COMPOSED) found.add(part)
  }
  add(schema)
  // The set grows while it is read.
  for (const { $ref, allOf } of found) {
    if (typeof $ref === 'string') add(tryResolve(document, $ref))
    if (Array.isArray(allOf)) for (const part of allOf.slice(0, MAX_COMPOSED)) add(part)
  }
  return [...found]
}

/** The schemas that a schema refers to in "oneOf" and "anyOf". */
export function alternativesOf(document: ApiDocument, { oneOf, anyOf }: JsonObject): ReadonlySet<unknown> {
  const parts = [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return new Set(
    parts.flatMap((part) => (isRecord(part) && typeof part.$ref === 'string' ? [tryResolve(document, part.$ref)] : [])),
  )
}

function tryResolve(document: ApiDocument, reference: string): unknown {
  try {
    return resolveReference(document, reference)
  } catch {
    return undefined
  }
}
