// A JSON Schema prepared for validation: references resolved, patterns compiled, keywords grouped by the type of value
// they apply to.
import type { JsonObject } from '../../base/json.ts'
import type { Pattern } from '../pattern/compile-pattern.ts'

/** One schema of a document. Keywords that the schema does not have are undefined. */
export interface SchemaNode {
  /** The schema as written, for messages. */
  readonly schema: JsonObject
  /** Is it the schema `false`, which accepts nothing? */
  isNever: boolean
  /** Work units that applying the schema costs, without its subschemas. */
  cost: number
  /** The target of "$ref". */
  ref?: Subschema
  /** Bits of `TYPE_BITS`; undefined accepts every type. */
  types?: number
  /** The values of "const" or "enum". */
  choices?: Choices
  /** The keyword "not". */
  not?: Subschema
  /** The keyword "anyOf". */
  anyOf?: readonly Subschema[]
  /** The keyword "allOf". */
  allOf?: readonly Subschema[]
  /** The keyword "oneOf". */
  oneOf?: readonly Subschema[]
  /** The keyword "if". */
  if?: Subschema
  /** The keyword "then". */
  then?: Subschema
  /** The keyword "else". */
  else?: Subschema
  /** Keywords that apply to objects. */
  object?: ObjectRules
  /** Keywords that apply to arrays. */
  array?: ArrayRules
  /** Keywords that apply to numbers. */
  number?: NumberRules
  /** Keywords that apply to strings. */
  string?: StringRules
}

/** A schema inside another one. */
export interface Subschema {
  /** The inner schema. */
  readonly node: SchemaNode
  /** The keywords that lead from the outer schema to it, such as `['properties', 'city']`. */
  readonly at: readonly string[]
}

/** The values that "const" or "enum" allows. */
export interface Choices {
  /** The keyword, for messages. */
  readonly keyword: 'const' | 'enum'
  /** Strings, numbers, booleans and null. */
  readonly simple: ReadonlySet<unknown>
  /** Objects and arrays, as `identityOf` writes them. */
  readonly compound: ReadonlySet<string>
}

/** The keywords of a schema that apply to objects. */
export interface ObjectRules {
  /** Names that must be there. */
  readonly required: readonly string[]
  /** The least number of properties. */
  readonly minProperties: number
  /** The largest number of properties. */
  readonly maxProperties: number
  /** The schema of property names. */
  readonly names?: Subschema
  /** If the property `key` is there, `names` must be there too. */
  readonly dependentRequired: readonly (readonly [key: string, names: readonly string[], keyword: string])[]
  /** If the property `key` is there, the schema applies to the whole object. */
  readonly dependentSchemas: readonly (readonly [key: string, schema: Subschema])[]
  /** Schemas by property name. */
  readonly properties: readonly (readonly [key: string, schema: Subschema])[]
  /** The names in `properties`. */
  readonly known: ReadonlySet<string>
  /** Schemas by pattern of the property name. */
  readonly patterns: readonly (readonly [pattern: Pattern, schema: Subschema])[]
  /** The keyword "additionalProperties". */
  readonly additional?: Subschema
  /** The keyword "unevaluatedProperties". */
  readonly unevaluated?: Subschema
  /** Does a keyword look at every key of the value? */
  readonly readsKeys: boolean
}

/** The keywords of a schema that apply to arrays. */
export interface ArrayRules {
  /** The least number of items. */
  readonly minItems: number
  /** The largest number of items. */
  readonly maxItems: number
  /** The schemas of the first items, by position. */
  readonly first: readonly Subschema[]
  /** The schema of all further items. */
  readonly rest?: Subschema
  /** The keyword "contains". */
  readonly contains?: Subschema
  /** The least number of items that fit `contains`. */
  readonly minContains: number
  /** The largest number of items that fit `contains`. */
  readonly maxContains: number
  /** The keyword "unevaluatedItems". */
  readonly unevaluated?: Subschema
  /** Must all items differ? */
  readonly unique: boolean
}

/** The keywords of a schema that apply to numbers. */
export interface NumberRules {
  /** The least value. */
  readonly minimum: number
  /** The largest value. */
  readonly maximum: number
  /** The value must be larger. */
  readonly exclusiveMinimum: number
  /** The value must be smaller. */
  readonly exclusiveMaximum: number
  /** The value must be a multiple. */
  readonly multipleOf?: number
}

/** The keywords of a schema that apply to strings. */
export interface StringRules {
  /** The least number of characters. */
  readonly minLength: number
  /** The largest number of characters. */
  readonly maxLength: number
  /** The keyword "pattern". */
  readonly pattern?: Pattern
  /** Checks the keyword "format". */
  readonly format?: (text: string) => boolean
}

/** The types of JSON Schema as bits. An integer is a number too. */
export const TYPE_BITS = { null: 1, boolean: 2, string: 4, array: 8, object: 16, number: 32, integer: 64 } as const
