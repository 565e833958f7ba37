// Reads contents of Gemini in both cases of names. Arguments and results of calls are data: their keys stay as they are.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Content, Part, Role } from '../../../core/content/content.ts'
import { toCamel } from './names.ts'

/** A content with keys in camel case. Undefined if the value is none. */
export function readContent(given: unknown): Content | undefined {
  if (!isRecord(given) || !Array.isArray(given.parts)) return undefined
  const role: Role = given.role === 'model' || given.role === 'tool' ? given.role : 'user'
  return { role, parts: given.parts.filter(isRecord).map(readPart) }
}

function readPart(given: JsonObject): Part {
  const part: JsonObject = {}
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue // ADK writes members that are not set
    part[toCamel(key)] = isRecord(value) ? withCamelKeys(value) : value
  }
  return part // a runner checks the message before it is recorded
}

function withCamelKeys(given: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value === null ? [] : [[toCamel(key), value]])),
  )
}
