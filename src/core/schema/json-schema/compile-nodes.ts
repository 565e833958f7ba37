// Prepares a checked JSON Schema for validation.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { compilePattern, type Pattern } from '../pattern/compile-pattern.ts'
import { checkChains } from './check-chains.ts'
import { findPatternProblem } from './check-keyword.ts'
import {
  arrayRules,
  choicesOf,
  numberRules,
  objectRules,
  type SchemaReader,
  stringRules,
  typeBits,
} from './keyword-rules.ts'
import { failSchema, findAddresses, resolveReference, type SchemaAddresses } from './references.ts'
import type { SchemaNode, Subschema } from './schema-node.ts'

/**
 * Resolves the references and compiles the patterns of a checked schema, or throws INVALID_CONFIG. `lenient` leaves out
 * patterns that cannot be used.
 */
export function compileNodes(schema: JsonObject, { what, lenient }: { what: string; lenient: boolean }): SchemaNode {
  const document: SchemaDocument = {
    ...findAddresses(schema, { what, lenient }),
    nodes: new Map(),
    unfilled: [],
    patternSteps: 0,
  }
  const root = nodeOf(document, schema)
  for (let next = document.unfilled.pop(); next; next = document.unfilled.pop()) fill(document, next)
  checkChains(document.nodes.values(), (problem) => failSchema(document, problem))
  return root
}

interface SchemaDocument extends SchemaAddresses {
  /** The node of each schema. */
  readonly nodes: Map<unknown, SchemaNode>
  /** Nodes whose keywords have not been read yet. */
  readonly unfilled: SchemaNode[]
  /** Steps of all patterns together. */
  patternSteps: number
}

function nodeOf(document: SchemaDocument, schema: unknown): SchemaNode {
  let node = document.nodes.get(schema)
  if (node) return node
  node = { schema: isRecord(schema) ? schema : {}, isNever: schema === false, cost: 1 }
  document.nodes.set(schema, node)
  if (isRecord(schema)) document.unfilled.push(node)
  return node
}

function fill(document: SchemaDocument, node: SchemaNode): void {
  const { schema } = node
  const reader = readerOf(document, schema)
  const set = <K extends keyof SchemaNode>(key: K, value: SchemaNode[K] | undefined): void => {
    if (value !== undefined) node[key] = value
  }
  if (typeof schema.$ref === 'string')
    node.ref = { node: nodeOf(document, resolveReference(document, schema, schema.$ref)), at: ['$ref'] }
  set('types', typeBits(schema))
  set('choices', choicesOf(schema))
  for (const keyword of ['not', 'if', 'then', 'else'] as const) set(keyword, reader.one(keyword))
  for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) set(keyword, reader.list(keyword))
  set('object', objectRules(reader))
  set('array', arrayRules(reader))
  set('number', numberRules(schema))
  set('string', stringRules(reader))
  node.cost += namesIn(node) >> 2
}

/** How many property names the keywords of a schema list. */
function namesIn({ object }: SchemaNode): number {
  if (!object) return 0
  const dependent = object.dependentRequired.reduce((sum, [, names]) => sum + names.length, 0)
  return object.required.length + dependent + object.properties.length + object.dependentSchemas.length
}

function readerOf(document: SchemaDocument, schema: JsonObject): SchemaReader {
  const subschema = (part: unknown, at: readonly string[]): Subschema => ({ node: nodeOf(document, part), at })
  return {
    schema,
    one: (keyword) => (schema[keyword] === undefined ? undefined : subschema(schema[keyword], [keyword])),
    list: (keyword) => {
      const parts = schema[keyword]
      return Array.isArray(parts) ? parts.map((part, i) => subschema(part, [keyword, String(i)])) : undefined
    },
    entries: (keyword) => {
      const parts = schema[keyword]
      if (!isRecord(parts)) return []
      const schemas = Object.entries(parts).filter(([, part]) => !Array.isArray(part))
      return schemas.map(([key, part]) => [key, subschema(part, [keyword, key])] as const)
    },
    patternProperties: () =>
      Object.entries(isRecord(schema.patternProperties) ? schema.patternProperties : {}).map(([source, part]) => {
        const pattern = patternOf(document, source)
        return [pattern ?? ANY_KEY, subschema(pattern ? part : true, ['patternProperties', source])] as const
      }),
    pattern: (source) => patternOf(document, source),
  }
}

/** Stands for a pattern that is left out: it covers every key, with a schema that allows every value. */
const ANY_KEY: Pattern = { test: () => true, size: 0 }

/** Steps of all patterns of one schema together. */
const MAX_PATTERN_STEPS = 50_000

function patternOf(document: SchemaDocument, source: string): Pattern | undefined {
  if (document.lenient && findPatternProblem(source)) return undefined
  const pattern = compilePattern(source)
  document.patternSteps += pattern.size
  if (document.patternSteps > MAX_PATTERN_STEPS)
    failSchema(document, 'its patterns are too large together; use shorter repetitions.')
  return pattern
}
