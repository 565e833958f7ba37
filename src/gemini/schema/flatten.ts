// A schema with its references followed and its `allOf` merged: one list of keywords.
import { canonicalJson, isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { quoteJson } from './describe-constraints.ts'

export interface FlatSchema {
  readonly keywords: JsonObject
  /** Empty = any. */
  readonly types: readonly string[]
  /** What could not be merged. */
  readonly words: readonly string[]
  /** References that were followed to get here. */
  readonly refs: readonly string[]
}

export interface SchemaCursor {
  readonly root: JsonObject
  /** References we are inside of: following one again and again is a circle. */
  readonly open: readonly string[]
  readonly depth: number
  readonly budget: { left: number }
}

/** A circle is followed this often: enough for the model to see how it goes on. */
const MAX_RECURSION = 2

export function flatten(raw: JsonObject, place: SchemaCursor, refs: readonly string[] = []): FlatSchema {
  const { $ref, allOf, ...own } = raw
  let flat: FlatSchema = { ...splitKeywords(own), refs }
  if (typeof $ref === 'string') flat = intersect(followReference($ref, place, refs), flat)
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (isRecord(part)) flat = intersect(flat, flatten(part, place, flat.refs))
  }
  return flat
}

function followReference(ref: string, place: SchemaCursor, refs: readonly string[]): FlatSchema {
  const target = resolveReference(ref, place.root)
  const rounds = [...place.open, ...refs].filter((one) => one === ref).length
  if (target && rounds < MAX_RECURSION && --place.budget.left >= 0) return flatten(target, place, [...refs, ref])
  const name = ref === '#' ? 'the whole' : `"${ref.split('/').at(-1)}"`
  const types = target ? splitKeywords({ type: target.type }).types : []
  return { keywords: {}, types, words: [`${target ? 'Again of' : 'Of'} the shape of ${name}.`], refs }
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
    return name // a bare % is its own name
  }
}

function splitKeywords(own: JsonObject): Pick<FlatSchema, 'keywords' | 'types' | 'words'> {
  const { type, const: only, ...keywords } = own
  if ('const' in own && !('enum' in keywords)) keywords.enum = [only]
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  return { keywords, types, words: [] }
}

/** What fits both. */
export function intersect(a: FlatSchema, b: FlatSchema): FlatSchema {
  const keywords: JsonObject = { ...a.keywords }
  const words = [...a.words, ...b.words]
  for (const keyword of Object.keys(b.keywords)) {
    const [one, other] = [keywords[keyword], b.keywords[keyword]]
    if (one === undefined || canonicalJson(one) === canonicalJson(other)) setOwn(keywords, keyword, other)
    else {
      const merged = mergeKeyword(keyword, one, other)
      if (merged === undefined) words.push(`Must also fit: ${quoteJson({ [keyword]: other })}`)
      else keywords[keyword] = merged
    }
  }
  return { keywords, types: commonTypes(a.types, b.types), words, refs: [...new Set([...a.refs, ...b.refs])] }
}

function commonTypes(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0) return b
  const common = b.length === 0 ? a : a.flatMap((type) => narrowerType(type, b))
  return common.length ? common : a // nothing fits both: the validator will say so
}

function narrowerType(type: string, others: readonly string[]): string[] {
  if (others.includes(type)) return [type]
  const isNumber =
    (type === 'number' && others.includes('integer')) || (type === 'integer' && others.includes('number'))
  return isNumber ? ['integer'] : []
}

/** Two values of one keyword as one; undefined when there is no such thing. */
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
