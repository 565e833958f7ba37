// A check of the common keywords, for messages while the user types. The server checks the whole schema again; its validator
// would be a fifth of the page.
import { isRecord, type JsonObject } from '../../../../src/core/base/json.ts'
import type { SchemaIssue } from '../../../../src/core/schema/issues.ts'
import { checkNumber, checkText } from './check-scalar.ts'
import { resolveSchema } from './shape.ts'

const MOST_ISSUES = 50
const MOST_LEVELS = 40

/** Checks a value against a schema. Empty: nothing is known to be wrong. */
export function checkValue(schema: JsonObject, value: unknown): readonly SchemaIssue[] {
  const issues: SchemaIssue[] = []
  check({ schema, root: schema, value, path: '', level: 0 }, issues)
  return issues
}

/** The path of a member, as issues write it. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

interface Position {
  readonly schema: JsonObject
  readonly root: JsonObject
  readonly value: unknown
  readonly path: string
  readonly level: number
}

function check(position: Position, issues: SchemaIssue[]): void {
  if (issues.length >= MOST_ISSUES || position.level > MOST_LEVELS) return
  const { root, value, path, level } = position
  const schema = resolveSchema(position.schema, root)
  const expected = wrongKind(schema, value)
  if (expected !== undefined) {
    issues.push({ path, expected })
    return
  }
  const variants = [schema.anyOf, schema.oneOf].find(Array.isArray)?.filter(isRecord)
  if (variants && !variants.some((variant) => fits({ ...position, schema: variant, level: level + 1 })))
    issues.push({ path, expected: 'one of the kinds' })
  const problem = typeof value === 'string' ? checkText(schema, value) : checkNumber(schema, value)
  if (problem !== undefined) issues.push({ path, expected: problem })
  if (Array.isArray(value)) checkItems(schema, { ...position, value }, issues)
  else if (isRecord(value)) checkMembers(schema, { ...position, value }, issues)
}

function fits(position: Position): boolean {
  const issues: SchemaIssue[] = []
  check(position, issues)
  return issues.length === 0
}

/** What is expected instead of a value of this type; undefined if its type, `enum` and `const` are right. */
function wrongKind(schema: JsonObject, value: unknown): string | undefined {
  if ('const' in schema && !isSame(schema.const, value)) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => isSame(option, value))) return 'one of the options'
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === 'string')
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return undefined
  return schema.nullable === true && value === null ? undefined : types.join(' or ')
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function checkItems(schema: JsonObject, position: Position & { value: unknown[] }, issues: SchemaIssue[]): void {
  const { value, path, level } = position
  const { minItems, maxItems, items, uniqueItems } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    issues.push({ path, expected: `at least ${minItems} items` })
  if (typeof maxItems === 'number' && value.length > maxItems)
    issues.push({ path, expected: `at most ${maxItems} items` })
  if (uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    issues.push({ path, expected: 'items that differ' })
  if (!isRecord(items)) return
  for (const [at, item] of value.entries())
    check({ ...position, schema: items, value: item, path: `${path}[${at}]`, level: level + 1 }, issues)
}

function checkMembers(schema: JsonObject, position: Position & { value: JsonObject }, issues: SchemaIssue[]): void {
  const { value, path, level } = position
  const properties = isRecord(schema.properties) ? schema.properties : {}
  for (const name of Array.isArray(schema.required) ? schema.required : [])
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      issues.push({ path: memberPath(path, name), expected: 'a value' })
  for (const [name, member] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties
    if (property === false) issues.push({ path: memberPath(path, name), expected: 'no such field' })
    if (!isRecord(property)) continue
    check({ ...position, schema: property, value: member, path: memberPath(path, name), level: level + 1 }, issues)
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
