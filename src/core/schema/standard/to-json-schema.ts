// Converts a Standard Schema to the JSON Schema that the model gets. Values that JSON cannot hold are refused.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import { adviceFor, KIND_NAMES } from '../unsupported-values.ts'

/** The `~standard` member of a schema. */
type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>

/** The JSON Schema of the values that a schema accepts. Throws INVALID_CONFIG. `what` names the owner of the schema. */
export function toJsonSchema(schema: StandardSchemaV1, what: string): unknown {
  const standard: Standard = schema['~standard']
  const { vendor, jsonSchema } = standard
  if (typeof jsonSchema?.input !== 'function') throw missingConversion(schema, what)
  let found: unknown
  try {
    found = jsonSchema.input({ target: 'draft-2020-12', libraryOptions: libraryOptions(vendor) })
  } catch (error) {
    const problem = vendor === 'zod' ? locateInZod(standard, what) : undefined
    throw problem ?? notConvertible(what, `its schema cannot be written as JSON Schema: ${messageOf(error)}`, error)
  }
  if (vendor !== 'zod') dropUndefined(found)
  const problem = findMark(found, vendor, what)
  if (problem) throw problem
  return found
}

/**
 * Finds the part of the schema that Zod cannot convert. Zod's error does not name it, so a second conversion marks such
 * parts.
 */
function locateInZod({ jsonSchema, vendor }: Standard, what: string): ToolwrightError | undefined {
  try {
    const options = { override: markZod, unrepresentable: 'any' }
    return findMark(jsonSchema?.input({ target: 'draft-2020-12', libraryOptions: options }), vendor, what)
  } catch {
    return undefined
  }
}

/** The key that marks a schema whose values JSON cannot hold. The value under the key is the kind, such as `date`. */
const MARK = '~unsupported'

/**
 * The options that make each library mark such schemas. They also leave out custom checks, which run when a value is
 * parsed.
 */
function libraryOptions(vendor: string): Record<string, unknown> | undefined {
  switch (vendor) {
    case 'zod':
      return { override: markFile }
    case 'valibot':
      return { ignoreActions: ['check', 'raw_check', 'partial_check'], overrideSchema: markValibot }
    case 'arktype':
      return { fallback: { date: markArkType, domain: markArkType, proto: markArkType, unit: markArkType } }
    default:
      return undefined
  }
}

interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: JsonObject; readonly toJSONSchema?: unknown } }
  readonly jsonSchema: JsonObject
}

// Marks files, because Zod converts a File to a string without an error.
function markFile({ zodSchema, jsonSchema }: ZodPart): void {
  if (zodSchema._zod.def.type === 'file') jsonSchema[MARK] = 'file'
}

function markZod({ zodSchema, jsonSchema }: ZodPart): void {
  const { def, toJSONSchema } = zodSchema._zod
  const values = def.type === 'literal' && Array.isArray(def.values) ? def.values : []
  if (values.includes(undefined)) jsonSchema[MARK] = 'undefined'
  else if (values.some((value) => typeof value === 'bigint')) jsonSchema[MARK] = 'bigint'
  else if (typeof def.type === 'string' && KIND_NAMES.has(def.type) && !toJSONSchema) jsonSchema[MARK] = def.type
}

function markValibot({ valibotSchema, errors }: { valibotSchema?: unknown; errors?: unknown }): JsonObject | undefined {
  const type = isRecord(valibotSchema) ? valibotSchema.type : undefined
  return errors && typeof type === 'string' && KIND_NAMES.has(type) ? { [MARK]: type } : undefined
}

function markArkType({ code, base, domain, proto, unit }: { [field: string]: unknown }): JsonObject {
  const kind = code === 'date' ? 'date' : code === 'domain' ? domain : code === 'unit' ? typeof unit : 'instance'
  const known = typeof proto === 'function' ? proto.name.toLowerCase() : String(kind)
  return { ...(base as JsonObject), [MARK]: KIND_NAMES.has(known) ? known : String(kind) }
}

/** Drops the branches of unions that only allow `undefined`, which no model can send. Zod does this itself. */
function dropUndefined(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return
  const record = schema as JsonObject
  if (Array.isArray(record.anyOf)) {
    const sent = record.anyOf.filter((branch) => !isRecord(branch) || branch[MARK] !== 'undefined')
    if (sent.length > 0) record.anyOf = sent
  }
  for (const part of Object.values(record)) dropUndefined(part)
}

/** Returns the error for the first marked schema; undefined if no schema is marked. */
function findMark(schema: unknown, vendor: string, what: string, path = ''): ToolwrightError | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const record = schema as JsonObject
  const kind = record[MARK]
  if (typeof kind === 'string') {
    const position = path === '' ? 'its schema' : `"${path}" in its schema`
    return notConvertible(
      what,
      `${position} is ${KIND_NAMES.get(kind) ?? kind}, which JSON cannot hold. ${adviceFor(kind, vendor)}`,
    )
  }
  for (const key of Object.keys(record)) {
    const part = record[key]
    if (typeof part !== 'object' || part === null) continue
    const isMap = key === 'properties' || key === '$defs' || key === 'definitions'
    for (const [name, inner] of isMap ? Object.entries(part) : [[undefined, part] as const]) {
      const here =
        name === undefined
          ? key === 'items' || key === 'prefixItems'
            ? `${path}[]`
            : path
          : path === ''
            ? name
            : `${path}.${name}`
      const problem = findMark(inner, vendor, what, here)
      if (problem) return problem
    }
  }
  return undefined
}

function notConvertible(what: string, problem: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${what}: ${problem}`, cause === undefined ? undefined : { cause })
}

/** Is it a schema of Zod before 3.24, which is no Standard Schema? */
export function isOldZod(schema: object): boolean {
  const { _def } = schema as JsonObject
  return isRecord(_def) && typeof _def.typeName === 'string' && _def.typeName.startsWith('Zod')
}

/** The error for a schema that has no conversion to JSON Schema. */
export function missingConversion(schema: object, what: string): ToolwrightError {
  const { vendor } = (schema as Partial<StandardSchemaV1>)['~standard'] ?? { vendor: 'zod' }
  const advice =
    vendor === 'valibot'
      ? 'Wrap it: toStandardJsonSchema(schema) from "@valibot/to-json-schema".'
      : vendor === 'zod'
        ? zodAdvice(schema as JsonObject)
        : 'Use a version of the library that implements Standard JSON Schema, or pass plain JSON Schema.'
  return notConvertible(what, `its schema cannot be shown to a model as JSON Schema. ${advice}`)
}

function zodAdvice({ _zod }: JsonObject): string {
  const install = 'Install Zod 4.2 or newer (npm i zod@latest) and import z from "zod"'
  if (!isRecord(_zod)) return `It is a Zod 3 schema, and Zod 3 writes no JSON Schema. ${install}.`
  const { major, minor } = isRecord(_zod.version) ? _zod.version : {}
  if (major === 4 && Number(minor) < 2)
    return `It is a schema of Zod 4.${String(minor)}; Zod converts to JSON Schema since 4.2 ("zod/v4" of zod@3.25 is Zod 4.0). ${install}.`
  return 'Schemas of "zod/mini" do not convert to JSON Schema. Pass z.toJSONSchema(schema), or import z from "zod".'
}
