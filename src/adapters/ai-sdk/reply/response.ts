// Converts what an AI SDK model generated to a response. Unknown parts are ignored.

import { encodeBase64 } from '../../../core/base/base64.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { Part } from '../../../core/content/content.ts'
import type { LlmResponse } from '../../../engine/model/model.ts'
import type { AiSdkModel, AiSdkPart, AiSdkResult, ProviderOptions } from '../ai-sdk-types.ts'
import { AiSdkError, cutOffError, failedReplyError } from '../errors/ai-sdk-error.ts'
import { hasSchemaWarning, UnsupportedByProvider } from '../errors/unsupported.ts'
import { readProviderMetadata, readStoredMetadata, type StoredMetadata, storeMetadata } from '../provider-metadata.ts'
import { answerAsText } from '../request/answer-tool.ts'
import type { ToolNames } from '../request/tool-names.ts'
import { toFinishReason } from './finish-reason.ts'
import { toCitationMetadata, toGroundingMetadata } from './sources.ts'
import { toUsage } from './usage.ts'

/** What is needed to read a reply. */
export interface ReplyContext {
  /** The model that replies. */
  readonly model: AiSdkModel
  /** Tool names as the provider knows them. */
  readonly names: ToolNames
  /** The response schema. If set, text before the JSON answer is not part of the answer. */
  readonly schema: JsonObject | undefined
  /** Whether the model returns its structured output by calling a tool, because the provider sends no schema. */
  readonly usesAnswerTool: boolean
}

/** Throws when the provider warns that it ignored the response schema. */
export function checkWarnings({ schema, usesAnswerTool }: ReplyContext, warnings: unknown): void {
  if (schema && !usesAnswerTool && hasSchemaWarning(warnings)) throw new UnsupportedByProvider('schema')
}

/** The complete response for a result. */
export function toResponse(result: AiSdkResult, reply: ReplyContext): LlmResponse {
  const { model, schema, usesAnswerTool } = reply
  const finish = toFinishReason(result.finishReason)
  if (finish.unified === 'interrupted') throw cutOffError(model)
  const allParts = result.content.flatMap((one) => toPart(one, reply) ?? [])
  const isLimited = finish.reason === 'MAX_TOKENS'
  const usableParts = isLimited ? invalidateCutOffArgs(allParts) : allParts
  const parts = schema && usesAnswerTool ? answerAsText(usableParts, schema) : usableParts
  // an empty reply is reported below, with the provider's finish reason
  if (finish.unified === 'error' && (parts.some(isVisible) || finish.reason === 'OTHER'))
    throw failedReplyError(model, finish.raw)
  const usageMetadata = toUsage(result.usage)
  const groundingMetadata = toGroundingMetadata(result)
  const citationMetadata = toCitationMetadata(result.content)
  const isEmpty = finish.reason !== 'STOP' && !parts.some(isVisible)
  return {
    content: { role: 'model', parts },
    turnComplete: true,
    finishReason: finish.reason,
    ...(usageMetadata && { usageMetadata }),
    ...(groundingMetadata && { groundingMetadata }),
    ...(citationMetadata && { citationMetadata }),
    customMetadata: { aiSdk: replyMetadata(result, model, finish.raw) },
    ...(isEmpty && {
      errorCode: finish.reason,
      errorMessage: `${model.modelId} sent an empty reply. Finish reason: ${finish.raw ?? finish.reason}.`,
    }),
  }
}

/**
 * Replaces the arguments of the last call if the token limit cut it off before its first argument. Providers report
 * `{}` for such a call. Dispatch rejects the empty string that replaces it.
 */
function invalidateCutOffArgs(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1)
  const args = last?.functionCall?.args
  if (!last?.functionCall || !isRecord(args) || Object.keys(args).length > 0) return parts
  const nothing: unknown = '' // deliberately not an object: dispatch must reject it
  const functionCall = { ...last.functionCall, args: nothing as JsonObject }
  return [...parts.slice(0, -1), storeMetadata({ ...last, functionCall }, { ...readStoredMetadata(last), input: '' })]
}

/** Whether a part is output for the user: not a thought, and not for the provider only. */
function isVisible({ text, thought, functionCall, inlineData, fileData }: Part): boolean {
  return !thought && Boolean(text || functionCall || inlineData || fileData)
}

