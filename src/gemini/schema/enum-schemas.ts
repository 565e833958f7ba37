import { isRecord, type JsonObject } from '../../base/json.ts'
import { quoteJson } from './describe-constraints.ts'

/** Listed values by type, since Gemini lists strings and numbers only; of what it cannot list the words tell. */
export function enumSchemas(values: readonly unknown[], types: readonly string[], words: string[]): JsonObject[] {
  const allowed = values.filter((value) => types.length === 0 || types.some((type) => isOfType(type, value)))
  const strings = allowed.filter((value) => typeof value === 'string')
  const numbers = allowed.filter((value) => typeof value === 'number')
  const schemas: JsonObject[] = []
  if (strings.length) schemas.push({ type: 'string', enum: strings })
  if (numbers.length) schemas.push({ type: numbers.every(Number.isInteger) ? 'integer' : 'number', enum: numbers })
  const isNumbered = types.includes('number') && !types.includes('integer')
  if (numbers.length && isNumbered) Object.assign(schemas.at(-1) as JsonObject, { type: 'number' })
  const booleans = allowed.filter((value) => typeof value === 'boolean')
  if (booleans.length) schemas.push({ type: 'boolean' })
  if (booleans.length === 1)
    words.push(strings.length + numbers.length ? `Of true and false, only ${booleans[0]}.` : `Must be ${booleans[0]}.`)
  const others = allowed.filter((value) => typeof value === 'object' && value !== null)
  if (others.length) words.push(`Must be one of: ${quoteJson(others)}`)
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
