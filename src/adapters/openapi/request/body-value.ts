import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { RequestBody } from '../operation.ts'

/** The value of a body: the argument `body`, or the arguments that are its fields. Undefined if nothing is sent. */
export function bodyValue({ fields, isRequired }: RequestBody, values: ReadonlyMap<string, unknown>): unknown {
  if (!fields) return values.get('body')
  const given: JsonObject = {}
  for (const field of fields) if (values.get(field) !== undefined) setOwn(given, field, values.get(field))
  return isRequired || Object.keys(given).length > 0 ? given : undefined
}
