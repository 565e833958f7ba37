// For tests only: references of a document, for openapi-backend, which resolves no pointer with an escaped character.
import { isRecord, type JsonObject } from '../../core/base/json.ts'

/** A part of a document with the targets of all its references. A cycle of references is a cycle of objects. */
export function dereference(document: JsonObject, part: unknown): unknown {
  const copies = new Map<unknown, unknown>()
  const copy = (given: unknown): unknown => {
    const value = resolve(document, given)
    if (typeof value !== 'object' || value === null) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    const made: JsonObject | unknown[] = Array.isArray(value) ? [] : {}
    copies.set(value, made)
    for (const [key, member] of Object.entries(value)) Object.assign(made, { [key]: copy(member) })
    if (isRecord(made)) correctForAjv(made)
    return made
  }
  return copy(part)
}

/** The target of a reference, or the value itself if it is none. */
export function resolve(document: JsonObject, given: unknown): unknown {
  if (!isRecord(given) || typeof given.$ref !== 'string') return given
  const names = given.$ref
    .split('/')
    .slice(1)
    .map((one) => decodeURIComponent(one).replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = names.reduce<unknown>((from, name) => (from as JsonObject | undefined)?.[name], document)
  return resolve(document, target)
}

/** Ajv refuses two things that documents of OpenAPI 3.0 have. */
function correctForAjv(schema: JsonObject): void {
  // OpenAPI 3.0.3: without a type, `nullable` has no effect
  if (typeof schema.nullable === 'boolean' && schema.type === undefined) delete schema.nullable
  // in OpenAPI 3.0, the limits are booleans beside `minimum` and `maximum`
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    if (schema[exclusive] && schema[limit] !== undefined) schema[exclusive] = schema[limit]
    else delete schema[exclusive]
  }
}
