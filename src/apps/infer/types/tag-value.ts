import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** The value of `@default` and `@example`: JSON or plain text, whichever the schema accepts. Undefined if it accepts neither. */
export function tagValue(text: string, schema: JsonObject): unknown {
  const json = parseJson(text)
  if (json !== undefined && accepts(schema, json)) return json
  const plain = text.replace(/^(['`])(.*)\1$/s, '$2')
  return accepts(schema, plain) ? plain : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the type and the literals of a schema accept a value. References accept every value. */
function accepts(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return true
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((branch) => accepts(branch, value))
  if ('const' in schema) return schema.const === value
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  return schema.type === undefined || schema.type === typeOf(value)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
