import { isRecord, type JsonObject, setOwn } from '../../../../core/base/json.ts'

const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies']
const LISTS = ['allOf', 'anyOf', 'prefixItems']
const SINGLE = ['items', 'additionalProperties', 'contains', 'propertyNames']

/** Keywords that may refuse a valid value when a schema below them accepts every value. */
const STRICT = ['not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'maxContains']

/**
 * A copy of a schema that accepts every valid value also if some of the schemas it refers to are replaced by one that accepts
 * everything: without conditions, and with `anyOf` for `oneOf`.
 */
export function loosenSchema(given: unknown): unknown {
  if (!isRecord(given)) return given
  const { oneOf, ...schema }: JsonObject = given
  if (oneOf !== undefined) schema.anyOf ??= oneOf
  for (const keyword of STRICT) delete schema[keyword]
  for (const keyword of SINGLE) if (schema[keyword] !== undefined) schema[keyword] = loosenSchema(schema[keyword])
  for (const keyword of LISTS) if (Array.isArray(schema[keyword])) schema[keyword] = schema[keyword].map(loosenSchema)
  for (const keyword of MAPS) if (isRecord(schema[keyword])) schema[keyword] = loosenMap(schema[keyword])
  return schema
}

function loosenMap(map: JsonObject): JsonObject {
  const copy: JsonObject = {}
  for (const name of Object.keys(map)) setOwn(copy, name, loosenSchema(map[name]))
  return copy
}
