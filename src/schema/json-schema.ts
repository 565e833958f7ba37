import { type Schema as CfSchema, dereference, validate } from '@cfworker/json-schema'
import { copyJson, isRecord, type JsonObject, setOwn } from '../base/json.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { CheckedSchema } from './check.ts'
import { jsonSchemaIssues, type SchemaLookup } from './json-schema-issues.ts'
import { MAX_PARTS, sizeProblem } from './measure.ts'
import type { Parsed } from './parsed.ts'

const MAX_UNIQUE_PARTS = 10_000

/** The check of a plain JSON Schema (draft 2020-12). Generates no code. */
export function jsonSchemaParser(checked: CheckedSchema, what: string): (value: unknown) => Parsed {
  // Its own copy: the validator writes addresses on it, and what the model is shown may be passed around.
  const schema = copyJson(checked.jsonSchema) as CfSchema
  const lookup = addresses(schema, what)
  const maxParts = checked.hasUniqueItems ? MAX_UNIQUE_PARTS : MAX_PARTS
  return (value) => {
    const problem = sizeProblem(value, maxParts)
    if (problem) return problem
    try {
      const copy = withoutUndefined(value)
      if (checked.hasDefaults) applyDefaults(copy, schema, lookup, 0)
      const result = validate(copy, schema, '2020-12', lookup as Record<string, CfSchema | boolean>, false)
      return result.valid ? { value: copy } : { issues: jsonSchemaIssues(result.errors, copy, schema, lookup) }
    } catch {
      return { issues: [{ path: '', expected: 'a value that can be checked (the check itself failed)' }] }
    }
  }
}

function addresses(schema: CfSchema, what: string): SchemaLookup {
  const fail = (problem: string, cause?: unknown): never => {
    throw new ToolwrightError('INVALID_CONFIG', `${what}: the JSON Schema is not valid: ${problem}`, { cause })
  }
  let lookup: SchemaLookup = {}
  try {
    lookup = dereference(schema)
  } catch (error) {
    fail(messageOf(error), error)
  }
  const checkedNodes = new Set<object>()
  for (const node of Object.values(lookup)) {
    if (!isRecord(node)) continue
    if (node.$ref !== undefined && lookup[String(node.__absolute_ref__)] === undefined)
      fail(`"$ref": "${String(node.$ref)}" leads nowhere; only references inside the schema are followed.`)
    if (refersToItself(node, lookup, new Set(), checkedNodes))
      fail(`"$ref": a reference leads back to itself without going into the value.`)
  }
  return lookup
}

// Follows what applies to the same value: such a circle would never end.
function refersToItself(node: unknown, lookup: SchemaLookup, open: Set<object>, done: Set<object>): boolean {
  if (!isRecord(node) || done.has(node)) return false
  if (open.has(node)) return true
  open.add(node)
  const parts: unknown[] = [node.$ref === undefined ? undefined : lookup[String(node.__absolute_ref__)]]
  for (const keyword of ['not', 'if', 'then', 'else']) parts.push(node[keyword])
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    if (Array.isArray(node[keyword])) parts.push(...(node[keyword] as unknown[]))
  if (isRecord(node.dependentSchemas)) parts.push(...Object.values(node.dependentSchemas))
  const circle = parts.some((part) => refersToItself(part, lookup, open, done))
  open.delete(node)
  done.add(node)
  return circle
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : withoutUndefined(item)))
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = (value as JsonObject)[key]
    if (item !== undefined) setOwn(copy, key, withoutUndefined(item))
  }
  return copy
}

// Fills in what is absent; a default is taken as it is written, not completed from within.
function applyDefaults(value: unknown, schema: unknown, lookup: SchemaLookup, depth: number): void {
  if (typeof value !== 'object' || value === null || !isRecord(schema) || depth > MAX_REFERENCES) return
  if (schema.$ref !== undefined) applyDefaults(value, lookup[String(schema.__absolute_ref__)], lookup, depth + 1)
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) applyDefaults(value, part, lookup, depth + 1)
  if (Array.isArray(value)) {
    const { prefixItems, items } = schema
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    for (let i = 0; i < value.length; i++) applyDefaults(value[i], i < first.length ? first[i] : items, lookup, 0)
    return
  }
  if (!isRecord(schema.properties)) return
  const record = value as JsonObject
  for (const key of Object.keys(schema.properties)) {
    const property = schema.properties[key]
    if (Object.hasOwn(record, key)) applyDefaults(record[key], property, lookup, 0)
    else {
      const found = defaultOf(property, lookup, 0)
      if (found !== undefined) setOwn(record, key, copyJson(found))
    }
  }
}

const MAX_REFERENCES = 64

function defaultOf(schema: unknown, lookup: SchemaLookup, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_REFERENCES) return undefined
  if (schema.default !== undefined) return schema.default
  return schema.$ref === undefined ? undefined : defaultOf(lookup[String(schema.__absolute_ref__)], lookup, depth + 1)
}
