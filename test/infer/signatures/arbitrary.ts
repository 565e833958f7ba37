import fc from 'fast-check'
import { encodeBase64 } from '../../../src/core/base/base64.ts'
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'

/** How deep a recursive schema is drawn. */
const MAX_DEPTH = 4

/** Values that a schema accepts. Covers the keywords that the reader of types writes. */
export function arbitraryOf(schema: JsonObject): fc.Arbitrary<unknown> {
  return draw(schema, { root: schema, depth: 0 })
}

interface Position {
  readonly root: JsonObject
  readonly depth: number
}

function draw(schema: unknown, at: Position): fc.Arbitrary<unknown> {
  if (!isRecord(schema)) return fc.jsonValue({ maxDepth: 1 })
  if (typeof schema.$ref === 'string') return draw(resolve(schema.$ref, at.root), { ...at, depth: at.depth + 1 })
  if (Array.isArray(schema.anyOf)) return drawBranch(schema.anyOf, at)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return drawText(schema)
    case 'number':
      return drawNumber(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return drawArray(schema, at)
    case 'object':
      return drawObject(schema, at)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

/** The definition that a reference names. */
export function resolve(reference: string, root: JsonObject): unknown {
  return (root.$defs as JsonObject)[reference.replace('#/$defs/', '')]
}

/** A recursive union ends with the branches that contain no reference. */
function drawBranch(branches: readonly unknown[], at: Position): fc.Arbitrary<unknown> {
  const ends = branches.filter((branch) => !JSON.stringify(branch).includes('$ref'))
  return fc.oneof(...(at.depth > MAX_DEPTH && ends.length > 0 ? ends : branches).map((branch) => draw(branch, at)))
}

interface TextSchema {
  readonly pattern?: string
  readonly format?: string
  readonly contentEncoding?: string
  readonly minLength?: number
  readonly maxLength?: number
}

function drawText(schema: JsonObject): fc.Arbitrary<string> {
  const { pattern, format, contentEncoding, minLength = 0, maxLength } = schema as TextSchema
  if (contentEncoding === 'base64') return fc.uint8Array({ maxLength: 4 }).map(encodeBase64)
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString())
  if (format === 'email') return fc.emailAddress()
  if (format === 'uuid') return fc.uuid()
  // without a limit of characters, a text may have characters of several code points
  if (pattern === undefined && maxLength === undefined) return fc.string({ unit: 'grapheme', minLength, maxLength: 5 })
  if (pattern === undefined) return fc.string({ minLength, maxLength: maxLength ?? 5 })
  const isLengthRight = ({ length }: string): boolean => length >= minLength && length <= (maxLength ?? length)
  return fc.stringMatching(new RegExp(pattern)).filter(isLengthRight)
}

function drawNumber({ minimum, maximum, multipleOf }: JsonObject): fc.Arbitrary<number> {
  const factor = typeof multipleOf === 'number' ? multipleOf : undefined
  const min = typeof minimum === 'number' ? minimum : -1000
  const max = typeof maximum === 'number' ? maximum : 1000
  const integer = fc.integer({ min: Math.ceil(min), max: Math.floor(max) })
  if (factor !== undefined) return integer.map((value) => Math.round(value / factor) * factor)
  return fc.oneof(integer, fc.double({ min, max, noNaN: true }))
}

function drawArray(schema: JsonObject, at: Position): fc.Arbitrary<unknown[]> {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const minimum = Number(schema.minItems ?? 0)
  const inner = { ...at, depth: at.depth + 1 }
  const optional = at.depth > MAX_DEPTH ? minimum : first.length
  return fc.integer({ min: Math.min(minimum, optional), max: optional }).chain((length) => {
    const items = first.slice(0, length).map((item) => draw(item, inner))
    const isClosed = schema.items === false || length < first.length
    const most = isClosed || at.depth > MAX_DEPTH ? 0 : Number(schema.maxItems ?? 3)
    const least = Math.max(0, minimum - length)
    const others =
      most === 0 && least === 0
        ? fc.constant([])
        : fc.array(draw(schema.items, inner), { minLength: least, maxLength: Math.max(most, least) })
    return fc.tuple(fc.tuple(...items), others).map(([start, rest]) => [...start, ...rest])
  })
}

function drawObject(schema: JsonObject, at: Position): fc.Arbitrary<JsonObject> {
  if (!isRecord(schema.properties)) return fc.dictionary(KEY, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  const inner = { ...at, depth: at.depth + 1 }
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const isDeep = at.depth > MAX_DEPTH
  const properties = Object.entries(schema.properties).filter(([name]) => required.has(name) || !isDeep)
  const model = Object.fromEntries(properties.map(([name, property]) => [name, draw(property, inner)]))
  const named = fc.record(model, { requiredKeys: [...required], noNullPrototype: true })
  const others = isDeep ? fc.constant({}) : drawOthers(schema, inner)
  return fc.tuple(others, named).map(([more, known]) => ({ ...more, ...known }))
}

/** Keys that no schema of the fixtures names. */
const KEY = fc.stringMatching(/^k[a-z]{1,3}$/)

function drawOthers({ patternProperties, additionalProperties }: JsonObject, at: Position): fc.Arbitrary<JsonObject> {
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
  const drawn = patterns.map(([pattern, value]) => {
    const keys = fc.stringMatching(new RegExp(pattern)).filter((key) => key.length < 12)
    return fc.dictionary(keys, draw(value, at), { maxKeys: 2, noNullPrototype: true })
  })
  if (isRecord(additionalProperties))
    drawn.push(fc.dictionary(KEY, draw(additionalProperties, at), { maxKeys: 2, noNullPrototype: true }))
  return fc.tuple(...drawn).map((parts) => Object.assign({}, ...parts))
}
