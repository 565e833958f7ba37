// For tests only: arguments that fit a JSON Schema, made without randomness.
import { isRecord, type JsonObject } from '../base/json.ts'

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date-time', '2026-01-02T03:04:05Z'],
  ['date', '2026-01-02'],
  ['time', '03:04:05Z'],
  ['uuid', '123e4567-e89b-42d3-a456-426614174000'],
  ['email', 'ada@example.com'],
  ['uri', 'https://example.com/a'],
  ['url', 'https://example.com/a'],
  ['ipv4', '127.0.0.1'],
])

/** Arguments for the schema of an operation: all required ones, and the optional ones up to a depth. */
export function exampleArguments(schema: JsonObject): JsonObject {
  const value = exampleOf(schema, schema, 0)
  return isRecord(value) ? value : {}
}

function exampleOf(schema: unknown, root: JsonObject, depth: number): unknown {
  if (!isRecord(schema) || depth > 12) return 'x'
  if (typeof schema.$ref === 'string') return exampleOf(resolve(root, schema.$ref), root, depth + 1)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.default !== undefined && schema.default !== null) return schema.default
  for (const key of ['oneOf', 'anyOf'] as const) {
    const [first] = Array.isArray(schema[key]) ? schema[key] : []
    if (first !== undefined)
      return merged(exampleOf({ ...schema, [key]: undefined }, root, depth + 1), exampleOf(first, root, depth + 1))
  }
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf.map((part) => exampleOf(part, root, depth + 1))
    return parts.reduce(merged, isRecord(schema.properties) ? objectOf(schema, root, depth) : undefined)
  }
  return typedExample(schema, root, depth)
}

function typedExample(schema: JsonObject, root: JsonObject, depth: number): unknown {
  const [type] = [schema.type].flat().filter((one) => one !== 'null')
  switch (type) {
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'array': {
      const count = Math.max(1, Number(schema.minItems ?? 1))
      return Array.from({ length: Math.min(count, 20) }, () => exampleOf(schema.items ?? {}, root, depth + 1))
    }
    case 'object':
      return objectOf(schema, root, depth)
    default:
      if (isRecord(schema.properties)) return objectOf(schema, root, depth)
      return textOf(schema)
  }
}

function objectOf(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const names = depth === 0 ? Object.keys(properties) : required.filter((name) => Object.hasOwn(properties, name))
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], root, depth + 1)]))
}

function numberOf({ minimum = 1, exclusiveMinimum, maximum = Number.POSITIVE_INFINITY }: JsonObject): number {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum)
  return Math.min(Math.max(least, 1), Number(maximum))
}

function textOf({ format, minLength = 0, maxLength = 1_000 }: JsonObject): string {
  const text = FORMATS.get(String(format)) ?? 'text'
  return text.padEnd(Number(minLength), 'x').slice(0, Math.max(1, Number(maxLength)))
}

function merged(a: unknown, b: unknown): unknown {
  return isRecord(a) && isRecord(b) ? { ...a, ...b } : (b ?? a)
}

function resolve(root: JsonObject, reference: string): unknown {
  const names = reference
    .replace(/^#\/?/, '')
    .split('/')
    .map((one) => decodeURIComponent(one).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((from, name) => (isRecord(from) ? from[name] : undefined), root)
}
