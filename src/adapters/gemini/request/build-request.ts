import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import { isGemini3 } from '../capabilities.ts'
import type { RequestSummary } from '../failure/failure-message.ts'
import { valueSchema } from '../schema/gemini-schema.ts'
import type { RequestParams } from '../transport/send-request.ts'
import { toGeminiContents } from './contents.ts'
import { toGeminiTools } from './tools.ts'

/** A request for the client. */
export interface GeminiRequest {
  /** What to send. */
  readonly params: RequestParams
  /** What error messages need to know about the request. */
  readonly summary: RequestSummary
}

/** Converts a request to the format of the client. */
export function buildRequest(request: LlmRequest, name: string, isVertex: boolean): GeminiRequest {
  const model = request.model ?? name
  const { systemInstruction, tools = [], toolConfig, responseJsonSchema, responseMimeType, ...others } = request.config
  const { entries, serverTools, hasFunctions } = toGeminiTools(tools)
  const summary = { model, isVertex, serverTools, hasFunctions }
  const config: JsonObject = {}
  for (const option of Object.keys(others)) if (others[option] !== undefined) config[option] = others[option]
  if (responseJsonSchema) config.responseJsonSchema = valueSchema(responseJsonSchema)
  const mimeType = responseMimeType ?? (responseJsonSchema ? 'application/json' : undefined)
  if (mimeType !== undefined) config.responseMimeType = mimeType
  // cached content includes its instruction and tools; Gemini rejects others
  if (config.cachedContent === undefined) {
    if (systemInstruction) config.systemInstruction = systemInstruction
    if (entries.length) config.tools = entries
    const geminiToolConfig = toGeminiToolConfig(toolConfig, summary)
    if (geminiToolConfig) config.toolConfig = geminiToolConfig
  }
  const target = { isVertex, isGemini3: isGemini3(model), runsCode: serverTools.includes('codeExecution') }
  return { params: { model, contents: toGeminiContents(request.contents, target), config }, summary }
}

function toGeminiToolConfig(
  given: unknown,
  { model, isVertex, serverTools, hasFunctions }: RequestSummary,
): JsonObject | undefined {
  const { functionCallingConfig, ...others } = isRecord(given) ? given : {}
  const config: JsonObject = { ...others }
  if (isRecord(functionCallingConfig)) {
    // an event cannot contain an incomplete call
    const { streamFunctionCallArguments: _, ...calling } = functionCallingConfig
    config.functionCallingConfig = calling
  }
  const isMixed = serverTools.length > 0 && hasFunctions
  if (isMixed && !isVertex && isGemini3(model)) config.includeServerSideToolInvocations ??= true
  return Object.keys(config).length ? config : undefined
}
