// From a Standard Schema to the JSON Schema a model is told. What JSON cannot hold is refused, with its place.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord, type JsonObject } from '../base/json.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'

/** The `~standard` member of a schema. */
export type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>

/** The JSON Schema of what the schema accepts, or throws INVALID_CONFIG. `what` names the owner of the schema. */
export function convert(standard: Standard, what: string): unknown {
  const { vendor, jsonSchema } = standard
  if (typeof jsonSchema?.input !== 'function') throw withoutJsonSchema(standard, what)
  let found: unknown
  try {
    found = jsonSchema.input({ target: 'draft-2020-12', libraryOptions: libraryOptions(vendor) })
  } catch (error) {
    const problem = vendor === 'zod' ? locate(standard, what) : undefined
    throw problem ?? notConvertible(what, `its schema cannot be written as JSON Schema: ${messageOf(error)}`, error)
  }
  const problem = findMark(found, vendor, what)
  if (problem) throw problem
  return found
}

/** Zod throws without saying where: a second conversion finds the place. */
function locate({ jsonSchema, vendor }: Standard, what: string): ToolwrightError | undefined {
  try {
    const options = { ...libraryOptions(vendor), unrepresentable: 'any' }
    return findMark(jsonSchema?.input({ target: 'draft-2020-12', libraryOptions: options }), vendor, what)
  } catch {
    return undefined
  }
}

/** Stands in a converted schema where JSON cannot hold the value; its text is the kind of the value. */
const MARK = '~unsupported'

/** Makes each library mark what JSON cannot hold, and leave out custom checks: they run when a value is parsed. */
function libraryOptions(vendor: string): Record<string, unknown> | undefined {
  switch (vendor) {
    case 'zod':
      return { override: markZod }
    case 'valibot':
      return { ignoreActions: ['check', 'raw_check', 'partial_check'], overrideSchema: markValibot }
    case 'arktype':
      return { fallback: { date: markArkType, domain: markArkType, proto: markArkType, unit: markArkType } }
    default:
      return undefined
  }
}

function markZod({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: JsonObject }): void {
  const inner = isRecord(zodSchema) ? zodSchema._zod : undefined
  const def = isRecord(inner) && isRecord(inner.def) ? inner.def : undefined
  if (!def || jsonSchema.$ref !== undefined) return
  const { type, values } = def
  if (type === 'literal' && Array.isArray(values)) {
    const value: unknown = values.find((one) => one === undefined || typeof one === 'bigint')
    if (values.includes(value) && (value === undefined || typeof value === 'bigint')) jsonSchema[MARK] = typeof value
  } else if (typeof type === 'string' && NOUNS.has(type)) {
    // An empty schema is what Zod writes for these; anything else was written by the developer.
    if (type === 'file' || Object.keys(jsonSchema).every((keyword) => keyword === 'description'))
      jsonSchema[MARK] = type
  }
}

function markValibot({ valibotSchema, errors }: { valibotSchema?: unknown; errors?: unknown }): JsonObject | undefined {
  const type = isRecord(valibotSchema) ? valibotSchema.type : undefined
  return errors && typeof type === 'string' && NOUNS.has(type) ? { [MARK]: type } : undefined
}

function markArkType({ code, base, domain, proto, unit }: { [field: string]: unknown }): JsonObject {
  const kind = code === 'date' ? 'date' : code === 'domain' ? domain : code === 'unit' ? typeof unit : 'instance'
  const known = typeof proto === 'function' ? proto.name.toLowerCase() : String(kind)
  return { ...(base as JsonObject), [MARK]: NOUNS.has(known) ? known : String(kind) }
}

/** What the kinds are called in messages. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['date', 'a Date'],
  ['bigint', 'a bigint'],
  ['symbol', 'a symbol'],
  ['function', 'a function'],
  ['map', 'a Map'],
  ['set', 'a Set'],
  ['undefined', 'undefined'],
  ['void', 'undefined'],
  ['nan', 'NaN'],
  ['promise', 'a promise'],
  ['file', 'a File'],
  ['blob', 'a Blob'],
  ['instance', 'an instance of a class'],
  ['custom', 'a value of a custom type'],
  ['transform', 'a value of any type (a transform by itself)'],
])

const CURES: ReadonlyMap<string, string> = new Map([
  ['bigint', 'Use a string or an integer, and convert it in run.'],
  ['map', 'Use a record.'],
  ['set', 'Use an array.'],
  ['undefined', 'Leave the property out, or make it optional.'],
  ['void', 'Leave it out.'],
  ['transform', 'Put the schema of what the model sends before it: z.string().transform(...).'],
])

const DATE_CURES: ReadonlyMap<string, string> = new Map([
  ['zod', 'Use z.iso.datetime() and convert it in run, or z.iso.datetime().pipe(z.coerce.date()).'],
  ['valibot', 'Use v.pipe(v.string(), v.isoTimestamp()), followed by v.transform((text) => new Date(text)) or not.'],
  ['arktype', 'Use "string.date.iso", or "string.date.iso.parse" to get a Date.'],
])

/** The cure for a value that JSON cannot hold. */
export function cureFor(kind: string, vendor = ''): string {
  if (kind === 'date') return DATE_CURES.get(vendor) ?? 'Use a string of format "date-time", and convert it in run.'
  return CURES.get(kind) ?? 'Describe it as JSON (string, number, object, array), and convert it in run.'
}

/** Finds the first mark. A branch that only allows `undefined` is dropped from its union: nothing can send it. */
function findMark(schema: unknown, vendor: string, what: string, path = ''): ToolwrightError | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const record = schema as JsonObject
  const kind = record[MARK]
  if (typeof kind === 'string') {
    const place = path === '' ? 'its schema' : `"${path}" in its schema`
    return notConvertible(
      what,
      `${place} is ${NOUNS.get(kind) ?? kind}, which JSON cannot hold. ${cureFor(kind, vendor)}`,
    )
  }
  if (Array.isArray(record.anyOf)) {
    const sent = record.anyOf.filter((branch) => !isRecord(branch) || branch[MARK] !== 'undefined')
    if (sent.length > 0) record.anyOf = sent
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

function withoutJsonSchema({ vendor }: Standard, what: string): ToolwrightError {
  const cure =
    vendor === 'valibot'
      ? 'Wrap it: toStandardJsonSchema(schema) from "@valibot/to-json-schema".'
      : vendor === 'zod'
        ? ZOD_CURE
        : 'Use a version of the library that implements Standard JSON Schema, or pass plain JSON Schema.'
  return new ToolwrightError('INVALID_CONFIG', `${what}: its schema cannot be shown to a model as JSON Schema. ${cure}`)
}

const ZOD_CURE =
  'Schemas of Zod 3, of "zod/mini" and of Zod before 4.2 ("zod/v4" in zod@3.25 too) do not carry it. Install Zod 4.2 or newer ' +
  '(npm i zod@latest) and import z from "zod"; or, with Zod 4 or "zod/mini", pass z.toJSONSchema(schema, { io: "input" }).'
