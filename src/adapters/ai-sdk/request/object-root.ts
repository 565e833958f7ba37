// Providers require parameters whose root is an object with properties. A root with references or alternatives is merged
// into one object. The original schema still validates the arguments of each call.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { decodePointer } from '../../../core/schema/json-schema/json-pointer.ts'

const NOT_AT_ROOT = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else'] as const

/** An equivalent or weaker schema with `type: 'object'` at its root, and without references and alternatives there. */
export function withObjectRoot(schema: JsonObject): JsonObject {
  const isPlain = schema.type === 'object' && !NOT_AT_ROOT.some((keyword) => keyword in schema)
  if (isPlain) return isRecord(schema.properties) ? schema : { ...schema, properties: {} }
  const { properties, required, isClosed } = shapeOf(schema, schema, new Map())
  const root: JsonObject = { ...schema, type: 'object', properties: Object.fromEntries(properties) }
  for (const keyword of NOT_AT_ROOT) delete root[keyword]
  if (required.size) root.required = [...required]
  else delete root.required
  if (isClosed) root.additionalProperties = false
  else if (root.additionalProperties === false) delete root.additionalProperties
  return root
}

interface Shape {
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
  /** Whether other properties are forbidden. */
  readonly isClosed: boolean
}

const NO_SHAPE: Shape = { properties: new Map(), required: new Set(), isClosed: false }

/** The shape of a schema at its root. `known` caches the shape of each schema, which also ends recursive references. */
function shapeOf(schema: unknown, root: JsonObject, known: Map<JsonObject, Shape>): Shape {
  if (!isRecord(schema)) return NO_SHAPE
  const before = known.get(schema)
  if (before) return before
  known.set(schema, NO_SHAPE)
  const shape = readShape(schema, root, known)
  known.set(schema, shape)
  return shape
}

function readShape(schema: JsonObject, root: JsonObject, known: Map<JsonObject, Shape>): Shape {
  const properties = new Map(isRecord(schema.properties) ? Object.entries(schema.properties) : [])
  const required = new Set(
    Array.isArray(schema.required) ? schema.required.filter((one) => typeof one === 'string') : [],
  )
  let isClosed = schema.additionalProperties === false
  const all = [
    ...(typeof schema.$ref === 'string' ? [resolveReference(schema.$ref, root)] : []),
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
  ]
  for (const one of all) {
    const shape = shapeOf(one, root, known)
    for (const [name, value] of shape.properties) addProperty(properties, name, value)
    for (const name of shape.required) required.add(name)
    isClosed ||= shape.isClosed
  }
  for (const list of [schema.anyOf, schema.oneOf]) {
    if (!Array.isArray(list) || list.length === 0) continue
    const shapes = list.map((one) => shapeOf(one, root, known))
    for (const shape of shapes) for (const [name, value] of shape.properties) addProperty(properties, name, value)
    for (const name of shapes[0]?.required ?? [])
      if (shapes.every((shape) => shape.required.has(name))) required.add(name)
    isClosed ||= shapes.every((shape) => shape.isClosed)
  }
  return { properties, required, isClosed }
}

/** Adds a property. If another schema defines it differently, either definition is allowed. */
function addProperty(properties: Map<string, unknown>, name: string, value: unknown): void {
  const present = properties.get(name)
  if (present === undefined) properties.set(name, value)
  else if (isUnion(present)) {
    if (!present.anyOf.some((one) => isSame(one, value))) properties.set(name, { anyOf: [...present.anyOf, value] })
  } else if (!isSame(present, value)) properties.set(name, { anyOf: [present, value] })
}

function isUnion(value: unknown): value is { anyOf: unknown[] } {
  return isRecord(value) && Array.isArray(value.anyOf) && Object.keys(value).length === 1
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function resolveReference(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#')) return undefined
  let node: unknown = root
  for (const key of reference.slice(1).split('/').slice(1)) {
    const name = decodePointer(key)
    node =
      typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? (node as JsonObject)[name] : undefined
  }
  return node
}
