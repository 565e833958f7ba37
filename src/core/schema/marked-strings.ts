// Values that JSON has no form for. A schema that was generated from types marks them: in arguments they are strings, in the body of
// the tool a `Date` or a `Uint8Array`.
import { decodeBase64 } from '../base/base64.ts'
import { isRecord, type JsonObject, setOwn } from '../base/json.ts'
import { type CompiledSchema, compileSchema } from './compile.ts'
import type { ParseResult, SchemaIssue } from './issues.ts'
import { definitionOf, possibleBranches } from './possible-branches.ts'
import { formatPath } from './value-path.ts'

/** The keyword that marks a string which becomes a `Date` or a `Uint8Array`. The model never sees it. */
export const TYPE_MARK = 'x-toolwright-type'

/** Copies a schema without its marks. */
export function withoutTypeMarks(schema: JsonObject): JsonObject {
  return strip(schema) as JsonObject
}

/** Whether a schema marks values. */
export function hasTypeMarks(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasTypeMarks)
  return isRecord(schema) && (typeof schema[TYPE_MARK] === 'string' || Object.values(schema).some(hasTypeMarks))
}

/** Creates a function that replaces the marked strings of a checked value. It changes the value. */
export function createMarkedConverter(schema: JsonObject): (value: unknown) => ParseResult {
  const fixed = { root: schema, accepts: createAcceptors(schema), keyPatterns: new Map<string, JsonObject>() }
  return (value) => {
    const issues: SchemaIssue[] = []
    const converted = convert(value, schema, { ...fixed, keys: [], issues })
    return issues.length > 0 ? { issues } : { value: converted }
  }
}

/** Whether a value fits a part of the schema. */
type Accepts = (part: JsonObject, value: unknown) => boolean

interface Conversion {
  readonly root: JsonObject
  readonly accepts: Accepts
  /** The schema of the keys that match a pattern, by pattern. Kept, because a schema is compiled once per object. */
  readonly keyPatterns: Map<string, JsonObject>
  /** The path to the current value. It grows and shrinks during the conversion. */
  readonly keys: (string | number)[]
  readonly issues: SchemaIssue[]
}

function convert(value: unknown, schema: unknown, conversion: Conversion): unknown {
  if (!isRecord(schema)) return value
  if (typeof schema.$ref === 'string') return convert(value, definitionOf(conversion.root, schema.$ref), conversion)
  if (Array.isArray(schema.anyOf)) return convertUnion(value, schema.anyOf, conversion)
  if (typeof schema[TYPE_MARK] === 'string')
    return typeof value === 'string' ? convertText(value, schema, conversion) : value
  if (Array.isArray(value)) return convertItems(value, schema, conversion)
  return isRecord(value) ? convertProperties(value, schema, conversion) : value
}

function convertText(text: string, schema: JsonObject, conversion: Conversion): unknown {
  if (schema[TYPE_MARK] === 'Date') {
    const date = new Date(text)
    return Number.isNaN(date.getTime()) ? refuse(conversion, 'a date and time, such as 2026-01-31T12:00:00Z') : date
  }
  return decodeBase64(text) ?? refuse(conversion, 'base64 text')
}

function refuse({ keys, issues }: Conversion, expected: string): undefined {
  issues.push({ path: formatPath(keys), expected })
}

function convertItems(items: unknown[], schema: JsonObject, conversion: Conversion): unknown[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  for (const [index, item] of items.entries()) {
    conversion.keys.push(index)
    items[index] = convert(item, first[index] ?? schema.items, conversion)
    conversion.keys.pop()
  }
  return items
}

function convertProperties(record: JsonObject, schema: JsonObject, conversion: Conversion): JsonObject {
  for (const key of Object.keys(record)) {
    conversion.keys.push(key)
    setOwn(record, key, convert(record[key], propertySchema(schema, key, conversion), conversion))
    conversion.keys.pop()
  }
  return record
}

function propertySchema(schema: JsonObject, key: string, { accepts, keyPatterns }: Conversion): unknown {
  const { properties, patternProperties, additionalProperties } = schema
  if (isRecord(properties) && Object.hasOwn(properties, key)) return properties[key]
  if (!isRecord(patternProperties)) return additionalProperties
  const keySchema = (pattern: string): JsonObject => {
    const known = keyPatterns.get(pattern) ?? { type: 'string', pattern }
    keyPatterns.set(pattern, known)
    return known
  }
  const pattern = Object.keys(patternProperties).find((one) => accepts(keySchema(one), key))
  return pattern === undefined ? additionalProperties : patternProperties[pattern]
}

/** Converts a value by the branch of a union that accepts it. Only branches that look alike are validated. */
function convertUnion(value: unknown, branches: readonly unknown[], conversion: Conversion): unknown {
  const possible = possibleBranches(value, branches, conversion.root)
  const fitting = possible.length < 2 ? possible[0] : possible.find((branch) => conversion.accepts(branch, value))
  // The value has passed the whole schema, so without a branch the validation of the branches took too much work.
  if (!fitting) return refuse(conversion, 'a value that takes less work to check against its schema')
  return convert(value, fitting, conversion)
}

function createAcceptors(root: JsonObject): Accepts {
  const parsers = new WeakMap<object, CompiledSchema['parse']>()
  const $defs = withoutTypeMarks(root).$defs ?? {}
  return (part, value) => {
    let parse = parsers.get(part)
    if (!parse) {
      parse = compileSchema({ ...withoutTypeMarks(part), $defs }, 'A part of the parameters').parse
      parsers.set(part, parse)
    }
    // a plain JSON Schema is checked synchronously
    return (parse(value) as ParseResult).issues === undefined
  }
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([key, inner]) => key !== TYPE_MARK || typeof inner !== 'string')
  return Object.fromEntries(kept.map(([key, inner]) => [key, strip(inner)]))
}
