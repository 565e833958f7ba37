// Where the schemas of a document are, and what a "$ref" leads to.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { decodePointer, encodePointer } from '../value-path.ts'
import { checkSchema } from './check-schema.ts'

export interface SchemaAddresses {
  /** The base address of every schema. */
  readonly bases: Map<JsonObject, string>
  /** Schemas by `$id` and `$anchor`. */
  readonly named: Map<string, JsonObject>
  /** The owner of the schema, for errors. */
  readonly what: string
  /** Leaves out patterns that cannot be used. */
  readonly lenient: boolean
}

/** Where a schema without `$id` is. */
const BASE = 'schema:/'

/** Finds every schema with an address of its own. */
export function findAddresses(
  schema: JsonObject,
  { what, lenient }: Pick<SchemaAddresses, 'what' | 'lenient'>,
): SchemaAddresses {
  const addresses: SchemaAddresses = { bases: new Map(), named: new Map([[BASE, schema]]), what, lenient }
  register(addresses, schema, BASE)
  return addresses
}

/** Throws INVALID_CONFIG. */
export function failSchema({ what }: SchemaAddresses, problem: string): never {
  throw new ToolwrightError('INVALID_CONFIG', `${what}: the JSON Schema is not valid: ${problem}`)
}

/** What a reference in a schema leads to. */
export function resolveReference(
  addresses: SchemaAddresses,
  schema: JsonObject,
  reference: string,
): JsonObject | boolean {
  const base = addresses.bases.get(schema) ?? BASE
  const address = reference.startsWith('#') ? `${base}${reference}` : addressOf(addresses, reference, base)
  const [resource, fragment] = split(address)
  let target: unknown = addresses.named.get(fragment === '' || fragment.startsWith('/') ? resource : address)
  if (fragment.startsWith('/'))
    for (const part of fragment.split('/').slice(1)) target = member(target, decodePointer(part))
  if (typeof target !== 'boolean' && !isRecord(target))
    return failSchema(
      addresses,
      `"$ref": "${reference}" leads nowhere; only references inside the schema are followed.`,
    )
  // A place that no keyword gives to schemas has not been checked.
  if (isRecord(target) && !addresses.bases.has(target)) {
    checkSchema(target, addresses.what, { patterns: !addresses.lenient })
    register(addresses, target, resource)
  }
  return target
}

/**
 * Makes every "$ref" a pointer from the root and drops "$id" and "$anchor": models and their providers know no other
 * references. Changes the schema, which is a copy of ours.
 */
export function makeReferencesLocal(schema: JsonObject, options: Pick<SchemaAddresses, 'what' | 'lenient'>): void {
  const addresses = findAddresses(schema, options)
  const pointers = new Map<unknown, string>()
  point(schema, '#', pointers)
  const targets = new Map<JsonObject, string>()
  // Resolving adds places that no keyword gives to schemas; a map is walked to its end all the same.
  for (const node of addresses.bases.keys())
    if (typeof node.$ref === 'string') {
      const pointer = pointers.get(resolveReference(addresses, node, node.$ref))
      if (pointer === undefined) return // a boolean schema: it has no place of its own
      targets.set(node, pointer)
    }
  for (const node of addresses.bases.keys()) {
    if (targets.has(node)) node.$ref = targets.get(node)
    delete node.$id
    delete node.$anchor
  }
}

function point(value: unknown, pointer: string, pointers: Map<unknown, string>): void {
  if (typeof value !== 'object' || value === null) return
  pointers.set(value, pointer)
  for (const [key, part] of Object.entries(value)) point(part, `${pointer}/${encodePointer(key)}`, pointers)
}

function register(addresses: SchemaAddresses, schema: unknown, outer: string): void {
  if (!isRecord(schema)) return
  let base = outer
  if (typeof schema.$id === 'string') {
    if (isAmbiguous(addresses, schema))
      failSchema(addresses, `"$ref" beside "$id": draft 7 ignores the "$id" and 2020-12 does not; remove one of them.`)
    const address = addressOf(addresses, schema.$id, outer)
    const [resource, fragment] = split(address)
    if (fragment === '') base = resource
    name(addresses, fragment === '' ? resource : address, schema)
  }
  addresses.bases.set(schema, base)
  if (typeof schema.$anchor === 'string') name(addresses, `${base}#${schema.$anchor}`, schema)
  for (const part of partsOf(schema)) register(addresses, part, base)
}

/** Does a document of draft 7 move the base of a reference where that draft does not? */
function isAmbiguous(addresses: SchemaAddresses, schema: JsonObject): boolean {
  const root = addresses.named.get(BASE)
  return typeof schema.$ref === 'string' && schema !== root && isRecord(root?.definitions) && !isRecord(root?.$defs)
}

function name(addresses: SchemaAddresses, address: string, schema: JsonObject): void {
  const taken = addresses.named.get(address)
  // One schema that is used in two places stands there twice.
  if (taken && taken !== schema && canonicalJson(taken) !== canonicalJson(schema))
    failSchema(
      addresses,
      `two different schemas have the "$id" or "$anchor" "${address.replace(BASE, '')}"; rename one.`,
    )
  if (!taken) addresses.named.set(address, schema)
}

function addressOf(addresses: SchemaAddresses, reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    return failSchema(addresses, `"${reference}" is not an address.`)
  }
}

function split(address: string): [resource: string, fragment: string] {
  const at = address.indexOf('#')
  return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)]
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

function* partsOf(schema: JsonObject): Iterable<unknown> {
  for (const keyword of SINGLE) yield schema[keyword]
  for (const keyword of LISTS) if (Array.isArray(schema[keyword])) yield* schema[keyword]
  for (const keyword of MAPS) if (isRecord(schema[keyword])) yield* Object.values(schema[keyword])
}

const SINGLE =
  'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames not if then else'.split(
    ' ',
  )
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf', 'items']
const MAPS = ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas', 'dependencies']
