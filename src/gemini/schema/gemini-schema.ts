// Gemini knows a part of JSON Schema. What it does not know is rewritten into what it knows, or into something weaker
// and a sentence in the description: the model is told every constraint, and the validator enforces the original.
import { isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { type Flat, flatten, intersect, type Place } from './flatten.ts'
import { numberBounds } from './number-bounds.ts'
import { oneShape } from './merge-alternatives.ts'
import { oneOfValues } from './enum-schemas.ts'
import { clip, describe, isKnownFormat, wordsOf } from './describe-constraints.ts'

/** A schema in Gemini's part of JSON Schema, and what it could not say about the whole. */
export interface GeminiSchema {
  readonly schema: JsonObject
  readonly words: string
}

const made: WeakMap<object, GeminiSchema> = new WeakMap()

/** The schema of a function's arguments, which are an object whatever the schema says. Made once for each schema. */
export function argumentsSchema(schema: JsonObject): GeminiSchema {
  let known = made.get(schema)
  if (!known) {
    const place = placeOf(schema)
    const { keywords, words, refs } = oneShape(flatten(schema, place), place)
    const { enum: values, ...others } = keywords
    const told = values === undefined ? words : [...words, `Must be one of: ${clip(values)}`]
    known = split(rewrite({ keywords: others, types: ['object'], words: told, refs }, place))
    made.set(schema, known)
  }
  return known
}

const answers: WeakMap<object, JsonObject> = new WeakMap()

/** The schema of anything else: an answer, a result. */
export function valueSchema(schema: JsonObject): JsonObject {
  let known = answers.get(schema)
  if (!known) {
    const place = placeOf(schema)
    known = described(rewrite(flatten(schema, place), place))
    answers.set(schema, known)
  }
  return known
}

const MAX_NODES = 2_000
const MAX_DEPTH = 40

function placeOf(root: JsonObject): Place {
  return { root, open: ['#'], depth: 0, budget: { left: MAX_NODES } }
}

interface Written {
  readonly schema: JsonObject
  readonly description: string | undefined
  readonly words: readonly string[]
}

// what a function says of its arguments as a whole belongs into its own description, which is sure to be read
function split({ schema, description, words }: Written): GeminiSchema {
  return { schema, words: [description, ...words].filter(Boolean).join(' ') }
}

function described({ schema, description, words }: Written): JsonObject {
  const text = describe(description, words)
  return text === '' ? schema : { ...schema, description: text }
}

/** A schema inside another; `false`, which nothing matches, is undefined. */
function inner(raw: unknown, place: Place): JsonObject | undefined {
  if (raw === false) return undefined
  if (!isRecord(raw)) return {}
  if (place.depth >= MAX_DEPTH || --place.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...place, depth: place.depth + 1 }
  return described(rewrite(flatten(raw, below), below))
}

function rewrite(flat: Flat, before: Place): Written {
  const place = { ...before, open: [...before.open, ...flat.refs] }
  const { keywords, types } = flat
  const description = typeof keywords.description === 'string' ? keywords.description : undefined
  const words = [...flat.words]
  const done = (schema: JsonObject): Written => ({ schema, description, words })
  const alternatives = alternativesOf(flat, words)
  if (alternatives) {
    const { default: initial, examples, deprecated } = keywords // said once, of all of them
    words.push(...wordsOf({ default: initial, examples, deprecated }))
    return done(anyOf(alternatives.map((one) => branch(flat, one, place))))
  }
  words.push(...wordsOf(keywords))
  if (Array.isArray(keywords.enum)) return done(anyOf(oneOfValues(keywords.enum, types, words)))
  const [only, ...more] = types.filter((type) => type !== 'null')
  if (more.length) return done(anyOf(types.map((type) => typed([type], keywords, place, words))))
  return done(
    typed(only === undefined ? types : [only, ...types.filter((type) => type === 'null')], keywords, place, words),
  )
}

function anyOf(schemas: readonly JsonObject[]): JsonObject {
  return schemas.length === 1 ? (schemas[0] as JsonObject) : { anyOf: schemas }
}

function alternativesOf({ keywords }: Flat, words: string[]): readonly unknown[] | undefined {
  const { anyOf, oneOf } = keywords
  const lists = [anyOf, oneOf].filter((list) => Array.isArray(list))
  if (Array.isArray(oneOf) && oneOf.length > 1) words.push('Exactly one of the alternatives must fit.')
  if (lists.length === 2) words.push(`Must also fit one of: ${clip(oneOf)}`)
  const possible = lists[0]?.filter((one) => one !== false)
  return possible?.length ? possible : undefined
}

/** Gemini takes nothing beside alternatives, so what stands beside them goes into each. */
function branch(flat: Flat, alternative: unknown, place: Place): JsonObject {
  const beside = { ...flat.keywords }
  for (const keyword of ['anyOf', 'oneOf', 'description', 'default', 'examples', 'deprecated']) delete beside[keyword]
  if (--place.budget.left < 0) return { description: 'Too large to be shown.' }
  const below = { ...place, depth: place.depth + 1 }
  const own = isRecord(alternative) ? flatten(alternative, below) : { keywords: {}, types: [], words: [], refs: [] }
  const both = intersect({ keywords: beside, types: flat.types, words: [], refs: [] }, own)
  return place.depth >= MAX_DEPTH ? {} : described(rewrite(both, below))
}

function typed(types: readonly string[], keywords: JsonObject, place: Place, words: string[]): JsonObject {
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

function writeItems(keywords: JsonObject, schema: JsonObject, place: Place, words: string[]): void {
  const isTuple = Array.isArray(keywords.items) // before draft 2020-12
  const prefix = isTuple ? keywords.items : keywords.prefixItems
  const rest = isTuple ? keywords.additionalItems : keywords.items
  const first = Array.isArray(prefix) ? prefix : []
  if (first.length) schema.prefixItems = first.map((one) => inner(one, place) ?? {})
  if (isRecord(rest)) schema.items = inner(rest, place) ?? {}
  for (const keyword of ['minItems', 'maxItems']) {
    if (typeof keywords[keyword] === 'number') schema[keyword] = keywords[keyword]
  }
  if (rest !== false) return
  schema.maxItems = Math.min(first.length, Number(schema.maxItems ?? first.length))
  words.push(`No more than ${first.length} items.`)
}

function writeProperties(keywords: JsonObject, schema: JsonObject, place: Place, words: string[]): void {
  const given = isRecord(keywords.properties) ? keywords.properties : {}
  const properties: JsonObject = {}
  for (const name of Object.keys(given)) {
    const property = inner(given[name], place)
    if (property) setOwn(properties, name, property)
    else words.push(`"${name}" must not be given.`)
  }
  const others = additional(keywords, place)
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
function additional({ additionalProperties, patternProperties }: JsonObject, place: Place): unknown {
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : []
  if (patterns.length === 0)
    return isRecord(additionalProperties) ? inner(additionalProperties, place) : additionalProperties
  if (additionalProperties !== false) return undefined
  return anyOf(patterns.map((one) => inner(one, place) ?? {}))
}
