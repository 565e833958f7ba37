// From the validator's units of output to issues: only what failed by itself, described by the schema, never by the value.
import type { Schema as CfSchema, OutputUnit } from '@cfworker/json-schema'
import { isRecord } from '../base/json.ts'
import type { Issue } from './parsed.ts'
import { decodePointer, pathText } from './path.ts'

/** Every schema of a document by its address. */
export type SchemaLookup = { readonly [address: string]: CfSchema | boolean }

interface Leaf {
  readonly keyword: string
  /** Keys from the root of the value. */
  readonly path: readonly PropertyKey[]
  /** Keywords from the root of the schema. */
  readonly at: readonly string[]
  readonly expected: string
}

/** Turns the validator's output into issues: leaves only, alternatives at one place joined by "or". */
export function jsonSchemaIssues(
  units: readonly OutputUnit[],
  value: unknown,
  schema: unknown,
  lookup: SchemaLookup,
): Issue[] {
  const leaves: Leaf[] = []
  const seen = new Set<string>()
  for (let i = 0; i < units.length && leaves.length < MAX_LEAVES; i++) {
    const unit = units[i] as OutputUnit
    // A false schema reports the instance's place as its own; its parent came just before it.
    const place = unit.keyword === 'false' ? (units[i - 1]?.keywordLocation ?? '#') : unit.keywordLocation
    if (isParent(unit, place, units[i + 1])) continue
    const at = segments(place)
    const [path, target] = locate(value, segments(unit.instanceLocation))
    const id = `${place} ${unit.instanceLocation}`
    if (seen.has(id)) continue
    seen.add(id)
    const node = schemaAt(schema, unit.keyword === 'false' ? at : at.slice(0, -1), lookup)
    if (unit.keyword === 'required' || unit.keyword === 'dependentRequired') {
      for (const key of missing(unit.keyword, node, target))
        leaves.push({ keyword: 'required', path: [...path, key], at, expected: 'a value (required)' })
    } else leaves.push({ keyword: unit.keyword, path, at, expected: expectedBy(unit.keyword, node, path) })
  }
  return merge(dropForeignBranches(leaves))
}

const MAX_LEAVES = 200

const PARENTS = new Set(
  '$ref $recursiveRef allOf properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas prefixItems items additionalItems unevaluatedItems if'.split(
    ' ',
  ),
)

