// Finds the Zod 4 schemas that certainly convert to JSON Schema. A conversion takes Zod about 40 microseconds. A program
// with a thousand tools saves them: such a schema is converted by its first use, all others when the tool is built.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord, type JsonObject } from '../../base/json.ts'

const MAX_NODES = 200
const MAX_LEVELS = 20
const MAX_TEXT = 20_000

interface Search {
  readonly registry: { get(schema: unknown): unknown }
  nodes: number
  text: number
}

/** Is it a Zod object of which every part converts to a JSON Schema that `checkSchema` accepts? False means: not known. */
export function isPlainZodObject(schema: object): schema is StandardSchemaV1 {
  const registry = (globalThis as { __zod_globalRegistry?: Search['registry'] }).__zod_globalRegistry
  // "zod/mini" and Zod before 4.2 lack this method and the conversion. Tested with `in`, because Zod creates a bound
  // function for each schema whose method is read.
  if (!registry || !('toJSONSchema' in schema)) return false
  return definitionOf(schema)?.type === 'object' && isPlain(schema, { registry, nodes: 0, text: 0 }, 0)
}

function definitionOf(schema: unknown): JsonObject | undefined {
  const inner = (schema as { _zod?: { def?: unknown; toJSONSchema?: unknown } } | null | undefined)?._zod
  // The "toJSONSchema" of a schema may return anything.
  if (!inner || inner.toJSONSchema !== undefined) return undefined
  return isRecord(inner.def) ? inner.def : undefined
}

function isPlain(schema: unknown, search: Search, level: number): boolean {
  const def = definitionOf(schema)
  if (!def || level > MAX_LEVELS || ++search.nodes > MAX_NODES) return false
  if (!isPlainMetadata(search.registry.get(schema), search) || !hasPlainChecks(def.checks)) return false
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'any':
    case 'unknown':
    case 'never':
      return true
    case 'object':
      return isPlainShape(def, search, level)
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
      return isPlain(def.innerType, search, level + 1)
    case 'array':
      return isPlain(def.element, search, level + 1)
    case 'union':
      return Array.isArray(def.options) && def.options.every((option) => isPlain(option, search, level + 1))
    case 'enum':
      return isRecord(def.entries) && arePlainValues(Object.values(def.entries), search)
    case 'literal':
      return Array.isArray(def.values) && arePlainValues(def.values, search)
    case 'default':
      return arePlainValues([def.defaultValue], search) && isPlain(def.innerType, search, level + 1)
    default:
      return false
  }
}

function isPlainShape(def: JsonObject, search: Search, level: number): boolean {
  const { shape, catchall } = def
  if (!isRecord(shape)) return false
  for (const key of Reflect.ownKeys(shape)) {
    if (typeof key !== 'string') return false
    search.text += key.length
    if (!isPlain(shape[key], search, level + 1)) return false
  }
  return search.text <= MAX_TEXT && (catchall === undefined || isPlain(catchall, search, level + 1))
}

function arePlainValues(values: readonly unknown[], search: Search): boolean {
  for (const value of values) {
    if (typeof value === 'string') search.text += value.length
    else if (typeof value === 'number' ? !Number.isFinite(value) : typeof value !== 'boolean' && value !== null)
      return false
  }
  return values.length > 0 && search.text <= MAX_TEXT
}

/** Can the metadata be a part of a JSON Schema? Zod copies it as it is. */
function isPlainMetadata(metadata: unknown, search: Search): boolean {
  if (metadata === undefined) return true
  if (!isRecord(metadata)) return false
  for (const key in metadata) {
    const value = metadata[key]
    if ((key !== 'description' && key !== 'title') || typeof value !== 'string') return false
    search.text += value.length
  }
  return search.text <= MAX_TEXT
}

function hasPlainChecks(checks: unknown): boolean {
  if (checks === undefined) return true
  return Array.isArray(checks) && checks.every(isPlainCheck)
}

function isPlainCheck(check: unknown): boolean {
  const def = isRecord(check) && isRecord(check._zod) && isRecord(check._zod.def) ? check._zod.def : undefined
  switch (def?.check) {
    case 'greater_than':
    case 'less_than':
      return Number.isFinite(def.value)
    case 'min_length':
      return isCount(def.minimum)
    case 'max_length':
      return isCount(def.maximum)
    case 'length_equals':
      return isCount(def.length)
    case 'custom':
    case 'overwrite':
    case 'string_format':
    case 'number_format':
      return true
    default:
      return false
  }
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0
}
