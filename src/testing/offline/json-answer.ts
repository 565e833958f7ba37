// Creates a JSON answer: values come from the results and the message; other values only have the right type.
import { type JsonObject, setOwn } from '../../base/json.ts'
import { type Conversation, isFailed } from './conversation.ts'
import { isRequired, ownValue, recordOf, resolveSchema, schemaType, toDeclaredTool } from './declared-tool.ts'
import { fillArguments } from './fill-arguments.ts'
import { findResultValues } from './fill-from-results.ts'
import { parsePassage } from './passage.ts'

const MAX_DEPTH = 12
const MAX_VALUES = 2_000

/** Creates a value of the schema's type, without optional members that were not found. Ignores bounds and formats. */
export function jsonAnswer(root: JsonObject, { results, message }: Conversation, text: string, now: number): unknown {
  let left = MAX_VALUES // schemas can be recursive and branch at every level
  // values for the properties: from the results, else from the message
  const tool = toDeclaredTool({ name: 'answer', parametersJsonSchema: resolveSchema(root, root) })
  const { values, recognisedCount } = fillArguments(tool, parsePassage(message, now))
  const recognised = new Map([...values].slice(0, recognisedCount))
  const known: JsonObject = {}
  const found = results.filter((one) => !isFailed(one))
  for (const one of tool.parameters) setOwn(known, one.name, findResultValues(one, found)[0] ?? recognised.get(one))
  return made(root, known, 0)

  function made(raw: unknown, found: unknown, depth: number): unknown {
    const schema = resolveSchema(raw, root)
    const type = schemaType(schema)
    if (Object.hasOwn(schema, 'const')) return schema.const
    if (depth > MAX_DEPTH || left-- <= 0) return emptyValues.get(type) ?? ''
    if (type === 'object') {
      const object: JsonObject = {}
      for (const [name, inner] of Object.entries(recordOf(schema.properties))) {
        const value = ownValue(found, name)
        if (isRequired(schema, name) || value !== undefined) setOwn(object, name, made(inner, value, depth + 1))
      }
      return object
    }
    if (type === 'array') return Array.isArray(found) ? found.map((one) => made(schema.items, one, depth + 1)) : []
    if (Array.isArray(schema.enum)) return schema.enum.includes(found) ? found : schema.enum[0]
    if (type === 'integer' ? Number.isInteger(found) : typeof found === type) return found
    return schema.default ?? (emptyValues.has(type) ? emptyValues.get(type) : text)
  }
}

/** Values for unknown members. A string gets the answer text. */
const emptyValues: ReadonlyMap<string | undefined, unknown> = new Map(
  Object.entries({ array: [], object: {}, boolean: false, number: 0, integer: 0, null: null }),
)
