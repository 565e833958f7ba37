// The checks that Gemini reports as INVALID_ARGUMENT.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { GeminiRules } from '../gemini-script.ts'
import { schemaProblem } from './gemini-schema-rules.ts'
import { turnsProblem } from './gemini-turn-rules.ts'

/** The model that a request is checked for. */
interface RuleTarget {
  /** Whether the request goes to Vertex AI. */
  readonly isVertex: boolean
  /** The rules of the model. */
  readonly rules: GeminiRules
}

/** The first problem of a request, with Gemini's message. */
export function requestProblem(body: JsonObject, target: RuleTarget): string | undefined {
  return (
    turnsProblem(listOf(body.contents), target) ??
    cacheProblem(body) ??
    toolsProblem(body, target) ??
    outputProblem(body, target)
  )
}

function cacheProblem(body: JsonObject): string | undefined {
  if (body.cachedContent === undefined) return undefined
  if (!['systemInstruction', 'tools', 'toolConfig'].some((field) => body[field] !== undefined)) return undefined
  return 'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.'
}

function toolsProblem(body: JsonObject, { isVertex, rules }: RuleTarget): string | undefined {
  const tools = listOf(body.tools)
  const declarations = tools.flatMap((tool) => listOf(tool.functionDeclarations))
  for (const [at, declaration] of declarations.entries()) {
    const where = `tools[0].function_declarations[${at}]`
    if ('behavior' in declaration) return `${where}.behavior: is only supported by BidiGenerateContent.`
    const problem =
      parametersProblem(declaration, where) ??
      schemaProblem(declaration.responseJsonSchema, `${where}.response_json_schema`)
    if (problem) return problem
  }
  const builtIn = tools.flatMap((tool) => Object.keys(tool)).filter((name) => name !== 'functionDeclarations')
  const toolConfig = isRecord(body.toolConfig) ? body.toolConfig : {}
  if (toolConfig.includeServerSideToolInvocations !== undefined) {
    if (isVertex) return unknownName('includeServerSideToolInvocations', 'tool_config')
    if (!rules.mixesTools) return 'Tool call context circulation is not enabled for this model.'
  }
  if (!builtIn.length || !declarations.length) return undefined
  if (!rules.mixesTools) {
    return isVertex
      ? 'Multiple tools are supported only when they are all search tools.'
      : `Built-in tools ({${builtIn.join(', ')}}) and Function Calling cannot be combined in the same request.`
  }
  if (isVertex || toolConfig.includeServerSideToolInvocations === true) return undefined
  return 'Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.'
}

function parametersProblem({ parametersJsonSchema }: JsonObject, where: string): string | undefined {
  if (parametersJsonSchema === undefined) return undefined
  if (!isRecord(parametersJsonSchema) || parametersJsonSchema.type !== 'object') {
    return `${where}.parameters_json_schema: schema should be of type OBJECT.`
  }
  return schemaProblem(parametersJsonSchema, `${where}.parameters_json_schema`)
}

function outputProblem({ generationConfig, tools }: JsonObject, { rules }: RuleTarget): string | undefined {
  if (!isRecord(generationConfig)) return undefined
  const { responseMimeType, responseJsonSchema } = generationConfig
  if (responseJsonSchema !== undefined && responseMimeType !== 'application/json') {
    return 'response_json_schema requires response_mime_type application/json.'
  }
  const hasFunctions = listOf(tools).some((tool) => tool.functionDeclarations !== undefined)
  if (responseMimeType === 'application/json' && hasFunctions && !rules.mixesTools) {
    return "Function calling with a response mime type: 'application/json' is unsupported"
  }
  return schemaProblem(responseJsonSchema, 'generation_config.response_json_schema')
}

function unknownName(name: string, where: string): string {
  return `Invalid JSON payload received. Unknown name "${name}" at '${where}': Cannot find field.`
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
