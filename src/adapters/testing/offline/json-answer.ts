// A JSON answer: values come from the results and the message; other values only have the right type.
import { isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { Conversation } from './conversation.ts'
import { choicesOf, recordOf, resolveSchema, toDeclaredTool, typeOf } from './declared-tool.ts'
import { fillArguments } from './fill-arguments.ts'

const MAX_DEPTH = 12
const MAX_VALUES = 2_000

/** Values of unknown members. A string gets the text of the answer. */
const EMPTY = new Map<unknown, unknown>(
  Object.entries({ array: [], object: {}, boolean: false, number: 0, integer: 0, null: null }),
)

/** Creates a value of the schema's type, without optional members that were not found. Ignores bounds and formats. */
export function jsonAnswer(
  root: JsonObject,
  { results, message }: Conversation,
  { text, toolWords, now }: { readonly text: string; readonly toolWords: ReadonlySet<string>; readonly now: number },
): unknown {
  let left = MAX_VALUES // schemas can be recursive and branch at every level
  const fields = toDeclaredTool({ name: 'answer', parametersJsonSchema: root })
  const { args } = fillArguments(fields, message, { whole: message, toolWords, now })
  const known = results.length ? results.map(({ response }) => response) : [args]
  return create(root, Object.assign({}, ...known), 0)

  function create(raw: unknown, found: unknown, depth: number): unknown {
    const schema = resolveSchema(raw, root)
    const type = typeOf(schema)
    if (depth > MAX_DEPTH || left-- <= 0) return EMPTY.get(type) ?? ''
    if (type === 'object') {
      const object: JsonObject = {}
      const required = Array.isArray(schema.required) ? schema.required : []
      for (const [name, inner] of Object.entries(recordOf(schema.properties))) {
        const value = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
        if (value !== undefined || required.includes(name)) setOwn(object, name, create(inner, value, depth + 1))
      }
      return object
    }
    if (type === 'array') return Array.isArray(found) ? found.map((one) => create(schema.items, one, depth + 1)) : []
    const choices = choicesOf(schema)
    if (choices.length) return choices.includes(found) ? found : choices[0]
    if (type === 'integer' ? Number.isInteger(found) : typeof found === type) return found
    return schema.default ?? (EMPTY.has(type) ? EMPTY.get(type) : text)
  }
}
