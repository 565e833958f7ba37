// Is it a JSON Schema that can be trusted with a model's arguments? One walk finds out and makes the copy models see.
import { copyJson, isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { clip } from '../issues.ts'
import { compilePattern } from '../pattern/compile-pattern.ts'
import { isRegularExpression, UnsupportedPatternError } from '../pattern/parse-pattern.ts'
import { adviceFor, findUnsupportedKind, KIND_NAMES } from '../unsupported-values.ts'
import { countParts } from '../value-size.ts'
import { UNCHECKED_FORMATS } from './formats.ts'

/** A checked JSON Schema: our own copy, without what models do not need. */
export interface CheckedSchema {
  readonly jsonSchema: JsonObject
  readonly hasDefaults: boolean
  /** Some property is called like a member of every object (`toString`, `constructor`). */
  readonly hasInheritedNames: boolean
  /** Some schema has an address of its own. */
  readonly hasAddresses: boolean
  /** It has references or patterns, which only compiling finds fault with. */
  readonly hasLinks: boolean
}

const LIBRARY_SCHEMA =
  'it is a schema of a library (Zod, ArkType, ...) inside a plain object. Pass one schema of the library, such as z.object({ city: z.string() }), or write all of it as JSON Schema'

function isLibrarySchema(value: unknown): boolean {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value
}

const MAX_LEVELS = 64
const MAX_NODES = 5_000
const MAX_BYTES = 256_000

/** Checks a JSON Schema, or throws INVALID_CONFIG naming the place. `patterns: false` leaves regular expressions alone. */
export function checkSchema(schema: unknown, what: string, options: { patterns: boolean }): CheckedSchema {
  const fail = (at: string, problem: string): never => {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: the JSON Schema at ${at} is not valid: ${problem}${problem.endsWith('.') ? '' : '.'}`,
    )
  }
  const found = { hasDefaults: false, hasInheritedNames: false, hasAddresses: false, hasLinks: false }
  const open = new Set<object>()
  let nodes = 0
  let data = 0

  const walk = (node: unknown, at: string, level: number): unknown => {
    if (typeof node === 'boolean') return node
    if (level > 0 && isLibrarySchema(node)) return fail(at, LIBRARY_SCHEMA)
    if (!isRecord(node) || findUnsupportedKind(node)) return fail(at, 'a schema is an object or a boolean')
    if (open.has(node)) return fail(at, 'the object contains itself; use "$ref" for a recursive schema')
    if (level > MAX_LEVELS) return fail(at, `it is nested deeper than ${MAX_LEVELS} levels`)
    if (++nodes > MAX_NODES) return fail('#', `it has more than ${MAX_NODES} parts`)
    open.add(node)
    const copy: JsonObject = {}
    for (const keyword of Object.keys(node)) {
      const value = node[keyword]
      if (value === undefined || keyword === '$schema' || isSafeIntegerBound(node, keyword)) continue
      const here = `${at}/${keyword}`
      if (isLibrarySchema(value)) fail(here, LIBRARY_SCHEMA)
      const problem = keywordProblem(keyword, value, options.patterns)
      if (problem) fail(here, problem)
      if (keyword === 'default') found.hasDefaults = true
      else if (keyword === '$id' || keyword === '$anchor') found.hasAddresses = true
      else if (keyword === '$ref' || keyword === 'pattern' || keyword === 'patternProperties') found.hasLinks = true
      if (MAPS.has(keyword)) {
        const map: JsonObject = {}
        for (const key of Object.keys(value as JsonObject)) {
          if (keyword === 'properties' && key in Object.prototype) found.hasInheritedNames = true
          const part = (value as JsonObject)[key]
          const isNames = keyword === 'dependencies' && isStrings(part)
          setOwn(map, key, isNames ? part : walk(part, `${here}/${key}`, level + 1))
        }
        setOwn(copy, keyword, map)
      } else if (SINGLE.has(keyword) && !Array.isArray(value)) {
        setOwn(copy, keyword, walk(value, here, level + 1))
      } else if (LISTS.has(keyword)) {
        setOwn(
          copy,
          keyword,
          (value as unknown[]).map((part, i) => walk(part, `${here}/${i}`, level + 1)),
        )
      } else setOwn(copy, keyword, copyData(value, here))
    }
    open.delete(node)
    return copy.nullable === undefined ? copy : withNull(copy)
  }

  const copyData = (value: unknown, at: string): unknown => {
    data += countParts(value) // before it is copied: one list may stand in many places
    if (data > MAX_BYTES / 2) return fail('#', `it is bigger than ${MAX_BYTES / 1000} kB`)
    let copy: unknown
    try {
      copy = copyJson(value)
    } catch {
      return fail(at, 'the value is nested too deeply or contains itself')
    }
    requireJson(value, at)
    return copy
  }

  const requireJson = (value: unknown, at: string): void => {
    const kind = findUnsupportedKind(value)
    if (kind) fail(at, `it is ${kind.noun}, which JSON cannot hold. ${adviceFor(kind.name)}`)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const [i, item] of value.entries()) requireJson(item, `${at}/${i}`)
    else
      for (const key of Object.keys(value))
        if ((value as JsonObject)[key] !== undefined) requireJson((value as JsonObject)[key], `${at}/${key}`)
  }

  if (!isRecord(schema)) return fail('#', 'a schema is an object')
  const jsonSchema = walk(schema, '#', 0) as JsonObject
  let bytes = 0
  try {
    bytes = JSON.stringify(jsonSchema).length
  } catch {
    fail('#', 'it cannot be written as JSON')
  }
  if (bytes > MAX_BYTES) fail('#', `it is bigger than ${MAX_BYTES / 1000} kB`)
  return { jsonSchema, ...found }
}

const MAPS = new Set(['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas', 'dependencies'])
const LISTS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf', 'items'])
const SINGLE = new Set(
  'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames not if then else'.split(
    ' ',
  ),
)
const TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
const NUMBERS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])
const COUNTS = /^(min|max)(Length|Items|Properties|Contains)$/
const TEXTS = new Set(['$ref', '$id', '$anchor', '$comment', 'title', 'description', 'pattern', 'format'])

function keywordProblem(keyword: string, value: unknown, patterns: boolean): string | undefined {
  if (MAPS.has(keyword)) {
    if (!isRecord(value)) return 'it must be an object of schemas'
    if (keyword !== 'patternProperties' || !patterns) return undefined
    return Object.keys(value).map(patternProblem).find(Boolean)
  }
  if (LISTS.has(keyword) && keyword !== 'items')
    return Array.isArray(value) && value.length > 0 ? undefined : 'it must be a list of schemas'
  if (NUMBERS.has(keyword)) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return 'it must be a number'
    return keyword === 'multipleOf' && value <= 0 ? 'it must be more than 0' : undefined
  }
  if (COUNTS.test(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'it must be a count'
  if (TEXTS.has(keyword)) {
    if (typeof value !== 'string') return 'it must be a string'
    if (keyword === 'format' && patterns && UNCHECKED_FORMATS.has(value))
      return `the format "${value}" is not checked; use "hostname", or leave it out and check the value in the tool`
    return keyword === 'pattern' && patterns ? patternProblem(value) : undefined
  }
  switch (keyword) {
    case 'type':
      return typeProblem(value)
    case 'enum':
      return Array.isArray(value) && value.length > 0 ? undefined : 'it must be a list of values'
    case 'required':
      return isStrings(value) ? undefined : 'it must be a list of property names'
    case 'dependentRequired':
      return isRecord(value) && Object.values(value).every(isStrings) ? undefined : 'it must hold lists of names'
    case 'uniqueItems':
    case 'nullable':
      return typeof value === 'boolean' ? undefined : 'it must be true or false'
    case '$dynamicRef':
    case '$recursiveRef':
      return `"${keyword}" is not supported; use "$ref"`
    default:
      return undefined
  }
}

/** Keywords that apply to `null` too, so that a type that admits it is not enough. */
const CLOSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'const', 'if']

/** OpenAPI 3.0 writes `nullable: true`; JSON Schema lists "null" among the types. */
function withNull({ nullable, ...schema }: JsonObject): JsonObject {
  if (nullable === false) return schema
  if (CLOSED.some((keyword) => schema[keyword] !== undefined)) {
    const { title, description, default: preset, $defs, definitions, ...rest } = schema
    const outer = { title, description, default: preset, $defs, definitions }
    for (const key of Object.keys(outer)) if (schema[key] === undefined) delete outer[key as keyof typeof outer]
    return { ...outer, anyOf: [rest, { type: 'null' }] }
  }
  const { type, enum: values } = schema
  const types = Array.isArray(type) ? type : [type]
  return {
    ...schema,
    ...(type !== undefined && !types.includes('null') && { type: [...types, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}

function typeProblem(value: unknown): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  const other = names.find((name) => !TYPES.has(name))
  if (names.length > 0 && other === undefined) return undefined
  const kind = typeof other === 'string' ? other.toLowerCase() : ''
  if (KIND_NAMES.has(kind)) return `it is ${KIND_NAMES.get(kind)}, which JSON cannot hold. ${adviceFor(kind)}`
  return `it must be one of ${[...TYPES].join(', ')}, or a list of them`
}

/** Why a pattern cannot be used; undefined when it can. */
export function patternProblem(pattern: string): string | undefined {
  const shown = JSON.stringify(clip(pattern, 200))
  if (!isRegularExpression(pattern)) return `${shown} is not a regular expression (with the "u" flag)`
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    if (!(error instanceof UnsupportedPatternError)) throw error
    return `the pattern ${shown} ${error.message}, so it cannot be matched in bounded time; write it without, or check the value in the tool`
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

// z.int() writes these; they say nothing and cost tokens in every request.
function isSafeIntegerBound(node: JsonObject, keyword: string): boolean {
  if (node.type !== 'integer') return false
  return (
    (keyword === 'minimum' && node.minimum === Number.MIN_SAFE_INTEGER) ||
    (keyword === 'maximum' && node.maximum === Number.MAX_SAFE_INTEGER)
  )
}
