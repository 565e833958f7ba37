// The keywords of JSON Schema that are kept. All others are dropped: `xml`, `example`, `externalDocs`, `x-...`.
import type { JsonObject } from '../../../../core/base/json.ts'

/** Keywords whose value is data. */
export const DATA_KEYWORDS: readonly string[] = [
  'type',
  'enum',
  'const',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'required',
  'dependentRequired',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
]

/** Keywords whose value is one schema for a part of the value. */
export const OTHER_VALUE_KEYWORDS: readonly string[] = [
  'items',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]

/** Keywords whose value is a list of schemas for the same value. */
export const SAME_VALUE_LIST_KEYWORDS: readonly string[] = ['allOf', 'oneOf', 'anyOf']

/** Before 3.1, `exclusiveMinimum: true` stands beside `minimum`. */
export function toPlainBounds(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum } = schema
  if (typeof exclusiveMinimum !== 'boolean' && typeof exclusiveMaximum !== 'boolean') return schema
  const plain = { ...schema }
  if (typeof exclusiveMinimum === 'boolean') delete plain.exclusiveMinimum
  if (typeof exclusiveMaximum === 'boolean') delete plain.exclusiveMaximum
  if (exclusiveMinimum === true && plain.minimum !== undefined) {
    plain.exclusiveMinimum = plain.minimum
    delete plain.minimum
  }
  if (exclusiveMaximum === true && plain.maximum !== undefined) {
    plain.exclusiveMaximum = plain.maximum
    delete plain.maximum
  }
  return plain
}

/** Draft 7 lists the schemas of the first items in `items`. */
export function toPlainItems(schema: JsonObject): JsonObject {
  const { items, additionalItems, ...rest } = schema
  if (!Array.isArray(items)) return schema
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  }
}
