import { type Schema as CfSchema, dereference, validate } from '@cfworker/json-schema'
import { copyJson, isRecord, type JsonObject, setOwn } from '../base/json.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { CheckedSchema } from './check.ts'
import { jsonSchemaIssues, type SchemaLookup } from './json-schema-issues.ts'
import { MAX_PARTS, sizeProblem } from './measure.ts'
import type { Parsed } from './parsed.ts'

const MAX_UNIQUE_PARTS = 10_000
const MAX_VISITS = 300_000

/** The check of a plain JSON Schema (draft 2020-12). Generates no code. */
export function jsonSchemaParser(checked: CheckedSchema, what: string): (value: unknown) => Parsed {
  // Its own copy: the validator writes addresses on it, and what the model is shown may be passed around.
  const schema = copyJson(checked.jsonSchema) as CfSchema
  const lookup = addresses(schema, what)
  const budget = limitVisits(lookup)
  const maxParts = checked.hasUniqueItems ? MAX_UNIQUE_PARTS : MAX_PARTS
  return (value) => {
    const problem = sizeProblem(value, maxParts)
    if (problem) return problem
    budget.left = MAX_VISITS
    try {
      const copy = withoutUndefined(value)
      if (checked.hasDefaults) applyDefaults(copy, schema, lookup, budget)
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

/** How many more times a schema may be applied to a part of the value. */
interface Budget {
  left: number
}

// Alternatives that refer back to themselves take time exponential in the depth of a value. The validator reads this
// member of a schema each time it applies it, which is the one place to count.
function limitVisits(lookup: SchemaLookup): Budget {
  const budget = { left: 0 }
  const nodes = [...new Set(Object.values(lookup))].filter(isRecord)
  if (nodes.some((node) => node.$ref !== undefined))
    for (const node of nodes) Object.defineProperty(node, '__absolute_recursive_ref__', { get: () => spend(budget) })
  return budget
}

function spend(budget: Budget): undefined {
  if (--budget.left < 0) throw new RangeError('the value takes too long to check')
  return undefined
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
function applyDefaults(value: unknown, schema: unknown, lookup: SchemaLookup, budget: Budget): void {
  if (typeof value !== 'object' || value === null || !isRecord(schema)) return
  spend(budget)
  if (schema.$ref !== undefined) applyDefaults(value, lookup[String(schema.__absolute_ref__)], lookup, budget)
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) applyDefaults(value, part, lookup, budget)
  if (Array.isArray(value)) {
    const { prefixItems, items } = schema
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    for (let i = 0; i < value.length; i++) applyDefaults(value[i], i < first.length ? first[i] : items, lookup, budget)
    return
  }
  if (!isRecord(schema.properties)) return
  const record = value as JsonObject
  for (const key of Object.keys(schema.properties)) {
    const property = schema.properties[key]
    if (Object.hasOwn(record, key)) applyDefaults(record[key], property, lookup, budget)
    else {
      const found = defaultOf(property, lookup)
      if (found !== undefined) setOwn(record, key, copyJson(found))
    }
  }
}

// References end: a circle was refused.
function defaultOf(schema: unknown, lookup: SchemaLookup): unknown {
  if (!isRecord(schema)) return undefined
  if (schema.default !== undefined) return schema.default
  return schema.$ref === undefined ? undefined : defaultOf(lookup[String(schema.__absolute_ref__)], lookup)
}
