// Gemini knows a part of JSON Schema. What it does not know is rewritten into what it knows, or into something weaker
// and a sentence in the description: the model is told every constraint, and the validator enforces the original.
import { isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { type FlatSchema, flatten, intersect, type SchemaCursor } from './flatten.ts'
import { numberBounds } from './number-bounds.ts'
import { mergeAlternatives } from './merge-alternatives.ts'
import { enumSchemas } from './enum-schemas.ts'
import { quoteJson, appendNotes, isKnownFormat, describeConstraints } from './describe-constraints.ts'

/** A schema in Gemini's part of JSON Schema, and what it could not say about the whole. */
export interface GeminiSchema {
  readonly schema: JsonObject
  readonly words: string
}

const argumentSchemas: WeakMap<object, GeminiSchema> = new WeakMap()

/** The schema of a function's arguments, which are an object whatever the schema says. Made once for each schema. */
export function argumentsSchema(schema: JsonObject): GeminiSchema {
  let known = argumentSchemas.get(schema)
  if (!known) {
    const place = startCursor(schema)
    const { keywords, words, refs } = mergeAlternatives(flatten(schema, place), place)
    const { enum: values, ...others } = keywords
    const told = values === undefined ? words : [...words, `Must be one of: ${quoteJson(values)}`]
    known = separateNotes(rewrite({ keywords: others, types: ['object'], words: told, refs }, place))
    argumentSchemas.set(schema, known)
  }
  return known
}

const valueSchemas: WeakMap<object, JsonObject> = new WeakMap()

/** The schema of anything else: an answer, a result. */
export function valueSchema(schema: JsonObject): JsonObject {
  let known = valueSchemas.get(schema)
  if (!known) {
    const place = startCursor(schema)
    known = withDescription(rewrite(flatten(schema, place), place))
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
  readonly words: readonly string[]
}

// what a function says of its arguments as a whole belongs into its own description, which is sure to be read
function separateNotes({ schema, description, words }: RewrittenSchema): GeminiSchema {
  return { schema, words: [description, ...words].filter(Boolean).join(' ') }
}

function withDescription({ schema, description, words }: RewrittenSchema): JsonObject {
  const text = appendNotes(description, words)
  return text === '' ? schema : { ...schema, description: text }
}

/** A schema inside another; `false`, which nothing matches, is undefined. */
function rewriteNested(raw: unknown, place: SchemaCursor): JsonObject | undefined {
  if (raw === false) return undefined
  if (!isRecord(raw)) return {}
  if (place.depth >= MAX_DEPTH || --place.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...place, depth: place.depth + 1 }
  return withDescription(rewrite(flatten(raw, below), below))
}

function rewrite(flat: FlatSchema, before: SchemaCursor): RewrittenSchema {
  const place = { ...before, open: [...before.open, ...flat.refs] }
  const { keywords, types } = flat
  const description = typeof keywords.description === 'string' ? keywords.description : undefined
  const words = [...flat.words]
  const done = (schema: JsonObject): RewrittenSchema => ({ schema, description, words })
  const alternatives = readAlternatives(flat, words)
  if (alternatives) {
    const { default: initial, examples, deprecated } = keywords // said once, of all of them
    words.push(...describeConstraints({ default: initial, examples, deprecated }))
    return done(toUnion(alternatives.map((one) => rewriteAlternative(flat, one, place))))
  }
  words.push(...describeConstraints(keywords))
  if (Array.isArray(keywords.enum)) return done(toUnion(enumSchemas(keywords.enum, types, words)))
  const [only, ...more] = types.filter((type) => type !== 'null')
  if (more.length) return done(toUnion(types.map((type) => rewriteTyped([type], keywords, place, words))))
  return done(
    rewriteTyped(only === undefined ? types : [only, ...types.filter((type) => type === 'null')], keywords, place, words),
  )
}

function toUnion(schemas: readonly JsonObject[]): JsonObject {
  return schemas.length === 1 ? (schemas[0] as JsonObject) : { anyOf: schemas }
}

function readAlternatives({ keywords }: FlatSchema, words: string[]): readonly unknown[] | undefined {
  const { anyOf, oneOf } = keywords
  const lists = [anyOf, oneOf].filter((list) => Array.isArray(list))
  if (Array.isArray(oneOf) && oneOf.length > 1) words.push('Exactly one of the alternatives must fit.')
  if (lists.length === 2) words.push(`Must also fit one of: ${quoteJson(oneOf)}`)
  const possible = lists[0]?.filter((one) => one !== false)
  return possible?.length ? possible : undefined
}

/** Gemini takes nothing beside alternatives, so what stands beside them goes into each. */
function rewriteAlternative(flat: FlatSchema, alternative: unknown, place: SchemaCursor): JsonObject {
  const beside = { ...flat.keywords }
  for (const keyword of ['anyOf', 'oneOf', 'description', 'default', 'examples', 'deprecated']) delete beside[keyword]
  if (--place.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...place, depth: place.depth + 1 }
  const own = isRecord(alternative) ? flatten(alternative, below) : { keywords: {}, types: [], words: [], refs: [] }
  const both = intersect({ keywords: beside, types: flat.types, words: [], refs: [] }, own)
  return place.depth >= MAX_DEPTH ? {} : withDescription(rewrite(both, below))
}

function rewriteTyped(types: readonly string[], keywords: JsonObject, place: SchemaCursor, words: string[]): JsonObject {
  const [type = impliedType(keywords)] = types
  const schema: JsonObject = {}
  if (type !== undefined) schema.type = types.length > 1 ? types : type
  if (type === 'string' && isKnownFormat(keywords.format)) schema.format = keywords.format
  if (type === 'number' || type === 'integer' || type === undefined) {
    Object.assign(schema, numberBounds(keywords, type === 'integer', words))
  }
  if (type === 'array') writeItems(keywords, schema, place, words)
  if (type === 'object') writeProperties(keywords, schema, place, words)
  return schema
}

/** Who writes `properties` and no type means an object. */
function impliedType(keywords: JsonObject): string | undefined {
  const isObject = ['properties', 'required', 'additionalProperties', 'patternProperties'].some(
    (one) => one in keywords,
  )
  const isArray = ['items', 'prefixItems', 'minItems', 'maxItems'].some((one) => one in keywords)
  return isObject === isArray ? undefined : isObject ? 'object' : 'array'
}

function writeItems(keywords: JsonObject, schema: JsonObject, place: SchemaCursor, words: string[]): void {
  const isTuple = Array.isArray(keywords.items) // before draft 2020-12
  const prefix = isTuple ? keywords.items : keywords.prefixItems
  const rest = isTuple ? keywords.additionalItems : keywords.items
  const first = Array.isArray(prefix) ? prefix : []
  if (first.length) schema.prefixItems = first.map((one) => rewriteNested(one, place) ?? {})
  if (isRecord(rest)) schema.items = rewriteNested(rest, place) ?? {}
  for (const keyword of ['minItems', 'maxItems']) {
    if (typeof keywords[keyword] === 'number') schema[keyword] = keywords[keyword]
  }
  if (rest !== false) return
  schema.maxItems = Math.min(first.length, Number(schema.maxItems ?? first.length))
  words.push(`No more than ${first.length} items.`)
}

function writeProperties(keywords: JsonObject, schema: JsonObject, place: SchemaCursor, words: string[]): void {
  const given = isRecord(keywords.properties) ? keywords.properties : {}
  const properties: JsonObject = {}
  for (const name of Object.keys(given)) {
    const property = rewriteNested(given[name], place)
    if (property) setOwn(properties, name, property)
    else words.push(`"${name}" must not be given.`)
  }
  const others = additionalSchema(keywords, place)
  const required = Array.isArray(keywords.required) ? keywords.required.filter((name) => typeof name === 'string') : []
  for (const name of required) {
    if (!Object.hasOwn(given, name)) setOwn(properties, name, isRecord(others) ? others : {})
  }
  const named = required.filter((name) => Object.hasOwn(properties, name))
  if (Object.keys(properties).length) schema.properties = properties
  if (named.length) schema.required = [...new Set(named)]
  if (others !== undefined) schema.additionalProperties = others
}

/** Properties found by a pattern are additional ones to Gemini. */
function additionalSchema({ additionalProperties, patternProperties }: JsonObject, place: SchemaCursor): unknown {
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : []
  if (patterns.length === 0)
    return isRecord(additionalProperties) ? rewriteNested(additionalProperties, place) : additionalProperties
  if (additionalProperties !== false) return undefined
  return toUnion(patterns.map((one) => rewriteNested(one, place) ?? {}))
}
