import type { JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { WireTool } from '../../tool/wire.ts'
import { argumentsSchema, valueSchema } from '../schema/gemini-schema.ts'
import { appendNotes } from '../schema/describe-constraints.ts'

export interface WireTools {
  readonly entries: readonly JsonObject[]
  /** Names of what runs on Gemini's side. */
  readonly serverTools: readonly string[]
  readonly hasFunctions: boolean
}

/** All declarations in one entry, since Vertex AI takes only one; what runs on Gemini's side as it is. */
export function toWireTools(tools: readonly WireTool[]): WireTools {
  const declarations = tools.flatMap((entry) => entry.functionDeclarations ?? [])
  const others = tools.filter((entry) => entry.functionDeclarations === undefined)
  const entries: JsonObject[] = others.map((entry) => ({ ...entry }))
  if (declarations.length) entries.unshift({ functionDeclarations: declarations.map(toWireDeclaration) })
  return {
    entries,
    serverTools: [...new Set(others.flatMap((entry) => Object.keys(entry)))],
    hasFunctions: declarations.length > 0,
  }
}

// `behavior` is left out: only live sessions know it
function toWireDeclaration(declaration: FunctionDeclaration): JsonObject {
  const { name, description, parametersJsonSchema, responseJsonSchema } = declaration
  const wire: JsonObject = { name, description }
  if (responseJsonSchema) wire.responseJsonSchema = valueSchema(responseJsonSchema)
  if (!parametersJsonSchema) return wire
  const { schema, words } = argumentsSchema(parametersJsonSchema)
  if (words) wire.description = appendNotes(description, [words])
  if (schema.properties || schema.additionalProperties) wire.parametersJsonSchema = schema
  return wire
}
