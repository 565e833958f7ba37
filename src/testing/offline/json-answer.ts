// An answer in JSON: from results and the message what they have, and something of the right type for the rest.
import { isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { isoDate } from './dates.ts'
import { isRequired, propertiesOf, resolved, typeOf } from './schema.ts'

export interface Sources {
  /** The value found for a path of keys, if any; for the empty path a list, if there is one. */
  found(path: readonly string[]): unknown
  /** The answer in words, for a text that is nowhere to be found. */
  readonly text: string
  readonly now: number
}

/** Where a value is to be made. */
interface Place extends Sources {
  readonly root: JsonObject
  readonly path: readonly string[]
  /** Schemas can be endless and branch at every level. */
  readonly budget: { left: number }
}

const MAX_DEPTH = 12
const MAX_VALUES = 2_000

/** A value of the schema; what is optional and was not found is left out. */
export function jsonAnswer(schema: JsonObject, sources: Sources): unknown {
  return made(schema, { ...sources, root: schema, path: [], budget: { left: MAX_VALUES } })
}

function made(raw: unknown, place: Place): unknown {
  const { root, path, budget } = place
  const schema = resolved(raw, root)
  const type = typeOf(schema)
  if (Object.hasOwn(schema, 'const')) return schema.const
  if (path.length > MAX_DEPTH || budget.left-- <= 0) return empty(type)
  if (type === 'object') return objectOf(schema, place)
  const found = place.found(path)
  if (type === 'array' && Array.isArray(found)) return itemsFrom(found, schema, place)
  if (found !== undefined && isOfType(found, schema, type)) return found
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Object.hasOwn(schema, 'default')) return schema.default
  if (type === 'array') return itemsFor(schema, place)
  if (type === 'number' || type === 'integer') return numberFor(schema)
  if (type === 'string' || type === undefined) return isNullable(raw) ? null : textFor(schema, place)
  return empty(type)
}

function objectOf(schema: JsonObject, place: Place): JsonObject {
  const object: JsonObject = {}
  for (const [name, raw] of propertiesOf(schema)) {
    const path = [...place.path, name]
    const isWanted = isRequired(schema, name) || place.found(path) !== undefined
    if (isWanted) setOwn(object, name, made(raw, { ...place, path }))
  }
  return object
}

/** Items that were found, each as the schema wants it; those of another type are left out. */
function itemsFrom(found: readonly unknown[], schema: JsonObject, place: Place): unknown[] {
  const item = resolved(schema.items, place.root)
  const type = typeOf(item)
  if (type !== 'object') return found.filter((one) => isOfType(one, item, type))
  return found.filter(isRecord).map((record) => {
    const own = (path: readonly string[]): unknown => path.slice(place.path.length + 1).reduce<unknown>(under, record)
    return made(item, { ...place, path: [...place.path, ''], found: own })
  })
}

const under = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** No more items than must be there. */
function itemsFor(schema: JsonObject, place: Place): unknown[] {
  const inside = { ...place, path: [...place.path, ''] }
  if (Array.isArray(schema.prefixItems)) return schema.prefixItems.map((item) => made(item, inside))
  const least = typeof schema.minItems === 'number' ? Math.min(schema.minItems, MAX_VALUES) : 0
  return Array.from({ length: least }, () => made(schema.items, inside))
}

/** Zero, or what is nearest to it within the bounds. */
function numberFor(schema: JsonObject): number {
  const bound = (key: string, otherwise: number): number => {
    const value = schema[key]
    return typeof value === 'number' ? value : otherwise
  }
  const lower = Math.max(bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity))
  const upper = Math.min(bound('maximum', Infinity), bound('exclusiveMaximum', Infinity))
  const fits = (value: number): boolean =>
    value >= lower && value <= upper && value !== schema.exclusiveMinimum && value !== schema.exclusiveMaximum
  const step = bound('multipleOf', 1)
  const nearest = lower > 0 ? Math.ceil(lower / step) * step : Math.floor(upper / step) * step
  return [0, nearest, nearest + step, nearest - step, (lower + upper) / 2].find(fits) ?? 0
}

const examples: ReadonlyMap<unknown, (now: number) => string> = new Map<unknown, (now: number) => string>([
  ['date', isoDate],
  ['date-time', (now) => new Date(now).toISOString()],
  ['time', () => '00:00:00'],
  ['email', () => 'nobody@example.com'],
  ['uri', () => 'https://example.com/'],
  ['url', () => 'https://example.com/'],
  ['uuid', () => '00000000-0000-4000-8000-000000000000'],
])

function textFor(schema: JsonObject, { text, now }: Sources): string {
  const example = examples.get(schema.format)
  if (example) return example(now)
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 10_000) : 0
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Infinity
  return text.padEnd(least, '.').slice(0, most)
}

function isOfType(value: unknown, schema: JsonObject, type: string | undefined): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  return type === undefined || typeof value === type
}

const isNullable = (schema: unknown): boolean =>
  isRecord(schema) &&
  ((Array.isArray(schema.anyOf) && schema.anyOf.some((one) => isRecord(one) && one.type === 'null')) ||
    (Array.isArray(schema.type) && schema.type.includes('null')))

/** The least a type allows. */
function empty(type: string | undefined): unknown {
  if (type === 'array') return []
  if (type === 'object') return {}
  if (type === 'boolean') return false
  if (type === 'null') return null
  return type === 'number' || type === 'integer' ? 0 : ''
}
