// A JSON Schema made ready for validation: references resolved, patterns compiled, keywords sorted by what they apply to.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { compilePattern, type Pattern } from '../pattern/compile-pattern.ts'
import { patternProblem } from './check-schema.ts'
import { formatCheck } from './formats.ts'
import { identityOf } from './identity.ts'
import { failSchema, findAddresses, resolveReference, type SchemaAddresses } from './references.ts'

/** One schema of a document. `schema` is for messages. */
export interface SchemaNode {
  readonly schema: JsonObject
  /** The schema `false`. */
  isNever: boolean
  /** What it costs to apply it, without what it applies to parts: a long list of names costs more than none. */
  cost: number
  ref?: SchemaNode
  /** Bits of `KINDS`; undefined accepts every type. */
  types?: number
  choices?: Choices
  not?: SchemaNode
  anyOf?: readonly SchemaNode[]
  allOf?: readonly SchemaNode[]
  oneOf?: readonly SchemaNode[]
  if?: SchemaNode
  then?: SchemaNode
  else?: SchemaNode
  object?: ObjectRules
  array?: ArrayRules
  number?: NumberRules
  string?: StringRules
}

export interface Choices {
  readonly keyword: 'const' | 'enum'
  readonly simple: ReadonlySet<unknown>
  /** Objects and lists, as text. */
  readonly compound: ReadonlySet<string>
}

export interface ObjectRules {
  readonly required: readonly string[]
  readonly minProperties: number
  readonly maxProperties: number
  readonly names?: SchemaNode
  readonly dependentRequired: readonly (readonly [key: string, names: readonly string[], keyword: string])[]
  readonly dependentSchemas: readonly (readonly [key: string, node: SchemaNode, keyword: string])[]
  readonly properties: readonly (readonly [key: string, node: SchemaNode])[]
  readonly known: ReadonlySet<string>
  readonly patterns: readonly (readonly [pattern: Pattern, node: SchemaNode, source: string])[]
  readonly additional?: SchemaNode
  readonly unevaluated?: SchemaNode
  /** Some keyword looks at every key of the value. */
  readonly readsKeys: boolean
}

export interface ArrayRules {
  readonly minItems: number
  readonly maxItems: number
  readonly first: readonly SchemaNode[]
  readonly firstKeyword: string
  readonly rest?: SchemaNode
  readonly restKeyword: string
  readonly contains?: SchemaNode
  readonly minContains: number
  readonly maxContains: number
  readonly unevaluated?: SchemaNode
  readonly unique: boolean
}

export interface NumberRules {
  readonly minimum: number
  readonly maximum: number
  readonly exclusiveMinimum: number
  readonly exclusiveMaximum: number
  readonly multipleOf?: number
}

export interface StringRules {
  readonly minLength: number
  readonly maxLength: number
  readonly pattern?: Pattern
  readonly format?: (text: string) => boolean
}

/** The types of JSON Schema as bits; an integer is a number too. */
export const TYPE_BITS = { null: 1, boolean: 2, string: 4, array: 8, object: 16, number: 32, integer: 64 } as const

/** Resolves and compiles a checked schema, or throws INVALID_CONFIG. `lenient` leaves out patterns that cannot be used. */
export function compileNodes(schema: JsonObject, { what, lenient }: { what: string; lenient: boolean }): SchemaNode {
  const document: SchemaDocument = {
    ...findAddresses(schema, { what, lenient }),
    nodes: new Map(),
    unready: [],
    steps: 0,
  }
  const root = nodeOf(document, schema)
  for (let next = document.unready.pop(); next; next = document.unready.pop()) fill(document, next)
  requireProgress(document)
  return root
}

interface SchemaDocument extends SchemaAddresses {
  readonly nodes: Map<unknown, SchemaNode>
  readonly unready: SchemaNode[]
  /** Of all patterns. */
  steps: number
}

function nodeOf(document: SchemaDocument, schema: unknown): SchemaNode {
  let node = document.nodes.get(schema)
  if (node) return node
  node = { schema: isRecord(schema) ? schema : {}, isNever: schema === false, cost: 1 }
  document.nodes.set(schema, node)
  if (isRecord(schema)) document.unready.push(node)
  return node
}

