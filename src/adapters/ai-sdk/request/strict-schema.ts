// OpenAI and most compatible providers enforce a schema only when every object is closed and every property required.
// Other schemas are sent without enforcement. The reply is validated in both cases.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/**
 * Sets `additionalProperties: false` on every object that does not define it. A schema that splits an object over several
 * schemas is returned unchanged: closing each part would forbid the properties of the others.
 */
export function closeObjects(schema: unknown): unknown {
  return isObjectSplit(schema) ? schema : close(schema)
}

/** Whether the properties of an object are split over several schemas. */
function isObjectSplit(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isObjectSplit)
  if (!isRecord(schema)) return false
  if (Array.isArray(schema.allOf)) return true
  if (isRecord(schema.properties) && ('anyOf' in schema || 'oneOf' in schema || '$ref' in schema)) return true
  return Object.entries(schema).some(([key, value]) => {
    if (VALUE_KEYWORDS.has(key)) return false
    return SCHEMA_MAP_KEYWORDS.has(key) && isRecord(value)
      ? Object.values(value).some(isObjectSplit)
      : isObjectSplit(value)
  })
}

function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (!isRecord(schema)) return schema
  const closed: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (SCHEMA_MAP_KEYWORDS.has(key) && isRecord(value)) {
      closed[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, close(one)]))
    } else closed[key] = VALUE_KEYWORDS.has(key) ? value : close(value)
  }
  if (isRecord(closed.properties) && closed.additionalProperties === undefined) closed.additionalProperties = false
  return closed
}

/** Whether a provider can enforce the schema. */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isRecord(schema)) return schema !== true
  const { type, properties, required, additionalProperties } = schema
  if ('allOf' in schema) return false
  if (type === 'object' || isRecord(properties)) {
    const names = isRecord(properties) ? Object.keys(properties) : []
    const listed: readonly unknown[] = Array.isArray(required) ? required : []
    if (additionalProperties !== false || !names.every((name) => listed.includes(name))) return false
  }
  return Object.entries(schema).every(([key, value]) => {
    if (VALUE_KEYWORDS.has(key) || key === 'additionalProperties') return true
    return SCHEMA_MAP_KEYWORDS.has(key) && isRecord(value) ? Object.values(value).every(isStrict) : isStrict(value)
  })
}

/** Keywords whose value maps names to schemas. */
const SCHEMA_MAP_KEYWORDS = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])
/** Keywords whose value is not a schema. */
const VALUE_KEYWORDS = new Set(['const', 'default', 'enum', 'examples', 'required', 'title', 'description'])
