import { isRecord } from '../../base/json.ts'

/** Keywords with which a schema may accept members that its `properties` do not list. */
const OPEN = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', '$ref', 'allOf', 'anyOf', 'oneOf']

/**
 * The path of the first member of edited arguments that the schema does not list and that the approver did not see: a misspelt name,
 * which many schemas drop silently. Undefined if there is none.
 */
export function findUnknownField(schema: unknown, edited: unknown, shown: unknown): string | undefined {
  if (!isRecord(schema)) return undefined
  if (Array.isArray(edited)) {
    const before = Array.isArray(shown) ? shown : []
    return firstPath(edited.keys(), (at) => findUnknownField(schema.items, edited[at], before[at]))
  }
  if (!isRecord(edited) || !isRecord(schema.properties)) return undefined
  const { properties } = schema
  const before = isRecord(shown) ? shown : {}
  const isOpen = OPEN.some((keyword) => schema[keyword] !== undefined && schema[keyword] !== false)
  const unknown = Object.keys(edited).find((key) => !Object.hasOwn(properties, key) && !Object.hasOwn(before, key))
  if (unknown !== undefined && !isOpen) return unknown
  const known = Object.keys(edited).filter((key) => Object.hasOwn(properties, key))
  return firstPath(known, (key) =>
    findUnknownField(properties[key], edited[key], Object.hasOwn(before, key) ? before[key] : undefined),
  )
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
