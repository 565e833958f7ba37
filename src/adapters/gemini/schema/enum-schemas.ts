import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { quoteJson } from './describe-constraints.ts'

/** Converts `enum` values to one schema per type. Gemini supports only strings and numbers; `notes` gets the others. */
export function enumSchemas(values: readonly unknown[], types: readonly string[], notes: string[]): JsonObject[] {
  const allowed = values.filter((value) => types.length === 0 || types.some((type) => isOfType(type, value)))
  const strings = allowed.filter((value) => typeof value === 'string')
  const numbers = allowed.filter((value) => typeof value === 'number')
  const schemas: JsonObject[] = []
  if (strings.length) schemas.push({ type: 'string', enum: strings })
  if (numbers.length) schemas.push({ type: numbers.every(Number.isInteger) ? 'integer' : 'number', enum: numbers })
  const isNumberType = types.includes('number') && !types.includes('integer')
  if (numbers.length && isNumberType) Object.assign(schemas.at(-1) as JsonObject, { type: 'number' })
  const booleans = allowed.filter((value) => typeof value === 'boolean')
  if (booleans.length) schemas.push({ type: 'boolean' })
  if (booleans.length === 1)
    notes.push(
      strings.length + numbers.length ? `The only allowed boolean is ${booleans[0]}.` : `Must be ${booleans[0]}.`,
    )
  const others = allowed.filter((value) => typeof value === 'object' && value !== null)
  if (others.length) notes.push(`Must be one of: ${quoteJson(others)}`)
  if (others.some(isRecord)) schemas.push({ type: 'object' })
  if (others.some(Array.isArray)) schemas.push({ type: 'array' })
  if (allowed.includes(null)) schemas.push({ type: 'null' })
  return schemas.length ? schemas : [{}]
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
