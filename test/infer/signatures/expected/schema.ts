// Short forms of schemas, so that a table of them can be reviewed.
import type { JsonObject } from '../../../../src/core/base/json.ts'

/** The declaration that a signature should give. */
export interface Expected {
  /** Default: the name of the export or method. */
  readonly name?: string
  readonly description: string
  /** Default: none, for a function without arguments. */
  readonly parameters?: JsonObject
  /** Default: no response schema. */
  readonly response?: JsonObject
}

/** The expected declarations of one fixture, by the path of the function in it. */
export type ExpectedTable = { readonly [path: string]: Expected }

export const string: JsonObject = { type: 'string' }
export const number: JsonObject = { type: 'number' }
export const boolean: JsonObject = { type: 'boolean' }
export const nil: JsonObject = { type: 'null' }
export const date: JsonObject = { type: 'string', format: 'date-time' }
export const bytes: JsonObject = { type: 'string', contentEncoding: 'base64' }

/** An object with these properties and no others. All are required, except for the optional ones. */
export function object(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  return { ...fields(properties, optional), additionalProperties: false }
}

/** An object of a result, which may have more properties. */
export function fields(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** A result that is not an object. */
export function result(schema: JsonObject): JsonObject {
  return fields({ result: schema })
}

export function list(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

/** A tuple. `required`: how many items it needs; all by default. */
export function tuple(items: readonly JsonObject[], required: number = items.length): JsonObject {
  return { type: 'array', prefixItems: items, items: false, minItems: required, maxItems: items.length }
}

/** An object with any keys. */
export function record(values: JsonObject): JsonObject {
  return { type: 'object', properties: {}, additionalProperties: values }
}

export function constant(value: string | number | boolean): JsonObject {
  return { type: typeof value, const: value }
}

export function oneOf(...values: readonly (string | number)[]): JsonObject {
  return { type: typeof values[0], enum: values }
}

export function anyOf(...branches: readonly JsonObject[]): JsonObject {
  return { anyOf: branches }
}

/** Adds a description. */
export function about(description: string, schema: JsonObject): JsonObject {
  return { ...schema, description }
}

export function reference(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` }
}
