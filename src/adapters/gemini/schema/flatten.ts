import { canonicalJson, isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import { quoteJson } from './describe-constraints.ts'

/** A schema without references and `allOf`. */
export interface FlatSchema {
  /** All keywords except `type`. */
  readonly keywords: JsonObject
  /** The allowed types. Empty: any type. */
  readonly types: readonly string[]
  /** Constraints that could not be merged, as sentences. */
  readonly notes: readonly string[]
  /** The references that were followed. */
  readonly refs: readonly string[]
}

/** The position inside a schema. */
export interface SchemaCursor {
  /** The whole schema, which references point into. */
  readonly root: JsonObject
  /** The references that lead to this position, to detect recursion. */
  readonly open: readonly string[]
  /** The nesting depth. */
  readonly depth: number
  /** How many more schemas may be written, to limit the size. */
  readonly budget: { left: number }
}

/** How often a recursive reference is followed: enough for the model to see the recursion. */
const MAX_RECURSION = 2

/** Follows the reference of a schema and merges its `allOf`. */
export function flatten(raw: JsonObject, cursor: SchemaCursor, refs: readonly string[] = []): FlatSchema {
  const { $ref, allOf, ...own } = raw
  let flat: FlatSchema = { ...splitKeywords(own), refs }
  if (typeof $ref === 'string') flat = intersect(followReference($ref, cursor, refs), flat)
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (isRecord(part)) flat = intersect(flat, flatten(part, cursor, flat.refs))
  }
  return flat
}

function followReference(ref: string, cursor: SchemaCursor, refs: readonly string[]): FlatSchema {
  const target = resolveReference(ref, cursor.root)
  const rounds = [...cursor.open, ...refs].filter((one) => one === ref).length
  if (target && rounds < MAX_RECURSION && --cursor.budget.left >= 0) return flatten(target, cursor, [...refs, ref])
  const name = ref === '#' ? 'the whole schema' : `"${ref.split('/').at(-1)}"`
  const types = target ? splitKeywords({ type: target.type }).types : []
  return { keywords: {}, types, notes: [`Has the ${target ? 'same shape as' : 'shape of'} ${name}.`], refs }
}

function resolveReference(ref: string, root: JsonObject): JsonObject | undefined {
  if (!ref.startsWith('#')) return undefined
  let at: unknown = root
  for (const step of ref.split('/').slice(1)) {
    const name = decodePointerStep(step)
    if (Array.isArray(at)) at = at[Number(name)]
    else at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return isRecord(at) ? at : undefined
}

function decodePointerStep(step: string): string {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(name)
  } catch {
    return name // a literal %
  }
}

function splitKeywords(own: JsonObject): Pick<FlatSchema, 'keywords' | 'types' | 'notes'> {
  const { type, const: only, ...keywords } = own
  if ('const' in own && !('enum' in keywords)) keywords.enum = [only]
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  return { keywords, types, notes: [] }
}

/** The schema for values that match both schemas. */
export function intersect(a: FlatSchema, b: FlatSchema): FlatSchema {
  const keywords: JsonObject = { ...a.keywords }
  const notes = [...a.notes, ...b.notes]
  for (const keyword of Object.keys(b.keywords)) {
    const [one, other] = [keywords[keyword], b.keywords[keyword]]
    if (one === undefined || canonicalJson(one) === canonicalJson(other)) setOwn(keywords, keyword, other)
    else {
      const merged = mergeKeyword(keyword, one, other)
      if (merged === undefined) notes.push(`Must also fit: ${quoteJson({ [keyword]: other })}`)
      else keywords[keyword] = merged
    }
  }
  return { keywords, types: commonTypes(a.types, b.types), notes, refs: [...new Set([...a.refs, ...b.refs])] }
}

function commonTypes(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0) return b
  const common = b.length === 0 ? a : a.flatMap((type) => narrowerType(type, b))
  return common.length ? common : a // no value matches both: the validator rejects every value
}

function narrowerType(type: string, others: readonly string[]): string[] {
  if (others.includes(type)) return [type]
  const isNumber =
    (type === 'number' && others.includes('integer')) || (type === 'integer' && others.includes('number'))
  return isNumber ? ['integer'] : []
}

/** Merges two values of one keyword. Undefined when they cannot be merged. */
function mergeKeyword(keyword: string, one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    if (keyword === 'required') return [...new Set([...one, ...other])]
    if (keyword === 'enum')
      return one.filter((value) => other.some((same) => canonicalJson(same) === canonicalJson(value)))
    return undefined
  }
  if (typeof one === 'number' && typeof other === 'number') {
    if (/^(min|exclusiveMin)/.test(keyword)) return Math.max(one, other)
    return /^(max|exclusiveMax)/.test(keyword) ? Math.min(one, other) : undefined
  }
  if (keyword === 'description') return `${one} ${other}`
  if (keyword === 'default' || keyword === 'title') return other
  if (keyword === 'uniqueItems') return true
  if (keyword === 'additionalProperties' && (one === false || other === false)) return false
  if (!isRecord(one) || !isRecord(other)) return undefined
  if (keyword === 'items' || keyword === 'additionalProperties') return { allOf: [one, other] }
  return keyword === 'properties' || keyword === 'patternProperties' ? mergeMaps(one, other) : undefined
}

function mergeMaps(one: JsonObject, other: JsonObject): JsonObject {
  const merged: JsonObject = { ...one }
  for (const name of Object.keys(other)) {
    const known = Object.hasOwn(one, name)
    setOwn(merged, name, known ? { allOf: [one[name], other[name]] } : other[name])
  }
  return merged
}
