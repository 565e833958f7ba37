// The ways in which a JSON Schema may accept a value: `anyOf` and `oneOf` taken apart, `allOf` and local references put together.
import { isRecord } from '../../../core/base/json.ts'

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

// A document from outside may refer to itself in many ways. Beyond these limits, a schema counts as one that accepts everything.
const MAX_BRANCHES = 20_000
const MAX_ALTERNATIVES = 1_000
const MAX_DEPTH = 20

const ANYTHING: readonly Schema[] = [{}]
const COMBINED = ['$ref', 'allOf', 'anyOf', 'oneOf']

/**
 * A function that lists the alternatives of a part of `root` for a value. An alternative is a list of schemas that apply together.
 * Alternatives that the value cannot match are left out: another type, another tag, or a required member that it lacks.
 */
export function schemaAlternatives(root: unknown): (schema: unknown, value: unknown) => (readonly Schema[])[] {
  let left = MAX_BRANCHES
  const expand = (schema: unknown, depth = 0): (readonly Schema[])[] => {
    if (!isRecord(schema) || left <= 0 || depth > MAX_DEPTH) return [ANYTHING]
    if (!COMBINED.some((keyword) => schema[keyword] !== undefined)) return [[schema]]
    const isEmpty = Object.keys(schema).every((key) => COMBINED.includes(key) || key.startsWith('$'))
    let found: (readonly Schema[])[] = [isEmpty ? [] : [schema]]
    const combine = (branches: readonly unknown[]): void => {
      left -= branches.length
      const others = branches.flatMap((one) => expand(one, depth + 1))
      if (found.length * others.length > MAX_ALTERNATIVES) found = [ANYTHING]
      else found = found.flatMap((one) => others.map((other) => [...one, ...other]))
    }
    if (schema.$ref !== undefined) combine([resolve(root, schema.$ref)])
    for (const one of listOf(schema.allOf)) combine([one])
    for (const branches of [listOf(schema.anyOf), listOf(schema.oneOf)]) if (branches.length > 0) combine(branches)
    return found
  }
  return (schema, value) => expand(schema).filter((schemas) => schemas.every((one) => mayMatch(one, value)))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The part of the document that a reference such as `#/$defs/line` names. */
function resolve(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  let part: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    part = isRecord(part) && Object.hasOwn(part, key) ? part[key] : undefined
  }
  return part
}

/** False if the value cannot match the schema. Whether it does is decided by validation. */
function mayMatch(schema: Schema, value: unknown): boolean {
  const { type, enum: choices, required, properties, const: tag } = schema
  if (typeof type === 'string' && !isOfType(value, type)) return false
  if (isPlain(tag) && tag !== value) return false
  if (Array.isArray(choices) && choices.every(isPlain) && !choices.includes(value)) return false
  if (!isRecord(value)) return true
  if (listOf(required).some((key) => typeof key === 'string' && !Object.hasOwn(value, key))) return false
  const named = isRecord(properties) ? Object.entries(properties) : []
  return named.every(([key, one]) => !Object.hasOwn(value, key) || !isRecord(one) || mayMatch(one, value[key]))
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return true
  }
}
