// Schemas come from anywhere: references may be circular, nesting without end. Patterns are never run.
import { isRecord, type JsonObject } from '../../base/json.ts'

/** How many references, alternatives and parts are followed before a schema counts as open. */
const MAX_HOPS = 16

/** A schema as far as one needs to know it: references followed, the first alternative that is not null, parts joined. */
export function resolved(schema: unknown, root: JsonObject): JsonObject {
  let at: JsonObject = isRecord(schema) ? schema : {}
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const next = step(at, root)
    if (!next) return at
    at = next
  }
  return {}
}

function step(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema
  if (typeof $ref === 'string') return joined(rest, pointedAt($ref, root))
  if (Array.isArray(allOf)) return allOf.slice(0, MAX_HOPS).reduce<JsonObject>(joined, { ...rest, anyOf, oneOf })
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (!alternatives) return undefined
  const real = alternatives.filter((one) => isRecord(one) && one.type !== 'null')
  if (real.length > 1 && real.every((one) => Object.hasOwn(one, 'const')))
    return { ...rest, enum: real.map((one) => one.const) }
  return joined(rest, real[0])
}

/** What is said beside a reference or in several parts holds together; the first one to say it is heard. */
function joined(a: JsonObject, b: unknown): JsonObject {
  if (!isRecord(b)) return a
  const properties = isRecord(a.properties) && isRecord(b.properties) ? { ...b.properties, ...a.properties } : undefined
  const required = Array.isArray(a.required) && Array.isArray(b.required) ? [...a.required, ...b.required] : undefined
  const given = Object.fromEntries(Object.entries(a).filter(([, value]) => value !== undefined))
  return { ...b, ...given, ...(properties && { properties }), ...(required && { required }) }
}

function pointedAt($ref: string, root: JsonObject): unknown {
  if (!$ref.startsWith('#')) return {}
  const keys = $ref.split('/').slice(1, 20)
  return keys.reduce<unknown>((at, key) => under(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), root)
}

/** The own value of a key. */
export function under(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The type a resolved schema names or implies. */
export function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.find((one) => one !== 'null')
  if (isRecord(schema.properties)) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  const value = Array.isArray(schema.enum) ? schema.enum.find((one) => one !== null) : schema.const
  return value === undefined ? undefined : typeof value
}

/** The properties of an object schema: hostile names are names like any other. */
export function propertiesOf(schema: JsonObject): [name: string, schema: unknown][] {
  return isRecord(schema.properties) ? Object.entries(schema.properties) : []
}

export function isRequired(schema: JsonObject, name: string): boolean {
  return Array.isArray(schema.required) && schema.required.includes(name)
}