function isParent(unit: OutputUnit, place: string, next: OutputUnit | undefined): boolean {
  if (unit.keyword === 'false') return false
  // The items that do not match "contains" are not what is wrong.
  if (/\/contains\//.test(place) || (unit.keyword !== 'contains' && place.endsWith('/contains'))) return true
  if (unit.keyword === 'anyOf' || unit.keyword === 'oneOf' || unit.keyword === 'dependencies')
    return next?.keywordLocation.startsWith(`${place}/`) === true || next?.keyword === 'false'
  return PARENTS.has(unit.keyword)
}

function segments(pointer: string): string[] {
  return pointer.split('/').slice(1).map(decodePointer)
}

function locate(value: unknown, keys: readonly string[]): [PropertyKey[], unknown] {
  let node = value
  const path: PropertyKey[] = []
  for (const key of keys) {
    path.push(Array.isArray(node) ? Number(key) : key)
    node = typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined
  }
  return [path, node]
}

function schemaAt(schema: unknown, keywords: readonly string[], lookup: SchemaLookup): unknown {
  let node = schema
  for (const keyword of keywords) {
    if (typeof node !== 'object' || node === null) return undefined
    if (keyword === '$ref' && isRecord(node)) node = lookup[String(node.__absolute_ref__)]
    else node = Object.hasOwn(node, keyword) ? Reflect.get(node, keyword) : undefined
  }
  return node
}

function missing(keyword: string, schema: unknown, target: unknown): string[] {
  if (!isRecord(schema) || !isRecord(target)) return []
  const lists = keyword === 'required' ? [schema.required] : []
  if (isRecord(schema.dependentRequired) && keyword !== 'required')
    for (const [key, names] of Object.entries(schema.dependentRequired))
      if (Object.hasOwn(target, key)) lists.push(names)
  return lists.flat().filter((key): key is string => typeof key === 'string' && !Object.hasOwn(target, key))
}

function expectedBy(keyword: string, node: unknown, path: readonly PropertyKey[]): string {
  const schema = isRecord(node) ? node : {}
  const limit = String(schema[keyword])
  switch (keyword) {
    case 'false':
      return typeof path.at(-1) === 'number' ? 'no such item' : 'no such property'
    case 'type':
      return [schema.type].flat().join(' or ')
    case 'const':
      return JSON.stringify(schema.const)
    case 'enum':
      return Array.isArray(schema.enum)
        ? schema.enum.map((choice) => JSON.stringify(choice)).join(' or ')
        : 'a listed value'
    case 'format':
      return `valid ${limit}`
    case 'pattern':
      return `text that matches /${limit}/`
    case 'minimum':
      return `number at least ${limit}`
    case 'maximum':
      return `number at most ${limit}`
    case 'exclusiveMinimum':
      return `number more than ${limit}`
    case 'exclusiveMaximum':
      return `number less than ${limit}`
    case 'multipleOf':
      return `multiple of ${limit}`
    case 'minLength':
    case 'maxLength':
      return `string of at ${keyword === 'minLength' ? 'least' : 'most'} ${limit} characters`
    case 'minItems':
    case 'maxItems':
      return `array of at ${keyword === 'minItems' ? 'least' : 'most'} ${limit} items`
    case 'minProperties':
    case 'maxProperties':
      return `object of at ${keyword === 'minProperties' ? 'least' : 'most'} ${limit} properties`
    case 'uniqueItems':
      return 'array without duplicates'
    case 'contains':
    case 'minContains':
    case 'maxContains':
      return 'array with the right number of items of one kind'
    case 'oneOf':
      return 'exactly one of the allowed shapes'
    case 'anyOf':
      return 'one of the allowed shapes'
    case 'not':
      return 'anything but what "not" describes'
    default:
      return 'a valid value'
  }
}

// Of alternatives told apart by a kind or a constant, the ones that are plainly not meant say nothing useful.
function dropForeignBranches(leaves: readonly Leaf[]): Leaf[] {
  const foreign = new Set<string>()
  const branches = new Map<string, Set<string>>()
  for (const leaf of leaves) {
    const union = unionOf(leaf.at)
    if (union === undefined) continue
    const branch = leaf.at.slice(0, union + 2).join('/')
    const group = leaf.at.slice(0, union + 1).join('/')
    branches.set(group, (branches.get(group) ?? new Set()).add(branch))
    const rest = leaf.at.slice(union + 2).filter((keyword) => keyword !== '$ref')
    const isKind = leaf.keyword === 'type' && rest.length === 1
    const isTag = (leaf.keyword === 'const' || leaf.keyword === 'enum') && rest.length <= 3
    if (isKind || isTag) foreign.add(branch)
  }
  for (const group of branches.values())
    if ([...group].every((branch) => foreign.has(branch))) for (const branch of group) foreign.delete(branch)
  return leaves.filter((leaf) => {
    const union = unionOf(leaf.at)
    return union === undefined || !foreign.has(leaf.at.slice(0, union + 2).join('/'))
  })
}

// The place of the innermost "anyOf" or "oneOf" followed by a branch.
function unionOf(at: readonly string[]): number | undefined {
  for (let i = at.length - 2; i >= 0; i--)
    if ((at[i] === 'anyOf' || at[i] === 'oneOf') && /^\d+$/.test(at[i + 1] ?? '')) return i
  return undefined
}

function merge(leaves: readonly Leaf[]): Issue[] {
  const places = new Map<string, { path: string; expected: Set<string> }>()
  for (const leaf of leaves) {
    const path = pathText(leaf.path)
    const union = unionOf(leaf.at)
    const id = union === undefined ? `${path} ${leaf.at.join('/')}` : `${path} ${leaf.at.slice(0, union + 1).join('/')}`
    const place = places.get(id) ?? { path, expected: new Set() }
    place.expected.add(leaf.expected)
    places.set(id, place)
  }
  return Array.from(places.values(), ({ path, expected }) => ({ path, expected: [...expected].join(' or ') }))
}
