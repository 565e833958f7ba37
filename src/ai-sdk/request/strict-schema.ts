// OpenAI, and most providers that speak its wire, hold a model to a schema only when every object is closed and every
// property required. Other schemas are sent as a wish: what comes back is checked by us in any case.
import { isRecord, type JsonObject } from '../../base/json.ts'

/** The schema with every object closed that does not say otherwise. Closing the parts of one object would forbid it. */
export function closeObjects(schema: unknown): unknown {
  return hasParts(schema) ? schema : close(schema)
}

/** Is the shape of an object spread over several schemas? */
function hasParts(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasParts)
  if (!isRecord(schema)) return false
  if (Array.isArray(schema.allOf)) return true
  if (isRecord(schema.properties) && ('anyOf' in schema || 'oneOf' in schema || '$ref' in schema)) return true
  return Object.entries(schema).some(([key, value]) => {
    if (VALUES.has(key)) return false
    return NAMED.has(key) && isRecord(value) ? Object.values(value).some(hasParts) : hasParts(value)
  })
}

function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (!isRecord(schema)) return schema
  const closed: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (NAMED.has(key) && isRecord(value)) {
      closed[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, close(one)]))
    } else closed[key] = VALUES.has(key) ? value : close(value)
  }
  if (isRecord(closed.properties) && closed.additionalProperties === undefined) closed.additionalProperties = false
  return closed
}

/** Can a provider hold a model to it? */
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
    if (VALUES.has(key) || key === 'additionalProperties') return true
    return NAMED.has(key) && isRecord(value) ? Object.values(value).every(isStrict) : isStrict(value)
  })
}

/** Keywords that hold schemas by name. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])
/** Keywords that hold values. */
const VALUES = new Set(['const', 'default', 'enum', 'examples', 'required', 'title', 'description'])
