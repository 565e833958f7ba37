// Schemas come from anywhere: references may be circular, nesting without end. Patterns are never run.
import { isRecord, type JsonObject } from '../../base/json.ts'

/** How many references and alternatives are followed before a schema counts as open. */
const MAX_HOPS = 16

/** A schema as far as one needs to know it: references followed, the first alternative that is not null. */
export function resolved(schema: unknown, root: JsonObject): JsonObject {
  let at: JsonObject = isRecord(schema) ? schema : {}
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const { $ref, anyOf, oneOf = anyOf, ...rest } = at
    if (typeof $ref === 'string') at = { ...recordOf(pointedAt($ref, root)), ...rest }
    else if (Array.isArray(oneOf)) at = { ...oneOf.find((one) => isRecord(one) && one.type !== 'null'), ...rest }
    else return at
  }
  return {}
}

function pointedAt($ref: string, root: JsonObject): unknown {
  const keys = $ref.startsWith('#') ? $ref.split('/').slice(1, 20) : ['']
  return keys.reduce<unknown>((at, key) => under(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), root)
}

/** A text as it is, a number as a text; nothing for all that could be anything. */
export const plain = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 2_000) : typeof value === 'number' ? String(value) : ''

export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {})

/** The own value of a key. */
export const under = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The type a resolved schema names or implies. */
export function typeOf(schema: JsonObject): string | undefined {
  const { type, items } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.find((one) => one !== 'null')
  if (isRecord(schema.properties)) return 'object'
  if (items !== undefined) return 'array'
  return schema.const === undefined ? undefined : typeof schema.const
}

export const isRequired = ({ required }: JsonObject, name: string): boolean =>
  Array.isArray(required) && required.includes(name)
