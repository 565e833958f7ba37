import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** Whether a schema accepts objects only, also through its definitions. */
export function isObjectSchema(schema: unknown, definitions: JsonObject): boolean {
  if (!isRecord(schema)) return false
  const { type, $ref, anyOf } = schema
  if (typeof $ref === 'string') return isObjectSchema(definitions[$ref.replace('#/$defs/', '')], definitions)
  return Array.isArray(anyOf) ? anyOf.every((branch) => isObjectSchema(branch, definitions)) : type === 'object'
}
