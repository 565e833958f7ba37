import type { JsonObject } from '../../../core/base/json.ts'
import { type CompiledSchema, compileSchema } from '../../../core/schema/compile.ts'

/** Members by which the objects of schema libraries are recognised. */
const LIBRARY_MEMBERS = ['~standard', '_zod', 'toJSONSchema']

/** Compiles a JSON Schema of a server. Throws if it cannot be used, or if it poses as an object of a schema library. */
export function compileForeignSchema(
  schema: JsonObject,
  what: string,
  options: { object?: boolean } = {},
): CompiledSchema {
  const found = LIBRARY_MEMBERS.find((member) => Object.hasOwn(schema, member))
  if (found !== undefined) throw new Error(`${what}: "${found}" is not a keyword of JSON Schema.`)
  return compileSchema(schema, what, options)
}
