import { isRecord, type JsonObject } from '../../base/json.ts'
import { resolvePointer } from './json-pointer.ts'

/** Does the schema accept objects only? */
export function describesObject(schema: JsonObject): boolean {
  return isObjectSchema(schema, schema, new Map())
}

/** `known`: the schemas that were looked at before. A schema that refers to itself counts as false. */
function isObjectSchema(schema: unknown, root: JsonObject, known: Map<unknown, boolean>): boolean {
  if (!isRecord(schema)) return false
  const answer = known.get(schema)
  if (answer !== undefined) return answer
  known.set(schema, false)
  const isObject = (part: unknown): boolean => isObjectSchema(part, root, known)
  const { type, $ref, allOf, anyOf, oneOf } = schema
  const choices = anyOf ?? oneOf
  const found =
    type !== undefined
      ? type === 'object'
      : (typeof $ref === 'string' && $ref.startsWith('#') && isObject(resolvePointer(root, $ref.slice(1)))) ||
        (Array.isArray(allOf) && allOf.some(isObject)) ||
        (Array.isArray(choices) && choices.every(isObject))
  known.set(schema, found)
  return found
}