function fill(document: SchemaDocument, node: SchemaNode): void {
  const { schema } = node
  const one = (keyword: string): SchemaNode | undefined =>
    schema[keyword] === undefined ? undefined : nodeOf(document, schema[keyword])
  const list = (keyword: string): readonly SchemaNode[] | undefined =>
    Array.isArray(schema[keyword]) ? schema[keyword].map((part) => nodeOf(document, part)) : undefined
  const set = <K extends keyof SchemaNode>(key: K, value: SchemaNode[K] | undefined): void => {
    if (value !== undefined) node[key] = value
  }
  if (typeof schema.$ref === 'string') node.ref = nodeOf(document, resolveReference(document, schema, schema.$ref))
  if (schema.type !== undefined) node.types = [schema.type].flat().reduce<number>((bits, type) => bits | bitOf(type), 0)
  set('choices', choicesOf(schema))
  set('not', one('not'))
  set('anyOf', list('anyOf'))
  set('allOf', list('allOf'))
  set('oneOf', list('oneOf'))
  set('if', one('if'))
  set('then', one('then'))
  set('else', one('else'))
  set('object', objectRules(document, schema, one))
  set('array', arrayRules(schema, one, list))
  set('number', numberRules(schema))
  set('string', stringRules(document, schema))
  const { object } = node
  if (!object) return
  const named = object.required.length + object.dependentRequired.reduce((sum, [, names]) => sum + names.length, 0)
  node.cost += (named + object.properties.length + object.dependentSchemas.length) >> 2
}

function bitOf(type: unknown): number {
  return TYPE_BITS[type as keyof typeof TYPE_BITS] ?? 0
}

function choicesOf(schema: JsonObject): Choices | undefined {
  const keyword = schema.const !== undefined ? 'const' : schema.enum !== undefined ? 'enum' : undefined
  if (!keyword) return undefined
  const simple = new Set<unknown>()
  const compound = new Set<string>()
  const free = { left: Number.POSITIVE_INFINITY }
  // A value that is both constant and listed must be both.
  const listed = Array.isArray(schema.enum) ? schema.enum : undefined
  const values = keyword === 'enum' ? (listed ?? []) : [schema.const]
  for (const value of values) {
    if (typeof value === 'object' && value !== null) compound.add(identityOf(value, free))
    else simple.add(value)
  }
  if (keyword === 'const' && listed) {
    const isListed = (text: string): boolean => listed.some((value) => identityOf(value, free) === text)
    if (!isListed(identityOf(schema.const, free))) return { keyword, simple: new Set(), compound: new Set() }
  }
  return { keyword, simple, compound }
}

type One = (keyword: string) => SchemaNode | undefined

const OBJECT_WORDS =
  'required minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies properties patternProperties additionalProperties unevaluatedProperties'.split(
    ' ',
  )

const KEY_WORDS =
  'minProperties maxProperties propertyNames patternProperties additionalProperties unevaluatedProperties'.split(' ')

function objectRules(document: SchemaDocument, schema: JsonObject, one: One): ObjectRules | undefined {
  if (!has(schema, OBJECT_WORDS)) return undefined
  const dependencies = entriesOf(schema.dependencies)
  const properties = entriesOf(schema.properties).map(([key, part]) => [key, nodeOf(document, part)] as const)
  const names = one('propertyNames')
  const additional = one('additionalProperties')
  const unevaluated = one('unevaluatedProperties')
  return {
    required: Array.isArray(schema.required) ? schema.required : [],
    minProperties: numberOf(schema.minProperties, 0),
    maxProperties: numberOf(schema.maxProperties, Number.POSITIVE_INFINITY),
    ...(names && { names }),
    dependentRequired: [
      ...entriesOf(schema.dependentRequired).map(
        ([key, list]) => [key, list as string[], 'dependentRequired'] as const,
      ),
      ...dependencies.flatMap(([key, list]) =>
        Array.isArray(list) ? [[key, list as string[], 'dependencies'] as const] : [],
      ),
    ],
    dependentSchemas: [
      ...entriesOf(schema.dependentSchemas).map(
        ([key, part]) => [key, nodeOf(document, part), 'dependentSchemas'] as const,
      ),
      ...dependencies.flatMap(([key, part]) =>
        Array.isArray(part) ? [] : [[key, nodeOf(document, part), 'dependencies'] as const],
      ),
    ],
    properties,
    known: new Set(properties.map(([key]) => key)),
    patterns: entriesOf(schema.patternProperties).map(([source, part]) => {
      const pattern = patternOf(document, source)
      return [pattern ?? ANY_KEY, nodeOf(document, pattern ? part : true), source] as const
    }),
    ...(additional && { additional }),
    ...(unevaluated && { unevaluated }),
    readsKeys: has(schema, KEY_WORDS),
  }
}

const ARRAY_WORDS = 'minItems maxItems prefixItems items contains unevaluatedItems uniqueItems'.split(' ')

