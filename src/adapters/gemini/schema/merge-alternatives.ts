import { canonicalJson, isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import { quoteJson } from './describe-constraints.ts'
import { type FlatSchema, flatten, intersect, type SchemaCursor } from './flatten.ts'

/** Merges the alternatives of an object into one object. It has all properties, and requires those all alternatives require. */
export function mergeAlternatives(flat: FlatSchema, cursor: SchemaCursor): FlatSchema {
  const { anyOf, oneOf, ...keywords } = flat.keywords
  const list = Array.isArray(anyOf) ? anyOf : oneOf
  if (!Array.isArray(list)) return flat
  const shapes = list.map((one) => mergeAlternatives(flatten(isRecord(one) ? one : {}, cursor), cursor))
  const notes = [`The arguments must fit one of these: ${quoteJson(list)}`]
  // an alternative without properties allows any: then no list of properties is complete
  if (!shapes.every((shape) => isRecord(shape.keywords.properties)))
    return { ...flat, keywords, notes: [...flat.notes, ...notes] }
  const properties: JsonObject = {}
  for (const shape of shapes) {
    const own = isRecord(shape.keywords.properties) ? shape.keywords.properties : {}
    for (const name of Object.keys(own)) {
      const known = Object.hasOwn(properties, name) ? (properties[name] as { anyOf: unknown[] }).anyOf : []
      setOwn(properties, name, {
        anyOf: known.some((one) => canonicalJson(one) === canonicalJson(own[name])) ? known : [...known, own[name]],
      })
    }
  }
  const [first = [], ...others] = shapes.map(({ keywords }) =>
    Array.isArray(keywords.required) ? keywords.required : [],
  )
  const required = first.filter((name) => others.every((list) => list.includes(name)))
  const isClosed = shapes.length > 0 && shapes.every((shape) => shape.keywords.additionalProperties === false)
  const union = { properties, required, ...(isClosed && { additionalProperties: false }) }
  const refs = shapes.flatMap((shape) => shape.refs)
  const merged = intersect({ ...flat, keywords }, { keywords: union, types: ['object'], notes, refs })
  return Array.isArray(anyOf) && Array.isArray(oneOf)
    ? mergeAlternatives({ ...merged, keywords: { ...merged.keywords, oneOf } }, cursor)
    : merged
}
