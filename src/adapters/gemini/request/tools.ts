import type { JsonObject } from '../../../core/base/json.ts'
import type { FunctionDeclaration } from '../../../core/content/content.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import { appendNotes } from '../schema/describe-constraints.ts'
import { argumentsSchema, valueSchema } from '../schema/gemini-schema.ts'

/** The tools of a request in Gemini's format. */
interface GeminiTools {
  /** The `tools` of the request. */
  readonly entries: readonly JsonObject[]
  /** Names of the server tools. */
  readonly serverTools: readonly string[]
  /** Whether the request declares functions. */
  readonly hasFunctions: boolean
}

/**
 * Converts tools. All declarations are in one entry, because Vertex AI accepts only one. `keepsBehavior`: declarations keep
 * `behavior`, which only live sessions of the Gemini API accept.
 */
export function toGeminiTools(
  tools: readonly ConfigTool[],
  { keepsBehavior = false }: { keepsBehavior?: boolean } = {},
): GeminiTools {
  const declarations = tools.flatMap((entry) => entry.functionDeclarations ?? [])
  const others = tools.filter((entry) => entry.functionDeclarations === undefined)
  const entries: JsonObject[] = others.map((entry) => ({ ...entry }))
  if (declarations.length) {
    const functionDeclarations = declarations.map((declaration) => {
      const { behavior } = declaration
      return { ...toGeminiDeclaration(declaration), ...(keepsBehavior && behavior !== undefined && { behavior }) }
    })
    entries.unshift({ functionDeclarations })
  }
  return {
    entries,
    serverTools: [...new Set(others.flatMap((entry) => Object.keys(entry)))],
    hasFunctions: declarations.length > 0,
  }
}

function toGeminiDeclaration(declaration: FunctionDeclaration): JsonObject {
  const { name, description, parametersJsonSchema, responseJsonSchema } = declaration
  const sent: JsonObject = { name, description }
  if (responseJsonSchema) sent.responseJsonSchema = valueSchema(responseJsonSchema)
  if (!parametersJsonSchema) return sent
  const { schema, notes } = argumentsSchema(parametersJsonSchema)
  if (notes) sent.description = appendNotes(description, [notes])
  if (schema.properties || schema.additionalProperties) sent.parametersJsonSchema = schema
  return sent
}
