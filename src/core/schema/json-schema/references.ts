// The addresses of the schemas in a document, and the targets of their references.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { checkSchema } from './check-schema.ts'
import { resolvePointer } from './json-pointer.ts'
import { SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS } from './keywords.ts'

/** The addresses of all schemas in one document. */
export interface SchemaAddresses {
  /** The base address of every schema. */
  readonly bases: Map<JsonObject, string>
  /** Schemas by the address that "$id" and "$anchor" give them. */
  readonly named: Map<string, JsonObject>
  /** The owner of the schema, for errors. */
  readonly what: string
  /** Leaves out patterns that cannot be used. */
  readonly lenient: boolean
}

/** The base address of a schema without "$id". */
const ROOT = 'schema:/'

/** Finds the address of every schema in a document. Throws INVALID_CONFIG if an address is not valid or not unique. */
export function findAddresses(
  schema: JsonObject,
  { what, lenient }: Pick<SchemaAddresses, 'what' | 'lenient'>,
): SchemaAddresses {
  const addresses: SchemaAddresses = { bases: new Map(), named: new Map([[ROOT, schema]]), what, lenient }
  register(addresses, schema, ROOT)
  return addresses
}

/** Throws INVALID_CONFIG for a schema that cannot be used. */
export function failSchema({ what }: SchemaAddresses, problem: string): never {
  throw new ToolwrightError('INVALID_CONFIG', `${what}: the JSON Schema is not valid: ${problem}`)
}

/** The schema that a "$ref" of `schema` points to. Throws INVALID_CONFIG if there is none. */
export function resolveReference(
  addresses: SchemaAddresses,
  schema: JsonObject,
  reference: string,
): JsonObject | boolean {
  const base = addresses.bases.get(schema) ?? ROOT
  const address = reference.startsWith('#') ? `${base}${reference}` : toAddress(addresses, reference, base)
  const [resource, fragment] = splitFragment(address)
  const isPointer = fragment === '' || fragment.startsWith('/')
  const named = addresses.named.get(isPointer ? resource : address)
  const target = isPointer ? resolvePointer(named, fragment) : named
  if (typeof target !== 'boolean' && !isRecord(target))
    return failSchema(
      addresses,
      `"$ref": "${reference}" points to nothing in the schema. Only references inside the schema are followed.`,
    )
  // A pointer may lead to a part that no keyword uses as a schema. That part has not been checked yet.
  if (isRecord(target) && !addresses.bases.has(target)) {
    checkSchema(target, addresses.what, { patterns: !addresses.lenient })
    register(addresses, target, resource)
  }
  return target
}

function register(addresses: SchemaAddresses, schema: unknown, outer: string): void {
  if (!isRecord(schema)) return
  let base = outer
  if (typeof schema.$id === 'string') {
    if (isAmbiguous(addresses, schema))
      failSchema(addresses, `"$ref" beside "$id": draft 7 ignores the "$id" and 2020-12 does not; remove one of them.`)
    const address = toAddress(addresses, schema.$id, outer)
    const [resource, fragment] = splitFragment(address)
    if (fragment === '') base = resource
    setName(addresses, fragment === '' ? resource : address, schema)
  }
  addresses.bases.set(schema, base)
  if (typeof schema.$anchor === 'string') setName(addresses, `${base}#${schema.$anchor}`, schema)
  for (const part of subschemasOf(schema)) register(addresses, part, base)
}

/** Is it a reference beside "$id" in a document of draft 7? That draft and later ones resolve it differently. */
function isAmbiguous(addresses: SchemaAddresses, schema: JsonObject): boolean {
  const root = addresses.named.get(ROOT)
  return typeof schema.$ref === 'string' && schema !== root && isRecord(root?.definitions) && !isRecord(root?.$defs)
}

function setName(addresses: SchemaAddresses, address: string, schema: JsonObject): void {
  const taken = addresses.named.get(address)
  // A schema object that is used twice appears twice with the same address.
  if (taken && taken !== schema && canonicalJson(taken) !== canonicalJson(schema))
    failSchema(
      addresses,
      `two different schemas have the "$id" or "$anchor" "${address.replace(ROOT, '')}"; rename one.`,
    )
  if (!taken) addresses.named.set(address, schema)
}

function toAddress(addresses: SchemaAddresses, reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    return failSchema(addresses, `"${reference}" is not a valid URI reference.`)
  }
}

function splitFragment(address: string): [resource: string, fragment: string] {
  const at = address.indexOf('#')
  return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)]
}

function* subschemasOf(schema: JsonObject): Iterable<unknown> {
  for (const keyword of SCHEMA_KEYWORDS) yield schema[keyword]
  for (const keyword of SCHEMA_LIST_KEYWORDS) if (Array.isArray(schema[keyword])) yield* schema[keyword]
  for (const keyword of SCHEMA_MAP_KEYWORDS) if (isRecord(schema[keyword])) yield* Object.values(schema[keyword])
}