function arrayRules(
  schema: JsonObject,
  one: One,
  list: (keyword: string) => readonly SchemaNode[] | undefined,
): ArrayRules | undefined {
  if (!has(schema, ARRAY_WORDS)) return undefined
  // Draft 7 has a list in "items" and the others in "additionalItems".
  const listed = list('items')
  const rest = listed ? one('additionalItems') : one('items')
  const prefix = list('prefixItems')
  const contains = one('contains')
  const unevaluated = one('unevaluatedItems')
  return {
    minItems: numberOf(schema.minItems, 0),
    maxItems: numberOf(schema.maxItems, Number.POSITIVE_INFINITY),
    first: [...(prefix ?? []), ...(listed ?? []).slice(prefix?.length ?? 0)],
    firstKeyword: prefix ? 'prefixItems' : 'items',
    ...(rest && { rest }),
    restKeyword: listed ? 'additionalItems' : 'items',
    ...(contains && { contains }),
    minContains: numberOf(schema.minContains, 1),
    maxContains: numberOf(schema.maxContains, Number.POSITIVE_INFINITY),
    ...(unevaluated && { unevaluated }),
    unique: schema.uniqueItems === true,
  }
}

const NUMBER_WORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function numberRules(schema: JsonObject): NumberRules | undefined {
  if (!has(schema, NUMBER_WORDS)) return undefined
  return {
    minimum: numberOf(schema.minimum, Number.NEGATIVE_INFINITY),
    maximum: numberOf(schema.maximum, Number.POSITIVE_INFINITY),
    exclusiveMinimum: numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY),
    exclusiveMaximum: numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY),
    ...(typeof schema.multipleOf === 'number' && { multipleOf: schema.multipleOf }),
  }
}

function stringRules(document: SchemaDocument, schema: JsonObject): StringRules | undefined {
  const format = typeof schema.format === 'string' ? formatCheck(schema.format) : undefined
  if (!format && !has(schema, ['minLength', 'maxLength', 'pattern'])) return undefined
  const pattern = typeof schema.pattern === 'string' ? patternOf(document, schema.pattern) : undefined
  return {
    minLength: numberOf(schema.minLength, 0),
    maxLength: numberOf(schema.maxLength, Number.POSITIVE_INFINITY),
    ...(pattern && { pattern }),
    ...(format && { format }),
  }
}

/** Stands for a pattern that was left out. */
const ANY_KEY: Pattern = { test: () => true, size: 0 }

/** Of all patterns of one schema together. */
const MAX_PATTERN_STEPS = 50_000

function patternOf(document: SchemaDocument, source: string): Pattern | undefined {
  if (document.lenient && patternProblem(source)) return undefined
  const pattern = compilePattern(source)
  document.steps += pattern.size
  if (document.steps > MAX_PATTERN_STEPS)
    failSchema(document, 'its patterns are too large together; use shorter repetitions.')
  return pattern
}

function has(schema: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => schema[keyword] !== undefined)
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : []
}

/** How many schemas may apply to one and the same value, one through the other. */
const MAX_CHAIN = 300

/** References must lead into the value: one that comes back to the same place would never end. */
function requireProgress(document: SchemaDocument): void {
  const lengths = new Map<SchemaNode, number>()
  const open = new Set<SchemaNode>()
  const chainOf = (node: SchemaNode): number => {
    const known = lengths.get(node)
    if (known !== undefined) return known
    if (open.has(node)) failSchema(document, '"$ref": a reference leads back to itself without going into the value.')
    if (open.size > MAX_CHAIN)
      failSchema(document, `more than ${MAX_CHAIN} schemas apply to one value, one through the other.`)
    open.add(node)
    let longest = 0
    for (const part of samePlace(node)) longest = Math.max(longest, chainOf(part))
    open.delete(node)
    if (longest >= MAX_CHAIN)
      failSchema(document, `more than ${MAX_CHAIN} schemas apply to one value, one through the other.`)
    lengths.set(node, longest + 1)
    return longest + 1
  }
  for (const node of document.nodes.values()) chainOf(node)
}

/** The schemas that apply to the value a schema applies to. */
function* samePlace(node: SchemaNode): Iterable<SchemaNode> {
  for (const part of [node.ref, node.not, node.if, node.then, node.else]) if (part) yield part
  for (const parts of [node.allOf, node.anyOf, node.oneOf]) if (parts) yield* parts
  for (const [, part] of node.object?.dependentSchemas ?? []) yield part
}
