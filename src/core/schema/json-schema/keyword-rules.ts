// Groups the keywords of one schema by the type of value they apply to.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { Pattern } from '../pattern/compile-pattern.ts'
import { formatCheck } from './formats.ts'
import { identityOf } from './same-value.ts'
import {
  type ArrayRules,
  type Choices,
  type NumberRules,
  type ObjectRules,
  type StringRules,
  type Subschema,
  TYPE_BITS,
} from './schema-node.ts'

/** One schema, with access to its subschemas and patterns. */
export interface SchemaReader {
  /** The schema itself. */
  readonly schema: JsonObject
  /** The subschema of a keyword. */
  one(keyword: string): Subschema | undefined
  /** The subschemas of a keyword whose value is a list. */
  list(keyword: string): readonly Subschema[] | undefined
  /** The subschemas of a keyword whose value is an object. Lists of names are skipped. */
  entries(keyword: string): (readonly [key: string, schema: Subschema])[]
  /** The keyword "patternProperties". */
  patternProperties(): (readonly [pattern: Pattern, schema: Subschema])[]
  /** A compiled pattern; undefined if the pattern is left out. */
  pattern(source: string): Pattern | undefined
}

/** The bits of the types that "type" lists; undefined if every type is allowed. */
export function typeBits({ type }: JsonObject): number | undefined {
  if (type === undefined) return undefined
  return [type].flat().reduce<number>((bits, one) => bits | (TYPE_BITS[one as keyof typeof TYPE_BITS] ?? 0), 0)
}

/** The values of "const" or "enum". */
export function choicesOf(schema: JsonObject): Choices | undefined {
  const keyword = schema.const !== undefined ? 'const' : schema.enum !== undefined ? 'enum' : undefined
  if (!keyword) return undefined
  const simple = new Set<unknown>()
  const compound = new Set<string>()
  const unlimited = { left: Number.POSITIVE_INFINITY }
  const listed = Array.isArray(schema.enum) ? schema.enum : undefined
  const values = keyword === 'enum' ? (listed ?? []) : [schema.const]
  for (const value of values) {
    if (typeof value === 'object' && value !== null) compound.add(identityOf(value, unlimited))
    else simple.add(value)
  }
  // With both keywords, the constant must also be one of the listed values.
  if (keyword === 'const' && listed) {
    const constant = identityOf(schema.const, unlimited)
    const isListed = listed.some((value) => identityOf(value, unlimited) === constant)
    if (!isListed) return { keyword, simple: new Set(), compound: new Set() }
  }
  return { keyword, simple, compound }
}

/** Keywords that look at every key of an object. */
const KEY_KEYWORDS = [
  'minProperties',
  'maxProperties',
  'propertyNames',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
]

const OBJECT_KEYWORDS = [
  ...KEY_KEYWORDS,
  'required',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'properties',
]

/** The keywords that apply to objects. */
export function objectRules(reader: SchemaReader): ObjectRules | undefined {
  const { schema } = reader
  if (!hasAny(schema, OBJECT_KEYWORDS)) return undefined
  const properties = reader.entries('properties')
  const names = reader.one('propertyNames')
  const additional = reader.one('additionalProperties')
  const unevaluated = reader.one('unevaluatedProperties')
  return {
    required: Array.isArray(schema.required) ? schema.required : [],
    minProperties: numberOf(schema.minProperties, 0),
    maxProperties: numberOf(schema.maxProperties, Number.POSITIVE_INFINITY),
    ...(names && { names }),
    dependentRequired: [...namesByKey(schema, 'dependentRequired'), ...namesByKey(schema, 'dependencies')],
    dependentSchemas: [...reader.entries('dependentSchemas'), ...reader.entries('dependencies')],
    properties,
    known: new Set(properties.map(([key]) => key)),
    patterns: reader.patternProperties(),
    ...(additional && { additional }),
    ...(unevaluated && { unevaluated }),
    readsKeys: hasAny(schema, KEY_KEYWORDS),
  }
}

function namesByKey(schema: JsonObject, keyword: string): (readonly [string, readonly string[], string])[] {
  const value = schema[keyword]
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, names]) => (Array.isArray(names) ? [[key, names, keyword] as const] : []))
}

const ARRAY_KEYWORDS = ['minItems', 'maxItems', 'prefixItems', 'items', 'contains', 'unevaluatedItems', 'uniqueItems']

/** The keywords that apply to arrays. */
export function arrayRules(reader: SchemaReader): ArrayRules | undefined {
  const { schema } = reader
  if (!hasAny(schema, ARRAY_KEYWORDS)) return undefined
  // Draft 7 lists the schemas of the first items in "items" and has the others in "additionalItems".
  const listed = reader.list('items')
  const prefix = reader.list('prefixItems') ?? []
  const rest = listed ? reader.one('additionalItems') : reader.one('items')
  const contains = reader.one('contains')
  const unevaluated = reader.one('unevaluatedItems')
  return {
    minItems: numberOf(schema.minItems, 0),
    maxItems: numberOf(schema.maxItems, Number.POSITIVE_INFINITY),
    first: [...prefix, ...(listed ?? []).slice(prefix.length)],
    ...(rest && { rest }),
    ...(contains && { contains }),
    minContains: numberOf(schema.minContains, 1),
    maxContains: numberOf(schema.maxContains, Number.POSITIVE_INFINITY),
    ...(unevaluated && { unevaluated }),
    unique: schema.uniqueItems === true,
  }
}

const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** The keywords that apply to numbers. */
export function numberRules(schema: JsonObject): NumberRules | undefined {
  if (!hasAny(schema, NUMBER_KEYWORDS)) return undefined
  return {
    minimum: numberOf(schema.minimum, Number.NEGATIVE_INFINITY),
    maximum: numberOf(schema.maximum, Number.POSITIVE_INFINITY),
    exclusiveMinimum: numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY),
    exclusiveMaximum: numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY),
    ...(typeof schema.multipleOf === 'number' && { multipleOf: schema.multipleOf }),
  }
}

/** The keywords that apply to strings. */
export function stringRules({ schema, pattern: compile }: SchemaReader): StringRules | undefined {
  const format = typeof schema.format === 'string' ? formatCheck(schema.format) : undefined
  if (!format && !hasAny(schema, ['minLength', 'maxLength', 'pattern'])) return undefined
  const pattern = typeof schema.pattern === 'string' ? compile(schema.pattern) : undefined
  return {
    minLength: numberOf(schema.minLength, 0),
    maxLength: numberOf(schema.maxLength, Number.POSITIVE_INFINITY),
    ...(pattern && { pattern }),
    ...(format && { format }),
  }
}

function hasAny(schema: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => schema[keyword] !== undefined)
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}
