// Gemini supports a subset of JSON Schema. Unsupported keywords are rewritten to supported ones, or to a weaker schema and
// a sentence in the description. So the model sees every constraint, and the validator enforces the original schema.
import { isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import { appendNotes, describeConstraints, isKnownFormat, quoteJson } from './describe-constraints.ts'
import { enumSchemas } from './enum-schemas.ts'
import { type FlatSchema, flatten, intersect, type SchemaCursor } from './flatten.ts'
import { mergeAlternatives } from './merge-alternatives.ts'
import { numberBounds } from './number-bounds.ts'

/** A schema for Gemini. */
interface GeminiSchema {
  /** The schema in Gemini's subset. */
  readonly schema: JsonObject
  /** Constraints of the whole that the schema does not express, as sentences. */
  readonly notes: string
}

const argumentSchemas: WeakMap<object, GeminiSchema> = new WeakMap()

/** The schema of a function's arguments, which are always an object. Cached for each schema. */
export function argumentsSchema(schema: JsonObject): GeminiSchema {
  let known = argumentSchemas.get(schema)
  if (!known) {
    const cursor = startCursor(schema)
    const { keywords, notes, refs } = mergeAlternatives(flatten(schema, cursor), cursor)
    const { enum: values, ...others } = keywords
    const allNotes = values === undefined ? notes : [...notes, `Must be one of: ${quoteJson(values)}`]
    known = separateNotes(rewrite({ keywords: others, types: ['object'], notes: allNotes, refs }, cursor))
    argumentSchemas.set(schema, known)
  }
  return known
}

const valueSchemas: WeakMap<object, JsonObject> = new WeakMap()

/** The schema of a reply or a result. Cached for each schema. */
export function valueSchema(schema: JsonObject): JsonObject {
  let known = valueSchemas.get(schema)
  if (!known) {
    const cursor = startCursor(schema)
    known = withDescription(rewrite(flatten(schema, cursor), cursor))
    valueSchemas.set(schema, known)
  }
  return known
}

const MAX_NODES = 2_000
const MAX_DEPTH = 40

function startCursor(root: JsonObject): SchemaCursor {
  return { root, open: ['#'], depth: 0, budget: { left: MAX_NODES } }
}

interface RewrittenSchema {
  readonly schema: JsonObject
  readonly description: string | undefined
  readonly notes: readonly string[]
}

// notes on the arguments as a whole go into the description of the function, which models read more reliably
function separateNotes({ schema, description, notes }: RewrittenSchema): GeminiSchema {
  return { schema, notes: [description, ...notes].filter(Boolean).join(' ') }
}

function withDescription({ schema, description, notes }: RewrittenSchema): JsonObject {
  const text = appendNotes(description, notes)
  return text === '' ? schema : { ...schema, description: text }
}

/** Rewrites a nested schema. Undefined for `false`, which no value matches. */
function rewriteNested(raw: unknown, cursor: SchemaCursor): JsonObject | undefined {
  if (raw === false) return undefined
  if (!isRecord(raw)) return {}
  if (cursor.depth >= MAX_DEPTH || --cursor.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...cursor, depth: cursor.depth + 1 }
  return withDescription(rewrite(flatten(raw, below), below))
}

function rewrite(flat: FlatSchema, before: SchemaCursor): RewrittenSchema {
  const cursor = { ...before, open: [...before.open, ...flat.refs] }
  const { keywords, types } = flat
  const description = typeof keywords.description === 'string' ? keywords.description : undefined
  const notes = [...flat.notes]
  const done = (schema: JsonObject): RewrittenSchema => ({ schema, description, notes })
  const alternatives = readAlternatives(flat, notes)
  if (alternatives) {
    const { default: initial, examples, deprecated } = keywords // written once, not for each alternative
    notes.push(...describeConstraints({ default: initial, examples, deprecated }))
    return done(toUnion(alternatives.map((one) => rewriteAlternative(flat, one, cursor))))
  }
  notes.push(...describeConstraints(keywords))
  if (Array.isArray(keywords.enum)) return done(toUnion(enumSchemas(keywords.enum, types, notes)))
  const [only, ...more] = types.filter((type) => type !== 'null')
  if (more.length) return done(toUnion(types.map((type) => rewriteTyped([type], keywords, cursor, notes))))
  return done(
    rewriteTyped(
      only === undefined ? types : [only, ...types.filter((type) => type === 'null')],
      keywords,
      cursor,
      notes,
    ),
  )
}

function toUnion(schemas: readonly JsonObject[]): JsonObject {
  return schemas.length === 1 ? (schemas[0] as JsonObject) : { anyOf: schemas }
}

function readAlternatives({ keywords }: FlatSchema, notes: string[]): readonly unknown[] | undefined {
  const { anyOf, oneOf } = keywords
  const lists = [anyOf, oneOf].filter((list) => Array.isArray(list))
  if (Array.isArray(oneOf) && oneOf.length > 1) notes.push('Exactly one of the alternatives must fit.')
  if (lists.length === 2) notes.push(`Must also fit one of: ${quoteJson(oneOf)}`)
  const possible = lists[0]?.filter((one) => one !== false)
  return possible?.length ? possible : undefined
}

/** Rewrites an alternative. Gemini allows no keywords next to `anyOf`, so they are merged into each alternative. */
function rewriteAlternative(flat: FlatSchema, alternative: unknown, cursor: SchemaCursor): JsonObject {
  const shared = { ...flat.keywords }
  for (const keyword of ['anyOf', 'oneOf', 'description', 'default', 'examples', 'deprecated']) delete shared[keyword]
  if (--cursor.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...cursor, depth: cursor.depth + 1 }
  const own = isRecord(alternative) ? flatten(alternative, below) : { keywords: {}, types: [], notes: [], refs: [] }
  const both = intersect({ keywords: shared, types: flat.types, notes: [], refs: [] }, own)
  return cursor.depth >= MAX_DEPTH ? {} : withDescription(rewrite(both, below))
}

function rewriteTyped(
  types: readonly string[],
  keywords: JsonObject,
  cursor: SchemaCursor,
  notes: string[],
): JsonObject {
  const [type = impliedType(keywords)] = types
  const schema: JsonObject = {}
  if (type !== undefined) schema.type = types.length > 1 ? types : type
  if (type === 'string' && isKnownFormat(keywords.format)) schema.format = keywords.format
  if (type === 'number' || type === 'integer' || type === undefined) {
    Object.assign(schema, numberBounds(keywords, type === 'integer', notes))
  }
  if (type === 'array') writeItems(keywords, schema, cursor, notes)
  if (type === 'object') writeProperties(keywords, schema, cursor, notes)
  return schema
}

/** The type of a schema without `type`: an object if it has `properties`, an array if it has `items`. */
function impliedType(keywords: JsonObject): string | undefined {
  const isObject = ['properties', 'required', 'additionalProperties', 'patternProperties'].some(
    (one) => one in keywords,
  )
  const isArray = ['items', 'prefixItems', 'minItems', 'maxItems'].some((one) => one in keywords)
  return isObject === isArray ? undefined : isObject ? 'object' : 'array'
}

function writeItems(keywords: JsonObject, schema: JsonObject, cursor: SchemaCursor, notes: string[]): void {
  const isTuple = Array.isArray(keywords.items) // before draft 2020-12
  const prefix = isTuple ? keywords.items : keywords.prefixItems
  const rest = isTuple ? keywords.additionalItems : keywords.items
  const first = Array.isArray(prefix) ? prefix : []
  if (first.length) schema.prefixItems = first.map((one) => rewriteNested(one, cursor) ?? {})
  if (isRecord(rest)) schema.items = rewriteNested(rest, cursor) ?? {}
  for (const keyword of ['minItems', 'maxItems']) {
    if (typeof keywords[keyword] === 'number') schema[keyword] = keywords[keyword]
  }
  if (rest !== false) return
  schema.maxItems = Math.min(first.length, Number(schema.maxItems ?? first.length))
  notes.push(`No more than ${first.length} items.`)
}

function writeProperties(keywords: JsonObject, schema: JsonObject, cursor: SchemaCursor, notes: string[]): void {
  const given = isRecord(keywords.properties) ? keywords.properties : {}
  const properties: JsonObject = {}
  for (const name of Object.keys(given)) {
    const property = rewriteNested(given[name], cursor)
    if (property) setOwn(properties, name, property)
    else notes.push(`Do not send "${name}".`)
  }
  const others = additionalSchema(keywords, cursor)
  const required = Array.isArray(keywords.required) ? keywords.required.filter((name) => typeof name === 'string') : []
  for (const name of required) {
    if (!Object.hasOwn(given, name)) setOwn(properties, name, isRecord(others) ? others : {})
  }
  const named = required.filter((name) => Object.hasOwn(properties, name))
  if (Object.keys(properties).length) schema.properties = properties
  if (named.length) schema.required = [...new Set(named)]
  if (others !== undefined) schema.additionalProperties = others
}

/** The `additionalProperties` for Gemini, which has no `patternProperties`. */
function additionalSchema({ additionalProperties, patternProperties }: JsonObject, cursor: SchemaCursor): unknown {
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : []
  if (patterns.length === 0)
    return isRecord(additionalProperties) ? rewriteNested(additionalProperties, cursor) : additionalProperties
  if (additionalProperties !== false) return undefined
  return toUnion(patterns.map((one) => rewriteNested(one, cursor) ?? {}))
}
