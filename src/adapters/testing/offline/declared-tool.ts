// Tools of a request, with the words that point to them. Schemas are untrusted: references may be circular.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { labelOf, stemsOf } from './words.ts'

/** A parameter of a tool. */
export interface Parameter {
  /** Name in the schema. */
  readonly name: string
  /** Its schema, with references followed. */
  readonly schema: JsonObject
  /** It is required and has no default. */
  readonly isRequired: boolean
}

/** A tool of the request, or an agent that can take over. */
export interface DeclaredTool {
  /** Name of the tool or agent. */
  readonly name: string
  /** Its description. */
  readonly description: string
  /** Its parameters. */
  readonly parameters: readonly Parameter[]
  /** How strongly a word points to this tool. */
  readonly weights: ReadonlyMap<string, number>
}

const MAX_PARAMETERS = 60
const MAX_CHOICES = 50
const MAX_HOPS = 16

/** Reads a declaration. */
export function toDeclaredTool(declaration: { readonly name: string; readonly [key: string]: unknown }): DeclaredTool {
  const { name } = declaration
  const description = toPlainText(declaration.description)
  const parameters = parametersOf(recordOf(declaration.parametersJsonSchema))
  const weights = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of stemsOf(text)) weights.set(word, Math.max(weight, weights.get(word) ?? 0))
  }
  for (const { name, schema } of parameters) {
    add(labelOf(name), 1)
    for (const choice of choicesOf(schema)) add(labelOf(toPlainText(choice)), 2)
  }
  add(description, 1)
  add(labelOf(name), 3)
  return { name, description, parameters, weights }
}

/** The parameters of an object schema. */
function parametersOf(root: JsonObject): Parameter[] {
  const { properties, required } = resolveSchema(root, root)
  const names = new Set(Array.isArray(required) ? required : [])
  return Object.entries(recordOf(properties))
    .slice(0, MAX_PARAMETERS)
    .map(([name, raw]) => {
      const schema = resolveSchema(raw, root)
      return { name, schema, isRequired: names.has(name) && schema.default === undefined }
    })
}

/** How well the words fit the tool. */
export function scoreOf({ weights }: DeclaredTool, words: Iterable<string>): number {
  return [...new Set(words)].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
}

/** Values of `enum` or `const`. */
export function choicesOf(schema: JsonObject): readonly unknown[] {
  return Array.isArray(schema.enum) ? schema.enum.slice(0, MAX_CHOICES) : 'const' in schema ? [schema.const] : []
}

/** The type that a schema names or implies. */
export function typeOf({ type, properties }: JsonObject): unknown {
  return (Array.isArray(type) ? type.find((one) => one !== 'null') : type) ?? (properties ? 'object' : undefined)
}

/** Follows references, and takes the first alternative that is not null. */
export function resolveSchema(schema: unknown, root: JsonObject): JsonObject {
  let at = recordOf(schema)
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const { $ref, anyOf, oneOf = anyOf, ...rest } = at
    if (typeof $ref === 'string') at = { ...recordOf(pointedAt($ref, root)), ...rest }
    else if (Array.isArray(oneOf)) at = { ...oneOf.find((one) => isRecord(one) && one.type !== 'null'), ...rest }
    else return at
  }
  return {}
}

function pointedAt($ref: string, root: JsonObject): unknown {
  const keys = $ref.split('/').slice(1, 20)
  return keys.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), root)
}

/** A string or number as text; empty for any other value. */
export const toPlainText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 2_000) : typeof value === 'number' ? String(value) : ''

/** The value if it is a record, else an empty record. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {})
