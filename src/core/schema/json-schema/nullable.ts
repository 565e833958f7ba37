import type { JsonObject } from '../../base/json.ts'

/** Keywords that apply to `null` too, so that adding "null" to the types is not enough. */
const CLOSED_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'const', 'if']

/** Translates `nullable`: OpenAPI 3.0 writes `nullable: true`, JSON Schema lists "null" among the types. */
export function translateNullable({ nullable, ...schema }: JsonObject): JsonObject {
  if (nullable === false) return schema
  if (CLOSED_KEYWORDS.some((keyword) => schema[keyword] !== undefined)) {
    const { title, description, default: preset, $defs, definitions, ...rest } = schema
    const outer = { title, description, default: preset, $defs, definitions }
    for (const key of Object.keys(outer)) if (schema[key] === undefined) delete outer[key as keyof typeof outer]
    return { ...outer, anyOf: [rest, { type: 'null' }] }
  }
  const { type, enum: values } = schema
  const types = Array.isArray(type) ? type : [type]
  return {
    ...schema,
    ...(type !== undefined && !types.includes('null') && { type: [...types, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}
