import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { ToolwrightError } from '../error/error.ts'
import type { ParseResult } from './issues.ts'
import { type CheckedSchema, checkSchema } from './json-schema/check-schema.ts'
import { describesObject } from './json-schema/describes-object.ts'
import { createJsonSchemaParser } from './json-schema/json-schema-parser.ts'
import { makeReferencesLocal } from './json-schema/local-references.ts'
import { isPlainZodObject } from './standard/plain-zod.ts'
import { createStandardParser } from './standard/standard-parser.ts'
import { isOldZod, missingConversion, toJsonSchema } from './standard/to-json-schema.ts'

/** A schema ready for use. */
export interface CompiledSchema {
  /** The JSON Schema that the model gets. */
  readonly jsonSchema: JsonObject
  /** Does it accept objects only? */
  readonly isObject: boolean
  /** Checks a value and applies defaults. A promise only if the schema itself is asynchronous. */
  parse(value: unknown): ParseResult | Promise<ParseResult>
}

const compiled = new WeakMap<object, CompiledSchema>()

/**
 * Compiles a schema, once per schema object. Throws INVALID_CONFIG if the schema cannot be used.
 *
 * @param what Names the owner of the schema in errors, such as `Tool "get_weather"`.
 * @param options `object: true` refuses schemas that accept other values than objects. `lenient: true` leaves out
 * patterns that cannot be used; it is for values that the schema behind the JSON Schema checks again.
 *
 * @example
 * const { jsonSchema, parse } = compileSchema(z.object({ city: z.string() }), 'Tool "get_weather"')
 * parse({ city: 5 }) // { issues: [{ path: 'city', expected: 'string' }] }
 */
export function compileSchema(
  schema: unknown,
  what: string,
  options: { object?: boolean; lenient?: boolean } = {},
): CompiledSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: a schema must be a Standard Schema or a JSON Schema object, got ${kindOf(schema)}.`,
    )
  let ready = compiled.get(schema)
  if (!ready) {
    ready = compile(schema, what, options.lenient === true)
    compiled.set(schema, ready)
  }
  if (options.object && !ready.isObject)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: the parameters must be an object schema (type: "object"), because a model calls a tool with named arguments.`,
    )
  return ready
}

function compile(schema: object, what: string, lenient: boolean): CompiledSchema {
  if (isPlainZodObject(schema)) return new LazySchema(schema, () => checkStandard(schema, what))
  if (!isStandard(schema) && isOldZod(schema)) throw missingConversion(schema, what)
  const ready = isStandard(schema) ? compileStandard(schema, what) : compileJsonSchema(schema, what, lenient)
  return { ...ready, isObject: describesObject(ready.jsonSchema) }
}

function isStandard(schema: object): schema is StandardSchemaV1 {
  const standard = '~standard' in schema ? schema['~standard'] : undefined
  return isRecord(standard) && typeof standard.validate === 'function'
}

type Ready = Pick<CompiledSchema, 'jsonSchema' | 'parse'>

function compileStandard(schema: StandardSchemaV1, what: string): Ready {
  const checked = checkStandard(schema, what)
  return { jsonSchema: checked.jsonSchema, parse: createStandardParser(schema['~standard'], () => checked) }
}

function checkStandard(schema: StandardSchemaV1, what: string): CheckedSchema {
  return checkSchema(toJsonSchema(schema, what), what, { patterns: false })
}

function compileJsonSchema(schema: object, what: string, lenient: boolean): Ready {
  let checked: CheckedSchema = checkSchema(schema, what, { patterns: !lenient })
  const { jsonSchema } = checked
  if (checked.hasAddresses) makeReferencesLocal(jsonSchema, { what, lenient })
  if (jsonSchema.type === undefined && isRecord(jsonSchema.properties))
    checked = { ...checked, jsonSchema: { type: 'object', ...jsonSchema } }
  return { jsonSchema: checked.jsonSchema, parse: createJsonSchemaParser(checked, what, lenient) }
}

/** An object schema that is known to compile without an error. It is converted on its first use. */
class LazySchema implements CompiledSchema {
  readonly isObject = true
  readonly parse: CompiledSchema['parse']
  #check: (() => CheckedSchema) | undefined
  #checked: CheckedSchema | undefined

  constructor(schema: StandardSchemaV1, check: () => CheckedSchema) {
    this.#check = check
    this.parse = createStandardParser(schema['~standard'], () => this.#get())
  }

  get jsonSchema(): JsonObject {
    return this.#get().jsonSchema
  }

  #get(): CheckedSchema {
    if (!this.#checked) {
      this.#checked = (this.#check as () => CheckedSchema)()
      this.#check = undefined
    }
    return this.#checked
  }
}
