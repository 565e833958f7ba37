// For tests only: arguments that fit a JSON Schema, made without randomness.
import fc from '../../core/base/fast-check.test-kit.ts'
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { compileSchema } from '../../core/schema/compile.ts'
import type { ApiOperation } from './operation.ts'

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date-time', '2026-01-02T03:04:05Z'],
  ['date', '2026-01-02'],
  ['time', '03:04:05Z'],
  ['uuid', '123e4567-e89b-42d3-a456-426614174000'],
  ['email', 'ada@example.com'],
  ['uri', 'https://example.com/a'],
  ['url', 'https://example.com/a'],
  ['ipv4', '127.0.0.1'],
])

/** Which of the possible examples is made. */
interface Choice {
  readonly root: JsonObject
  /** The alternative of `oneOf` and `anyOf`. */
  readonly branch: number
  /** How many levels have their optional members: 1 for the arguments, 2 for the members of a body, too. */
  readonly optionalLevels: number
}

/** Arguments for the schema of an operation: all arguments, and in them the required members. */
export function exampleArguments(schema: JsonObject): JsonObject {
  return toExample({ root: schema, branch: 0, optionalLevels: 1 })
}

/** Arguments that the schema of the operation accepts, optional ones if possible. Undefined if none were found. */
export async function acceptedArguments({
  name,
  argumentsSchema: root,
}: ApiOperation): Promise<JsonObject | undefined> {
  const compiled = compileSchema(root, name, { object: true })
  for (const optionalLevels of [2, 1, 0])
    for (const branch of [0, 1, 2]) {
      const args = toExample({ root, branch, optionalLevels })
      if ('value' in (await compiled.parse(args))) return args
    }
  return undefined
}

function toExample(choice: Choice): JsonObject {
  const value = exampleOf(choice.root, choice, 0)
  return isRecord(value) ? value : {}
}

function exampleOf(given: unknown, choice: Choice, depth: number): unknown {
  if (depth > 12) return 'x'
  const schema = flatten(given, choice, depth)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum.find((one) => one !== null)
  if (schema.default !== undefined && schema.default !== null) return schema.default
  return typedExample(schema, choice, depth)
}

/** One schema without `$ref`, `allOf`, `oneOf` and `anyOf`: of alternatives, the chosen one. */
function flatten(given: unknown, choice: Choice, depth: number): JsonObject {
  if (!isRecord(given) || depth > 12) return {}
  const { $ref, allOf, oneOf, anyOf, ...own } = given
  const parts = [
    ...(typeof $ref === 'string' ? [resolve(choice.root, $ref)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? [list[choice.branch % list.length]] : [])),
  ]
  return parts.map((part) => flatten(part, choice, depth + 1)).reduce(mergeSchemas, own)
}

function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const properties: JsonObject = { ...(one.properties as object) }
  for (const [name, schema] of Object.entries(isRecord(other.properties) ? other.properties : {}))
    properties[name] = Object.hasOwn(properties, name) ? { allOf: [properties[name], schema] } : schema
  const required = [one.required ?? [], other.required ?? []].flat()
  const hasProperties = Object.keys(properties).length > 0
  return { ...one, ...other, ...(hasProperties && { properties }), ...(required.length > 0 && { required }) }
}

function typedExample(schema: JsonObject, choice: Choice, depth: number): unknown {
  const [type] = [schema.type].flat().filter((one) => one !== 'null')
  switch (type) {
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'array':
      return listOf(schema, choice, depth)
    case 'object':
      return objectOf(schema, choice, depth)
    default:
      return isRecord(schema.properties) ? objectOf(schema, choice, depth) : textOf(schema)
  }
}

/** Two items if the schema allows it, and different ones if possible: one item looks the same in most styles. */
function listOf({ items = {}, minItems = 0, maxItems = 2, uniqueItems }: JsonObject, choice: Choice, depth: number) {
  const count = Math.max(Math.min(2, Number(maxItems)), Math.min(Number(minItems), 20))
  const schema = flatten(items, choice, depth)
  const list = Array.from({ length: count }, (_, at) => another(exampleOf(items, choice, depth + 1), schema, at))
  return uniqueItems === true ? [...new Map(list.map((item) => [JSON.stringify(item), item])).values()] : list
}

function another(
  value: unknown,
  { enum: allowed, const: fixed, pattern, format, maxLength, maximum }: JsonObject,
  at: number,
) {
  if (at === 0 || fixed !== undefined) return value
  if (Array.isArray(allowed)) return allowed[at % allowed.length] ?? value
  const isFree = [pattern, format, maxLength, maximum].every((one) => one === undefined)
  if (!isFree) return value
  return typeof value === 'string' ? `${value}${at}` : typeof value === 'number' ? value + at : value
}

function objectOf(schema: JsonObject, choice: Choice, depth: number): JsonObject {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = [schema.required ?? []].flat().map(String)
  const names = depth < choice.optionalLevels ? Object.keys(properties) : required
  // a form cannot carry an empty object
  const present = names.length > 0 || depth === 0 ? names : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(present.map((name) => [name, exampleOf(properties[name] ?? {}, choice, depth + 1)]))
}

function numberOf({ minimum = 1, exclusiveMinimum, maximum = Number.POSITIVE_INFINITY }: JsonObject): number {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum)
  return Math.min(Math.max(least, 1), Number(maximum))
}

function textOf({ format, pattern, minLength = 0, maxLength = 1_000 }: JsonObject): string {
  const text = FORMATS.get(String(format)) ?? 'text'
  const usual = text.padEnd(Number(minLength), 'x').slice(0, Math.max(1, Number(maxLength)))
  if (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(usual)) return usual
  const hasLength = (one: string): boolean => one.length >= Number(minLength) && one.length <= Number(maxLength)
  return matchesOf(pattern).find(hasLength) ?? usual
}

/** Printable texts that match a pattern. None if fast-check does not know a part of the pattern. */
function matchesOf(pattern: string): string[] {
  try {
    const made = fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { seed: 1, numRuns: 30 })
    return made.filter((one) => /^[!-~]+$/.test(one))
  } catch {
    return []
  }
}

function resolve(root: JsonObject, reference: string): unknown {
  const names = reference
    .replace(/^#\/?/, '')
    .split('/')
    .map((one) => decodeURIComponent(one).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((from, name) => (isRecord(from) ? from[name] : undefined), root)
}
