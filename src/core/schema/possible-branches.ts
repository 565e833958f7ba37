import { isRecord, type JsonObject } from '../base/json.ts'

/**
 * The branches of a union that a value could fit, by its type and by the types and constants of its properties. The check does not
 * go deeper, so it takes little time even inside of recursive types.
 */
export function possibleBranches(value: unknown, branches: readonly unknown[], root: JsonObject): JsonObject[] {
  const look: Look = { root, isProperty: false, links: 0 }
  return branches.filter((branch): branch is JsonObject => isRecord(branch) && couldFit(value, branch, look))
}

/** The definition that a local reference names. */
export function definitionOf(root: JsonObject, reference: string): unknown {
  const name = reference.replace('#/$defs/', '')
  return isRecord(root.$defs) && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined
}

/** How many references and unions inside of unions are followed. Longer chains are left to the full check. */
const MAX_LINKS = 8

interface Look {
  readonly root: JsonObject
  /** Whether the value is a property of the one that is compared. */
  readonly isProperty: boolean
  /** How many references and unions led here. */
  readonly links: number
}

function couldFit(value: unknown, schema: unknown, look: Look): boolean {
  if (!isRecord(schema) || look.links > MAX_LINKS) return schema !== false
  const { $ref, anyOf, type, enum: values } = schema
  const further = { ...look, links: look.links + 1 }
  if (typeof $ref === 'string') return couldFit(value, definitionOf(look.root, $ref), further)
  if (Array.isArray(anyOf)) return anyOf.some((branch) => couldFit(value, branch, further))
  if (typeof type === 'string' && !isOfType(value, type)) return false
  if (isScalar(schema.const) && schema.const !== value) return false
  if (Array.isArray(values) && values.every(isScalar) && !values.includes(value)) return false
  return look.isProperty || !isRecord(value) || propertiesCouldFit(value, schema, look.root)
}

function propertiesCouldFit(value: JsonObject, schema: JsonObject, root: JsonObject): boolean {
  const { properties, required } = schema
  if (Array.isArray(required) && required.some((key) => !Object.hasOwn(value, String(key)))) return false
  if (!isRecord(properties)) return true
  const look: Look = { root, isProperty: true, links: 0 }
  return Object.entries(properties).every(
    ([key, property]) => !Object.hasOwn(value, key) || couldFit(value[key], property, look),
  )
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  return typeof value === (type === 'integer' ? 'number' : type)
}

function isScalar(value: unknown): boolean {
  return value !== undefined && typeof value !== 'object'
}
