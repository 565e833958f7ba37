// Checks a JSON Schema that a developer or a library wrote, and copies it for the model.
import { copyJson, isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { countParts } from '../../base/value-size.ts'
import { ToolwrightError } from '../../error/error.ts'
import { adviceFor, findUnsupportedKind } from '../unsupported-values.ts'
import { findKeywordProblem, isStringList } from './check-keyword.ts'
import { SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS } from './keywords.ts'
import { translateNullable } from './nullable.ts'

/** A checked JSON Schema. */
export interface CheckedSchema {
  /** A copy of the schema, without keywords that models do not need. */
  readonly jsonSchema: JsonObject
  /** Does a schema have a "default"? */
  readonly hasDefaults: boolean
  /** Is a property named like a member of every object (`toString`, `constructor`)? */
  readonly hasInheritedNames: boolean
  /** Does a schema have "$id" or "$anchor"? */
  readonly hasAddresses: boolean
  /** Does it have references or patterns? Whether they can be used is known only after compiling. */
  readonly hasLinks: boolean
}

const MAX_LEVELS = 64
const MAX_SCHEMAS = 5_000
const MAX_BYTES = 256_000

/**
 * Checks a JSON Schema, or throws INVALID_CONFIG with the position of the problem. `what` names the owner of the
 * schema. `patterns: false` skips the check of regular expressions and formats.
 */
export function checkSchema(schema: unknown, what: string, options: { patterns: boolean }): CheckedSchema {
  const copier = new SchemaCopier(what, options)
  if (!isRecord(schema)) return copier.fail('#', 'a schema must be an object')
  const jsonSchema = copier.copySchema(schema, '#', 0) as JsonObject
  let bytes = 0
  try {
    bytes = JSON.stringify(jsonSchema).length
  } catch {
    copier.fail('#', 'it cannot be written as JSON')
  }
  if (bytes > MAX_BYTES) copier.fail('#', TOO_LARGE)
  const { hasDefaults, hasInheritedNames, hasAddresses, hasLinks } = copier
  return { jsonSchema, hasDefaults, hasInheritedNames, hasAddresses, hasLinks }
}

const TOO_LARGE = `it is bigger than ${MAX_BYTES / 1000} kB`

const LIBRARY_SCHEMA =
  'it is a schema of a library (Zod, ArkType, ...) inside a plain object. Pass one schema of the library, such as z.object({ city: z.string() }), or write all of it as JSON Schema'

/** Checks and copies in one pass. `at` is the position in the schema, as a JSON pointer. */
class SchemaCopier {
  hasDefaults = false
  hasInheritedNames = false
  hasAddresses = false
  hasLinks = false
  readonly #what: string
  readonly #options: { readonly patterns: boolean }
  /** The schemas that contain the current one. A schema that is already among them contains itself. */
  readonly #open = new Set<object>()
  #schemas = 0
  /** The number of parts in values that are not schemas, such as defaults and enums. */
  #dataParts = 0

  constructor(what: string, options: { readonly patterns: boolean }) {
    this.#what = what
    this.#options = options
  }

  fail(at: string, problem: string): never {
    const end = problem.endsWith('.') ? '' : '.'
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${this.#what}: the JSON Schema at ${at} is not valid: ${problem}${end}`,
    )
  }

  copySchema(schema: unknown, at: string, level: number): unknown {
    if (typeof schema === 'boolean') return schema
    if (level > 0 && isLibrarySchema(schema)) return this.fail(at, LIBRARY_SCHEMA)
    if (!isRecord(schema) || findUnsupportedKind(schema))
      return this.fail(at, 'a schema must be an object or a boolean')
    if (this.#open.has(schema)) return this.fail(at, 'the object contains itself; use "$ref" for a recursive schema')
    if (level > MAX_LEVELS) return this.fail(at, `it is nested deeper than ${MAX_LEVELS} levels`)
    if (++this.#schemas > MAX_SCHEMAS) return this.fail('#', `it has more than ${MAX_SCHEMAS} parts`)
    this.#open.add(schema)
    const copy: JsonObject = {}
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword]
      if (value === undefined || keyword === '$schema' || isSafeIntegerBound(schema, keyword)) continue
      setOwn(copy, keyword, this.#copyKeyword(keyword, value, `${at}/${keyword}`, level))
    }
    this.#open.delete(schema)
    return copy.nullable === undefined ? copy : translateNullable(copy)
  }

  #copyKeyword(keyword: string, value: unknown, at: string, level: number): unknown {
    if (isLibrarySchema(value)) this.fail(at, LIBRARY_SCHEMA)
    const problem = findKeywordProblem(keyword, value, this.#options)
    if (problem) this.fail(at, problem)
    if (keyword === 'default') this.hasDefaults = true
    else if (keyword === '$id' || keyword === '$anchor') this.hasAddresses = true
    else if (keyword === '$ref' || keyword === 'pattern' || keyword === 'patternProperties') this.hasLinks = true
    if (SCHEMA_MAP_KEYWORDS.has(keyword)) return this.#copyMap(keyword, value as JsonObject, at, level)
    if (SCHEMA_KEYWORDS.has(keyword) && !Array.isArray(value)) return this.copySchema(value, at, level + 1)
    if (SCHEMA_LIST_KEYWORDS.has(keyword))
      return (value as unknown[]).map((part, i) => this.copySchema(part, `${at}/${i}`, level + 1))
    return this.#copyData(value, at)
  }

  #copyMap(keyword: string, schemas: JsonObject, at: string, level: number): JsonObject {
    const copy: JsonObject = {}
    for (const key of Object.keys(schemas)) {
      if (keyword === 'properties' && key in Object.prototype) this.hasInheritedNames = true
      const part = schemas[key]
      const isNames = keyword === 'dependencies' && isStringList(part)
      setOwn(copy, key, isNames ? part : this.copySchema(part, `${at}/${key}`, level + 1))
    }
    return copy
  }

  #copyData(value: unknown, at: string): unknown {
    // Counted before the copy is made: one list that is used in many positions is copied for each position.
    this.#dataParts += countParts(value)
    if (this.#dataParts > MAX_BYTES / 2) return this.fail('#', TOO_LARGE)
    let copy: unknown
    try {
      copy = copyJson(value)
    } catch {
      return this.fail(at, 'the value is nested too deeply or contains itself')
    }
    this.#requireJson(value, at)
    return copy
  }

  #requireJson(value: unknown, at: string): void {
    const kind = findUnsupportedKind(value)
    if (kind) this.fail(at, `it is ${kind.noun}, which JSON cannot hold. ${adviceFor(kind.name)}`)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const [i, item] of value.entries()) this.#requireJson(item, `${at}/${i}`)
    else
      for (const [key, part] of Object.entries(value)) if (part !== undefined) this.#requireJson(part, `${at}/${key}`)
  }
}

function isLibrarySchema(value: unknown): boolean {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value
}

/** Is it a bound of `z.int()`? Such bounds add no information for the model, and cost tokens in every request. */
function isSafeIntegerBound(schema: JsonObject, keyword: string): boolean {
  if (schema.type !== 'integer') return false
  return (
    (keyword === 'minimum' && schema.minimum === Number.MIN_SAFE_INTEGER) ||
    (keyword === 'maximum' && schema.maximum === Number.MAX_SAFE_INTEGER)
  )
}
