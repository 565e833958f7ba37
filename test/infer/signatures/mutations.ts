import { isRecord, type JsonObject, setOwn } from '../../../src/core/base/json.ts'
import { TYPE_MARK } from '../../../src/core/schema/marked-strings.ts'
import { resolve } from './arbitrary.ts'

/** A value that a schema refuses by construction. */
export interface Mutation {
  /** What was done, for the message of a failing test. */
  readonly what: string
  readonly value: unknown
}

/** All single changes of an accepted value that its schema refuses. */
export function mutationsOf(schema: JsonObject, value: unknown): Mutation[] {
  return mutate(schema, value, schema)
}

function mutate(schema: unknown, value: unknown, root: JsonObject): Mutation[] {
  if (!isRecord(schema)) return []
  if (typeof schema.$ref === 'string') return mutate(resolve(schema.$ref, root), value, root)
  return [...kindMutations(schema, root), ...mutateSameKind(schema, value, root)]
}

/** The changes that keep the type of the value. */
function mutateSameKind(schema: JsonObject, value: unknown, root: JsonObject): Mutation[] {
  if (Array.isArray(schema.anyOf)) return mutateUnion(schema.anyOf, value, root)
  if ('const' in schema || Array.isArray(schema.enum)) return literalMutations(schema)
  if (typeof value === 'string') return textMutations(schema)
  if (typeof value === 'number') return numberMutations(schema)
  if (Array.isArray(value)) return mutateArray(schema, value, root)
  return isRecord(value) ? mutateObject(schema, value, root) : []
}

const SAMPLES: { readonly [kind: string]: unknown } = {
  string: 'text',
  number: 4.5,
  boolean: true,
  null: null,
  array: [],
  object: {},
}

/** A value of each type that the schema does not take. */
function kindMutations(schema: JsonObject, root: JsonObject): Mutation[] {
  const taken = kindsOf(schema, root)
  if (!taken) return []
  const others = Object.keys(SAMPLES).filter((kind) => !taken.has(kind))
  return others.map((kind) => ({ what: `${kind} in place of ${[...taken]}`, value: SAMPLES[kind] }))
}

/** The types of values that a schema takes. Undefined if it takes all. */
function kindsOf(schema: unknown, root: JsonObject, seen: readonly unknown[] = []): Set<string> | undefined {
  if (!isRecord(schema) || seen.includes(schema)) return new Set()
  const open = [...seen, schema]
  if (typeof schema.$ref === 'string') return kindsOf(resolve(schema.$ref, root), root, open)
  if (typeof schema.type === 'string') return new Set([schema.type])
  if (!Array.isArray(schema.anyOf)) return undefined
  const branches = schema.anyOf.map((branch) => kindsOf(branch, root, open))
  return branches.includes(undefined) ? undefined : new Set(branches.flatMap((kinds) => [...(kinds ?? [])]))
}

function literalMutations({ type, const: only, enum: several }: JsonObject): Mutation[] {
  if (type === 'boolean') return [{ what: 'the other boolean', value: !only }]
  const values = Array.isArray(several) ? several : [only]
  const other = type === 'string' ? `not ${values.join(' ')}` : 1 + values.reduce((a, b) => a + Math.abs(b), 0)
  return [{ what: 'another literal', value: other }]
}

function textMutations(schema: JsonObject): Mutation[] {
  const { minLength, maxLength, pattern, format, contentEncoding } = schema
  const found: Mutation[] = []
  if (typeof minLength === 'number' && minLength > 0)
    found.push({ what: 'too short', value: 'A'.repeat(minLength - 1) })
  if (typeof maxLength === 'number') found.push({ what: 'too long', value: 'A'.repeat(maxLength + 1) })
  const outside = ['', '!', 'a b', 'no-match'].find(
    (text) => typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text),
  )
  if (outside !== undefined) found.push({ what: 'outside of the pattern', value: outside })
  if (format !== undefined) found.push({ what: `not a ${format}`, value: 'not of the format' })
  if (contentEncoding === 'base64' && TYPE_MARK in schema) found.push({ what: 'not base64', value: 'a?b=' })
  return found
}

function numberMutations({ minimum, maximum, multipleOf }: JsonObject): Mutation[] {
  const found: Mutation[] = []
  if (typeof minimum === 'number') found.push({ what: 'below the minimum', value: minimum - 1 })
  if (typeof maximum === 'number') found.push({ what: 'above the maximum', value: maximum + 1 })
  if (typeof multipleOf === 'number') found.push({ what: 'not a multiple', value: multipleOf / 2 })
  return found
}

function mutateArray(schema: JsonObject, items: readonly unknown[], root: JsonObject): Mutation[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const found: Mutation[] = []
  if (typeof schema.minItems === 'number')
    found.push({ what: 'too few items', value: items.slice(0, schema.minItems - 1) })
  if (typeof schema.maxItems === 'number') {
    const missing = schema.maxItems + 1 - items.length
    found.push({ what: 'too many items', value: [...items, ...Array.from({ length: missing }, () => items[0] ?? 1)] })
  }
  for (const [index, item] of items.entries()) {
    for (const { what, value } of mutate(first[index] ?? schema.items, item, root))
      found.push({ what: `item ${index}: ${what}`, value: items.with(index, value) })
  }
  return found
}

const UNKNOWN_KEY = '?unknown'

function mutateObject(schema: JsonObject, object: JsonObject, root: JsonObject): Mutation[] {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const found: Mutation[] = []
  if (schema.additionalProperties === false)
    found.push({ what: 'an unknown property', value: { ...object, [UNKNOWN_KEY]: 1 } })
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    const property = properties[name]
    // a default fills in a missing property
    if (!isRecord(property) || !('default' in property))
      found.push({ what: `without "${name}"`, value: without(object, name) })
  }
  for (const [name, value] of Object.entries(object)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : otherSchema(schema, name)
    for (const { what, value: changed } of mutate(property, value, root))
      found.push({ what: `"${name}": ${what}`, value: changedObject(object, name, changed) })
  }
  return found
}

function otherSchema({ patternProperties, additionalProperties }: JsonObject, name: string): unknown {
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
  return patterns.find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1] ?? additionalProperties
}

/** Changes that no branch accepts. */
function mutateUnion(branches: readonly unknown[], value: unknown, root: JsonObject): Mutation[] {
  const resolved = branches
    .map((branch) => (isRecord(branch) && typeof branch.$ref === 'string' ? resolve(branch.$ref, root) : branch))
    .filter(isRecord)
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const fitting = resolved.filter((branch) => kindsOf(branch, root)?.has(kind))
  const [only, ...others] = fitting
  if (only && others.length === 0) return mutateSameKind(only, value, root)
  if (!isRecord(value)) return []
  const found: Mutation[] = []
  if (fitting.every(({ additionalProperties }) => additionalProperties === false))
    found.push({ what: 'a property that no branch has', value: { ...value, [UNKNOWN_KEY]: 1 } })
  for (const name of Object.keys(value)) {
    if (fitting.every(({ required }) => Array.isArray(required) && required.includes(name)))
      found.push({ what: `without "${name}", which all branches need`, value: without(value, name) })
    const properties = fitting.map((branch) => (branch.properties as JsonObject)[name])
    if (properties.every((property) => isRecord(property) && ('const' in property || 'enum' in property)))
      found.push({ what: `"${name}" of no branch`, value: changedObject(value, name, 'of no branch') })
  }
  return found
}

function without(object: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = object
  return rest
}

function changedObject(object: JsonObject, name: string, value: unknown): JsonObject {
  const copy = { ...object }
  setOwn(copy, name, value)
  return copy
}
