// A JSON Schema as the kind of field that edits it.
import { isRecord, type JsonObject } from '../../../../src/core/base/json.ts'

/** The field that edits a value of a schema. */
export type Shape =
  | { readonly type: 'choice'; readonly options: readonly unknown[] }
  | { readonly type: 'text' | 'number' | 'boolean' | 'null' | 'raw' }
  | { readonly type: 'list'; readonly item: JsonObject }
  | {
      readonly type: 'object'
      readonly properties: readonly (readonly [string, JsonObject])[]
      readonly required: ReadonlySet<string>
    }
  | { readonly type: 'variants'; readonly variants: readonly JsonObject[] }

const MOST_REFERENCES = 20
/** Objects nested deeper than this are edited as JSON. It also ends schemas that contain themselves. */
const MOST_LEVELS = 8

/** Chooses the field for a schema. Anything that no field fits is edited as JSON. */
export function shapeOf(schema: JsonObject, level: number): Shape {
  if (level > MOST_LEVELS) return { type: 'raw' }
  if ('const' in schema) return { type: 'choice', options: [schema.const] }
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return { type: 'choice', options: schema.enum }
  const variants = schema.oneOf ?? schema.anyOf
  if (Array.isArray(variants) && variants.length > 0) return variantsOf(schema, variants.filter(isRecord))
  if (Array.isArray(schema.type))
    return variantsOf(
      schema,
      schema.type.map((type): JsonObject => ({ type })),
    )
  if (schema.nullable === true) return variantsOf({ ...schema, nullable: false }, [{}, { type: 'null' }])
  return shapeOfType(schema, level)
}

function shapeOfType(schema: JsonObject, level: number): Shape {
  const type = schema.type ?? (isRecord(schema.properties) ? 'object' : undefined)
  switch (type) {
    case 'string':
      return { type: 'text' }
    case 'number':
    case 'integer':
      return { type: 'number' }
    case 'boolean':
      return { type: 'boolean' }
    case 'null':
      return { type: 'null' }
    case 'array':
      return isRecord(schema.items) ? { type: 'list', item: schema.items } : { type: 'raw' }
    case 'object':
      return objectOf(schema, level)
    default:
      return { type: 'raw' }
  }
}

function objectOf({ properties, required, additionalProperties: others }: JsonObject, level: number): Shape {
  if (!isRecord(properties)) return { type: 'raw' }
  const isClosed = others === false || (others === undefined && level === 0) // a tool without parameters
  if (Object.keys(properties).length === 0 && !isClosed) return { type: 'raw' }
  return {
    type: 'object',
    properties: Object.entries(properties).map(([name, schema]) => [name, isRecord(schema) ? schema : {}] as const),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
  }
}

/** One variant is no choice. The keywords beside `anyOf` and `oneOf` apply to each variant. */
function variantsOf(schema: JsonObject, variants: readonly JsonObject[]): Shape {
  const { oneOf: _, anyOf: __, type: ___, ...shared } = schema
  const base = schema.type !== undefined && !Array.isArray(schema.type) ? { ...shared, type: schema.type } : shared
  return { type: 'variants', variants: variants.map((variant) => ({ ...base, ...variant })) }
}

/** Follows references inside the document, and merges `allOf`. */
export function resolveSchema(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema
  for (let count = 0; typeof current.$ref === 'string' && count < MOST_REFERENCES; count++) {
    const { $ref, ...beside } = current
    const target = lookUp(root, $ref as string)
    if (!target) return beside
    current = { ...target, ...beside }
  }
  if (!Array.isArray(current.allOf)) return current
  return current.allOf.filter(isRecord).reduce((merged, part) => merge(merged, resolveSchema(part, root)), {
    ...current,
    allOf: undefined,
  })
}

function lookUp(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined
  let value: unknown = root
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return isRecord(value) ? value : undefined
}

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...record(one.properties), ...record(other.properties) }
  const required = [...list(one.required), ...list(other.required)]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

const record = (value: unknown): JsonObject => (isRecord(value) ? value : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** What a person calls a variant: its title, its tag, its type, or its place. */
export function variantName(variant: JsonObject, root: JsonObject, at: number): string {
  const schema = resolveSchema(variant, root)
  if (typeof schema.title === 'string') return schema.title
  const properties = record(schema.properties)
  const tag = [schema, ...Object.values(properties).map(record)].map(onlyValue).find((value) => value !== undefined)
  if (tag !== undefined) return typeof tag === 'string' ? tag : JSON.stringify(tag)
  if (typeof variant.$ref === 'string') return variant.$ref.split('/').at(-1) ?? ''
  const names = Object.keys(properties)
  if (names.length > 0) return names.slice(0, 4).join(', ')
  return typeof schema.type === 'string' ? schema.type : `variant ${at + 1}`
}

/** The value of a schema that allows one only, such as the tag of a variant. */
export function onlyValue({ const: constant, enum: values }: JsonObject): unknown {
  return constant ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined)
}
