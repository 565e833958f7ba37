// A request in the words of the client.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import type { RequestParams } from '../transport/attempt.ts'
import { isGemini3 } from '../capabilities.ts'
import { toWireContents } from './contents.ts'
import type { RequestSummary } from '../failure/failure-message.ts'
import { valueSchema } from '../schema/gemini-schema.ts'
import { toWireTools } from './tools.ts'

export interface GeminiRequest {
  readonly params: RequestParams
  readonly summary: RequestSummary
}

export function buildRequest(request: LlmRequest, name: string, isVertex: boolean): GeminiRequest {
  const model = request.model ?? name
  const { systemInstruction, tools = [], toolConfig, responseJsonSchema, responseMimeType, ...others } = request.config
  const { entries, serverTools, hasFunctions } = toWireTools(tools)
  const asked = { model, isVertex, serverTools, hasFunctions }
  const config: JsonObject = {}
  for (const option of Object.keys(others)) if (others[option] !== undefined) config[option] = others[option]
  if (responseJsonSchema) config.responseJsonSchema = valueSchema(responseJsonSchema)
  const mimeType = responseMimeType ?? (responseJsonSchema ? 'application/json' : undefined)
  if (mimeType !== undefined) config.responseMimeType = mimeType
  // a cache holds its own instruction and tools, and Gemini takes no others beside it
  if (config.cachedContent === undefined) {
    if (systemInstruction) config.systemInstruction = systemInstruction
    if (entries.length) config.tools = entries
    const fit = toWireToolConfig(toolConfig, asked)
    if (fit) config.toolConfig = fit
  }
  const isNew = isGemini3(model)
  const runsCode = serverTools.includes('codeExecution')
  return { params: { model, contents: toWireContents(request.contents, { isVertex, isGemini3, runsCode }), config }, summary }
}

function toWireToolConfig(given: unknown, { model, isVertex, serverTools, hasFunctions }: RequestSummary): JsonObject | undefined {
  const { functionCallingConfig, ...others } = isRecord(given) ? given : {}
  const config: JsonObject = { ...others }
  if (isRecord(functionCallingConfig)) {
    // half a call is nothing an event could hold
    const { streamFunctionCallArguments: _, ...calling } = functionCallingConfig
    config.functionCallingConfig = calling
  }
  const isMixed = serverTools.length > 0 && hasFunctions
  if (isMixed && !isVertex && isGemini3(model)) config.includeServerSideToolInvocations ??= true
  return Object.keys(config).length ? config : undefined
}
