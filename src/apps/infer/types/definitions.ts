import type ts from 'typescript-classic'
import { copyJson, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { Reading } from './reading.ts'

/** Reads a type that may contain itself. Then its schema becomes a definition, and the type a reference to it. */
export function withDefinition(reading: Reading, type: ts.Type, read: () => JsonObject): JsonObject {
  const known = reading.names.get(type)
  if (known !== undefined || reading.open.includes(type)) return reference(known ?? nameType(reading, type))
  reading.open.push(type)
  const schema = read()
  reading.open.pop()
  const name = reading.names.get(type)
  if (name === undefined) return schema
  setOwn(reading.definitions, name, schema)
  return reference(name)
}

/** A copy of the definition that a schema refers to, or the schema itself. A model needs an object at the top, not a reference. */
export function withoutReference({ definitions }: Reading, schema: JsonObject): JsonObject {
  const { $ref, ...rest } = schema
  if (typeof $ref !== 'string') return schema
  return { ...copyJson(definitions[$ref.replace('#/$defs/', '')] as JsonObject), ...rest }
}

/** The whole schema, with its definitions. */
export function withDefinitions(reading: Reading, schema: JsonObject): JsonObject {
  const { definitions } = reading
  if (Object.keys(definitions).length === 0) return schema
  return { ...withoutReference(reading, schema), $defs: definitions }
}

function reference(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` }
}

function nameType({ names }: Reading, type: ts.Type): string {
  const symbol = type.aliasSymbol ?? type.symbol
  const isNamed = symbol && /^[A-Za-z]\w*$/.test(symbol.name) && !['Array', 'ReadonlyArray'].includes(symbol.name)
  const base = isNamed ? symbol.name : 'Type'
  const taken = new Set(names.values())
  let name = base
  for (let next = 2; taken.has(name); next++) name = `${base}${next}`
  names.set(type, name)
  return name
}
