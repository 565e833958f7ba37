import { isRecord } from '../../../core/base/json.ts'
import { type Schema, schemaAlternatives } from './schema-alternatives.ts'

/** Keywords with which a schema may accept members that its `properties` do not list. */
const OPEN = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']

/** Finds how a schema may accept a value. */
type Alternatives = ReturnType<typeof schemaAlternatives>

/**
 * The path of the first member of edited arguments that the schema does not list and that the approver did not see: a misspelt name,
 * which many schemas drop silently. Of a union, one alternative that the value fits must list all members. Undefined if there is none.
 */
export function findUnknownField(schema: unknown, edited: unknown, shown: unknown): string | undefined {
  return unknownIn(schema, edited, shown, schemaAlternatives(schema))
}

function unknownIn(schema: unknown, edited: unknown, shown: unknown, alternatives: Alternatives): string | undefined {
  let first: string | undefined
  for (const schemas of alternatives(schema, edited)) {
    const path = Array.isArray(edited)
      ? unknownInList(schemas, edited, shown, alternatives)
      : unknownMember(schemas, edited, shown, alternatives)
    if (path === undefined) return undefined
    first ??= path
  }
  return first
}

function unknownInList(
  schemas: readonly Schema[],
  edited: readonly unknown[],
  shown: unknown,
  alternatives: Alternatives,
): string | undefined {
  const before = Array.isArray(shown) ? shown : []
  const items = schemas.flatMap((one) => (isRecord(one.items) ? [one.items] : []))
  return firstPath(edited.keys(), (at) => unknownIn(together(items), edited[at], before[at], alternatives))
}

function unknownMember(
  schemas: readonly Schema[],
  edited: unknown,
  shown: unknown,
  alternatives: Alternatives,
): string | undefined {
  if (!isRecord(edited)) return undefined
  const before = isRecord(shown) ? shown : {}
  const isOpen = schemas.some(acceptsOthers) || !schemas.some(({ properties }) => isRecord(properties))
  const isKnown = (key: string): boolean => schemas.some((one) => propertyOf(one, key) !== undefined)
  const unknown = Object.keys(edited).find((key) => !isKnown(key) && !Object.hasOwn(before, key))
  if (unknown !== undefined && !isOpen) return unknown
  return firstPath(Object.keys(edited).filter(isKnown), (key) => {
    return unknownIn(
      together(schemas.flatMap((one) => propertyOf(one, key) ?? [])),
      edited[key],
      Object.hasOwn(before, key) ? before[key] : undefined,
      alternatives,
    )
  })
}

/** One schema for what matches all of them. */
function together(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { allOf: schemas }
}

function acceptsOthers(schema: Schema): boolean {
  const isEmpty = !isRecord(schema.properties) && (schema.type === undefined || schema.type === 'object')
  return isEmpty || OPEN.some((keyword) => schema[keyword] !== undefined && schema[keyword] !== false)
}

function propertyOf({ properties }: Schema, key: string): unknown {
  return isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
}

function firstPath<K extends string | number>(
  keys: Iterable<K>,
  pathIn: (key: K) => string | undefined,
): string | undefined {
  for (const key of keys) {
    const path = pathIn(key)
    if (path !== undefined) return `${key}.${path}`
  }
  return undefined
}