function replyMetadata(
  result: AiSdkResult,
  { provider, modelId }: AiSdkModel,
  rawFinishReason: string | undefined,
): JsonObject {
  const { response, warnings, providerMetadata } = result
  return {
    provider,
    modelId: response?.modelId ?? modelId,
    ...(response?.id !== undefined && { responseId: response.id }),
    ...(rawFinishReason !== undefined && { finishReason: rawFinishReason }),
    ...(Array.isArray(warnings) && warnings.length && { warnings: toJsonValue(warnings).value }),
    ...(isRecord(providerMetadata) && { providerMetadata: toJsonValue(providerMetadata).value }),
  }
}

function toPart(one: AiSdkPart, { model, schema, names }: ReplyContext): Part | undefined {
  const part: AiSdkPart & JsonObject = { ...one }
  const metadata = readProviderMetadata(part.providerMetadata)
  const stored: StoredMetadata = metadata ? { metadata } : {}
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = stringOrEmpty(part.text)
      if (text === '' && !metadata) return undefined
      if (part.type === 'reasoning') return storeMetadata({ text, thought: true }, stored)
      if (schema && isCommentary(metadata)) return storeMetadata({ text, thought: true }, { ...stored, isText: true })
      return storeMetadata({ text }, stored)
    }
    case 'file':
    case 'reasoning-file': {
      const file = toFilePart(part.data, stringOrEmpty(part.mediaType))
      return file && storeMetadata(part.type === 'file' ? file : { ...file, thought: true }, stored)
    }
    case 'tool-call':
      return part.providerExecuted === true ? providerCallPart(part, metadata) : toCallPart(part, stored, names)
    case 'tool-result':
      return part.preliminary === true ? undefined : providerResultPart(part, metadata)
    case 'custom':
      if (part.kind === 'anthropic.message_start') return undefined // a stream event, not content
      return providerOnlyPart({ type: 'custom', kind: part.kind }, metadata)
    case 'tool-approval-request':
      throw new AiSdkError(
        `${model.provider} requests an approval before it runs a provider tool, but fromAiSdk() cannot answer such a request. Turn the approval off in the options of the provider tool.`,
        model,
        {},
      )
    default:
      return undefined
  }
}

/**
 * The part for a tool call. Arguments that are not a JSON object are passed on unchanged: dispatch rejects them with
 * an error for the model.
 */
function toCallPart(part: JsonObject, stored: StoredMetadata, names: ToolNames): Part {
  const input = typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {})
  const parsed = parseArgs(input)
  const call = { id: stringOrEmpty(part.toolCallId), name: names.toToolName(stringOrEmpty(part.toolName)) }
  if (isRecord(parsed)) return storeMetadata({ functionCall: { ...call, args: parsed } }, stored)
  const args: unknown = input // deliberately not an object: dispatch must reject it
  return storeMetadata({ functionCall: { ...call, args: args as JsonObject } }, { ...stored, input })
}

/** Parses arguments. Many models send an empty string for a call without arguments. */
function parseArgs(input: string): unknown {
  if (input.trim() === '') return {}
  try {
    return JSON.parse(input)
  } catch {
    return undefined
  }
}

/** A call that the provider runs itself. It is stored for the provider only and never dispatched. */
function providerCallPart(part: JsonObject, metadata: ProviderOptions | undefined): Part {
  const { toolCallId, toolName } = part
  const input = typeof part.input === 'string' ? (parseArgs(part.input) ?? part.input) : part.input
  return providerOnlyPart({ type: 'tool-call', toolCallId, toolName, input, providerExecuted: true }, metadata)
}

function providerResultPart(
  { toolCallId, toolName, result, isError }: JsonObject,
  metadata: ProviderOptions | undefined,
): Part {
  const output = { type: isError === true ? 'error-json' : 'json', value: result ?? null }
  return providerOnlyPart({ type: 'tool-result', toolCallId, toolName, output }, metadata)
}

function providerOnlyPart(part: AiSdkPart & JsonObject, metadata: ProviderOptions | undefined): Part {
  return storeMetadata({}, { part: metadata ? { ...part, providerOptions: metadata } : part })
}

function toFilePart(data: unknown, mimeType: string): Part | undefined {
  const inner: unknown = isRecord(data) && data.type === 'data' ? data.data : data
  if (typeof inner === 'string') return { inlineData: { mimeType, data: inner } }
  if (inner instanceof Uint8Array) return { inlineData: { mimeType, data: encodeBase64(inner) } }
  if (isRecord(inner) && inner.type === 'url') return { fileData: { mimeType, fileUri: String(inner.url) } }
  return undefined
}

/** Whether OpenAI marked a text as commentary before the answer. */
function isCommentary(metadata: ProviderOptions | undefined): boolean {
  return Object.values(metadata ?? {}).some(({ phase }) => phase === 'commentary')
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
