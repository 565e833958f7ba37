import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord, type JsonObject } from '../base/json.ts'
import { ToolwrightError } from '../error/error.ts'
import { type CheckedSchema, checkSchema } from './check.ts'
import { convert } from './convert.ts'
import { jsonSchemaParser } from './json-schema.ts'
import type { Parsed } from './parsed.ts'
import { decodePointer } from './path.ts'
import { useLocalReferences } from './references.ts'
import { standardParser } from './standard.ts'
import { isPlainZodObject } from './zod.ts'

/** A schema ready for use: what the model is told, and the check of what it sends. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  /** Does it describe objects only? */
  readonly isObject: boolean
  /** Checks a value and applies defaults. A promise only when the schema itself is asynchronous. */
  parse(value: unknown): Parsed | Promise<Parsed>
}

const compiled = new WeakMap<object, CompiledSchema>()

/**
 * Makes a schema ready, once per schema object. `what` names its owner in errors; `object: true` refuses schemas of
 * anything but objects. `lenient: true` leaves out patterns that cannot be used, for a value that is checked again by the
 * schema the JSON Schema was made from.
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
    throw new ToolwrightError('INVALID_CONFIG', `${what}: a schema is a Standard Schema or a JSON Schema object.`)
  let ready = compiled.get(schema)
  if (!ready) {
    ready = isPlainZodObject(schema)
      ? new Compiled(() => fromStandard(schema, what), true)
      : isStandard(schema)
        ? new Compiled(() => fromStandard(schema, what))
        : compileJson(schema, what, options.lenient === true)
    compiled.set(schema, ready)
  }
  if (options.object && !ready.isObject)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: the parameters must be an object schema (type: "object"), because a model calls a tool with named arguments.`,
    )
  return ready
}

function isStandard(schema: object): schema is StandardSchemaV1 {
  const standard = '~standard' in schema ? schema['~standard'] : undefined
  return isRecord(standard) && typeof standard.validate === 'function'
}

/** What is made from a schema: by the first use when the schema is known to be sound, else at once. */
class Compiled implements CompiledSchema {
  #make: (() => Ready) | undefined
  #ready: Ready | undefined
  #isObject: boolean | undefined
  /** Bound: it is passed around by itself. */
  readonly parse: CompiledSchema['parse'] = (value) => (this.#ready ?? this.#get()).parse(value)

  /** `isObject` is given for a schema that can wait. */
  constructor(make: () => Ready, isObject?: boolean) {
    this.#make = make
    this.#isObject = isObject
    if (isObject === undefined) this.#get()
  }

  get jsonSchema(): JsonObject {
    return this.#get().jsonSchema
  }

  get isObject(): boolean {
    this.#isObject ??= describesObject(this.jsonSchema, this.jsonSchema)
    return this.#isObject
  }

  #get(): Ready {
    if (!this.#ready) {
      this.#ready = (this.#make as () => Ready)()
      this.#make = undefined
    }
    return this.#ready
  }
}

type Ready = Pick<CompiledSchema, 'jsonSchema' | 'parse'>

function fromStandard(schema: StandardSchemaV1, what: string): Ready {
  const checked = checkSchema(convert(schema, what), what, { patterns: false })
  return { jsonSchema: checked.jsonSchema, parse: standardParser(schema['~standard'], checked) }
}

function compileJson(schema: object, what: string, lenient: boolean): CompiledSchema {
  let checked: CheckedSchema = checkSchema(schema, what, { patterns: !lenient })
  const { jsonSchema } = checked
  if (checked.hasAddresses) useLocalReferences(jsonSchema, { what, lenient })
  if (jsonSchema.type === undefined && isRecord(jsonSchema.properties))
    checked = { ...checked, jsonSchema: { type: 'object', ...jsonSchema } }
  return new Compiled(() => ({ jsonSchema: checked.jsonSchema, parse: jsonSchemaParser(checked, what, lenient) }))
}

function describesObject(schema: unknown, root: JsonObject, known: Map<unknown, boolean> = new Map()): boolean {
  if (!isRecord(schema)) return false
  const answer = known.get(schema)
  if (answer !== undefined) return answer
  known.set(schema, false)
  const is = (part: unknown) => describesObject(part, root, known)
  const { type, $ref, allOf, anyOf, oneOf } = schema
  const choices = anyOf ?? oneOf
  const found =
    type !== undefined
      ? type === 'object'
      : (typeof $ref === 'string' && is(local(root, $ref))) ||
        (Array.isArray(allOf) && allOf.some(is)) ||
        (Array.isArray(choices) && choices.every(is))
  known.set(schema, found)
  return found
}

function local(root: JsonObject, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  let node: unknown = root
  for (const part of ref.split('/').slice(1)) {
    const key = decodePointer(part)
    if (!isRecord(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}
