// An answer in JSON: from results and the message what they have, and something of the right type for the rest.
import { isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import { fill } from './fill.ts'
import type { Result } from './heard.ts'
import { passageOf } from './mentions.ts'
import { declaredOf } from './parameters.ts'
import { valuesFor } from './results.ts'
import { isRequired, recordOf, resolved, typeOf, under } from './schema.ts'

export interface Sources {
  readonly results: readonly Result[]
  readonly message: string
  /** The answer in words, for a text that is nowhere to be found. */
  readonly text: string
  readonly now: number
}

const MAX_DEPTH = 12
const MAX_VALUES = 2_000

/** A value of the schema; what is optional and was not found is left out. */
export function jsonAnswer(root: JsonObject, { results, message, text, now }: Sources): unknown {
  let left = MAX_VALUES // schemas can be endless and branch at every level
  const list = results.flatMap(({ response }) => Object.values(response)).find(Array.isArray)
  return made(root, typeOf(resolved(root, root)) === 'object' ? known(root) : list, 0)

  /** What results, then the message, have for the properties of an object. */
  function known(raw: unknown): JsonObject {
    const tool = declaredOf({ name: 'answer', parametersJsonSchema: resolved(raw, root) })
    const told = fill(tool, passageOf(message, now), true).values
    const found: JsonObject = {}
    for (const one of tool.parameters) setOwn(found, one.name, valuesFor(one, results, 1)[0] ?? told.get(one))
    return found
  }

  function made(raw: unknown, found: unknown, depth: number): unknown {
    const schema = resolved(raw, root)
    const type = typeOf(schema)
    if (Object.hasOwn(schema, 'const')) return schema.const
    if (depth > MAX_DEPTH || left-- <= 0) return empty(type)
    if (type === 'object') {
      const object: JsonObject = {}
      for (const [name, inner] of Object.entries(recordOf(schema.properties))) {
        const value = under(found, name)
        if (isRequired(schema, name) || value !== undefined) setOwn(object, name, made(inner, value, depth + 1))
      }
      return object
    }
    if (type === 'array' && Array.isArray(found)) {
      const item = resolved(schema.items, root)
      const isFit = (one: unknown): boolean => (typeOf(item) === 'object' ? isRecord(one) : isOfType(one, item))
      return found.filter(isFit).map((one) => made(item, one, depth + 1))
    }
    if (found !== undefined && isOfType(found, schema)) return found
    if (Array.isArray(schema.enum)) return schema.enum[0]
    if (Object.hasOwn(schema, 'default')) return schema.default
    if (type === 'array') {
      const least = Math.min(Number(schema.minItems) || 0, MAX_VALUES)
      const items = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array(least).fill(schema.items)
      return items.map((item) => made(item, undefined, depth + 1))
    }
    if (type === 'number' || type === 'integer') return numberFor(schema)
    return type === 'string' || type === undefined ? textFor(schema) : empty(type)
  }

  function textFor({ format, minLength, maxLength }: JsonObject): string {
    const moment = new Date(now).toISOString()
    if (format === 'date-time') return moment
    if (format === 'date') return moment.slice(0, 10)
    if (format === 'time') return '00:00:00'
    if (format === 'email') return 'nobody@example.com'
    if (format === 'uri' || format === 'url') return 'https://example.com/'
    if (format === 'uuid') return '00000000-0000-4000-8000-000000000000'
    const long = text.padEnd(Math.min(Number(minLength) || 0, 10_000), '.')
    return typeof maxLength === 'number' ? long.slice(0, Math.max(0, maxLength)) : long
  }
}

/** Zero, or what is nearest to it within the bounds. */
function numberFor({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const [over, under] = [Number(exclusiveMinimum ?? -Infinity), Number(exclusiveMaximum ?? Infinity)]
  const [lower, upper] = [Math.max(Number(minimum ?? -Infinity), over), Math.min(Number(maximum ?? Infinity), under)]
  const step = Number(multipleOf ?? 1)
  const nearest = lower > 0 ? Math.ceil(lower / step) * step : Math.floor(upper / step) * step
  const isFit = (value: number): boolean => value >= lower && value <= upper && value !== over && value !== under
  return [0, nearest, nearest + step, nearest - step, (lower + upper) / 2].find(isFit) ?? 0
}

function isOfType(value: unknown, schema: JsonObject): boolean {
  const type = typeOf(schema)
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (type === 'integer') return Number.isInteger(value)
  return (
    type === undefined ||
    (Array.isArray(value) ? type === 'array' : isRecord(value) ? type === 'object' : typeof value === type)
  )
}

/** The least a type allows. */
function empty(type: string | undefined): unknown {
  if (type === 'array') return []
  if (type === 'object') return {}
  if (type === 'boolean') return false
  return type === 'number' || type === 'integer' ? 0 : type === 'null' ? null : ''
}
