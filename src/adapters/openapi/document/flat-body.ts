// A body whose fields are arguments of their own. Models fill flat arguments in more reliably than an object in an object.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { RequestBody } from '../operation.ts'
import { isPlainArgumentName } from './argument-names.ts'
import { describe } from './parameters.ts'
import type { Fragment } from './schema/fragment.ts'

/** The fields of a body as arguments. */
export interface FlatBody {
  /** The schemas of the fields, by name. */
  readonly properties: JsonObject
  /** The fields that every call has. */
  readonly required: readonly string[]
  /** What the document says about the body as a whole. */
  readonly description: string | undefined
  /** What the schemas of the fields refer to. */
  readonly fragment: Fragment
}

/** Everything that the schema of a flat body may say. Any other keyword is about the fields together. */
const PLAIN = new Set(['type', 'title', 'description', 'deprecated', 'properties', 'required', 'additionalProperties'])

/**
 * The fields of a body that is an object with `properties` and nothing else: no alternatives, no parts, no free members.
 * Undefined for every other body, and for an optional body with required fields: only one argument can say "all or nothing".
 */
export function flattenBody({ isRequired, kind }: RequestBody, given: Fragment): FlatBody | undefined {
  if (kind === 'text' || kind === 'binary') return undefined
  const fragment = followFragment(given)
  const schema = fragment && isRecord(fragment.schema) ? fragment.schema : {}
  const { type = 'object', properties, required = [], additionalProperties = false } = schema
  if (!fragment || type !== 'object' || additionalProperties !== false || !isRecord(properties)) return undefined
  const names = Object.keys(properties)
  if (names.length === 0 || !Object.keys(schema).every((keyword) => PLAIN.has(keyword))) return undefined
  if (!names.every(isPlainArgumentName)) return undefined
  const listed = Array.isArray(required) ? required.map(String) : []
  if (!listed.every((name) => Object.hasOwn(properties, name)) || (listed.length > 0 && !isRequired)) return undefined
  const { description } = describe(schema, isRecord(given.schema) ? given.schema.description : undefined)
  return {
    properties,
    required: listed,
    description: typeof description === 'string' ? description : undefined,
    fragment,
  }
}

/** The fragment itself, or the definition that it is a reference to. */
function followFragment(given: Fragment): Fragment | undefined {
  let fragment = given
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const { $ref, description: _, ...others } = isRecord(fragment.schema) ? fragment.schema : {}
    if ($ref === undefined) return fragment
    const target = [...fragment.references].find(({ name }) => $ref === `#/$defs/${name}`)
    if (!target || target.problem || Object.keys(others).length > 0) return undefined
    fragment = target
  }
  return undefined
}

/** References from one schema to the next. */
const MAX_HOPS = 10
