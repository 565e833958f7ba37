// From what a model generated to a reply. Parts of a kind we do not know are passed over.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { base64, toPlain } from '../../base/plain.ts'
import type { Part } from '../../content/content.ts'
import type { LlmResponse } from '../../tool/model.ts'
import { answerAsText } from '../request/answer-tool.ts'
import { AiSdkError, cut, failed } from '../errors/to-ai-sdk-error.ts'
import { bagOf, type Kept, keep, keptOf } from '../provider-metadata.ts'
import type { AiSdkModel, AiSdkPart, AiSdkResult, Bag } from '../ai-sdk-types.ts'
import type { ToolNames } from '../request/tool-names.ts'
import { lacksSchema, Unfit } from '../errors/unsupported.ts'
import { toFinish, toUsage } from './usage.ts'

/** How a reply is read. */
export interface Reading {
  readonly model: AiSdkModel
  readonly names: ToolNames
  /** The answer must be JSON of this shape, so what is said on the way to it is no part of it. */
  readonly schema: JsonObject | undefined
  /** The provider sends no schema: a tool takes the answer. */
  readonly byTool: boolean
}

/** Throws when the provider says that it has left the schema out. */
export function checkWarnings({ schema, byTool }: Reading, warnings: unknown): void {
  if (schema && !byTool && lacksSchema(warnings)) throw new Unfit('schema')
}

/** The whole reply. */
export function toResponse(result: AiSdkResult, reading: Reading): LlmResponse {
  const { model, schema, byTool } = reading
  const finish = toFinish(result.finishReason)
  if (finish.unified === 'interrupted') throw cut(model)
  const read = result.content.flatMap((one) => toPart(one, reading) ?? [])
  const isLimited = finish.reason === 'MAX_TOKENS'
  const whole = isLimited ? withoutCutArgs(read) : read
  const parts = schema && byTool ? answerAsText(whole, schema) : whole
  // a reply that says nothing is reported below, with the provider's own reason
  if (finish.unified === 'error' && (parts.some(isSaid) || finish.reason === 'OTHER')) throw failed(model, finish.raw)
  const usageMetadata = toUsage(result.usage)
  const groundingMetadata = grounding(result)
  const citationMetadata = citations(result.content)
  const isNothing = finish.reason !== 'STOP' && !parts.some(isSaid)
  return {
    content: { role: 'model', parts },
    turnComplete: true,
    finishReason: finish.reason,
    ...(usageMetadata && { usageMetadata }),
    ...(groundingMetadata && { groundingMetadata }),
    ...(citationMetadata && { citationMetadata }),
    customMetadata: { aiSdk: about(result, model, finish.raw) },
    ...(isNothing && {
      errorCode: finish.reason,
      errorMessage: `${model.modelId} ended its reply without saying anything: ${finish.raw ?? finish.reason}.`,
    }),
  }
}

/**
 * The token limit may have hit before the first argument of the last call: `{}` is then no choice of the model's. The
 * arguments are passed on as what they are, nothing, which dispatch refuses.
 */
function withoutCutArgs(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1)
  const args = last?.functionCall?.args
  if (!last?.functionCall || !isRecord(args) || Object.keys(args).length > 0) return parts
  const nothing: unknown = '' // no object, as the type wants it, on purpose
  const functionCall = { ...last.functionCall, args: nothing as JsonObject }
  return [...parts.slice(0, -1), keep({ ...last, functionCall }, { ...keptOf(last), input: '' })]
}

/** Neither a thought nor something for the provider only. */
function isSaid({ text, thought, functionCall, inlineData, fileData }: Part): boolean {
  return !thought && Boolean(text || functionCall || inlineData || fileData)
}

function about(
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
    ...(Array.isArray(warnings) && warnings.length && { warnings: toPlain(warnings).value }),
    ...(isRecord(providerMetadata) && { providerMetadata: toPlain(providerMetadata).value }),
  }
}

function toPart(one: AiSdkPart, { model, schema, names }: Reading): Part | undefined {
  const part: AiSdkPart & JsonObject = { ...one }
  const metadata = bagOf(part.providerMetadata)
  const kept: Kept = metadata ? { metadata } : {}
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = string(part.text)
      if (text === '' && !metadata) return undefined
      if (part.type === 'reasoning') return keep({ text, thought: true }, kept)
      if (schema && isCommentary(metadata)) return keep({ text, thought: true }, { ...kept, isText: true })
      return keep({ text }, kept)
    }
    case 'file':
    case 'reasoning-file': {
      const file = toFilePart(part.data, string(part.mediaType))
      return file && keep(part.type === 'file' ? file : { ...file, thought: true }, kept)
    }
    case 'tool-call':
      return part.providerExecuted === true ? opaqueCall(part, metadata) : toCall(part, kept, names)
    case 'tool-result':
      return part.preliminary === true ? undefined : opaqueResult(part, metadata)
    case 'custom':
      if (part.kind === 'anthropic.message_start') return undefined // news of the stream, no content
      return opaque({ type: 'custom', kind: part.kind }, metadata)
    case 'tool-approval-request':
      throw new AiSdkError(
        `${model.provider} asks for approval before it runs a tool of its own, which nobody here can give. Configure the provider's tool so that it needs none.`,
        model,
        {},
      )
    default:
      return undefined
  }
}

/** Arguments that are no JSON object are passed on as they came: dispatch tells the model. */
function toCall(part: JsonObject, kept: Kept, names: ToolNames): Part {
  const input = typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {})
  const parsed = parse(input)
  const call = { id: string(part.toolCallId), name: names.toOurs(string(part.toolName)) }
  if (isRecord(parsed)) return keep({ functionCall: { ...call, args: parsed } }, kept)
  const args: unknown = input // no object, as the type wants it, on purpose
  return keep({ functionCall: { ...call, args: args as JsonObject } }, { ...kept, input })
}

/** Many models send nothing at all when there are no arguments. */
function parse(input: string): unknown {
  if (input.trim() === '') return {}
  try {
    return JSON.parse(input)
  } catch {
    return undefined
  }
}

/** What the provider runs itself never becomes a call of ours: it is kept for the provider, and nobody else reads it. */
function opaqueCall(part: JsonObject, metadata: Bag | undefined): Part {
  const { toolCallId, toolName } = part
  const input = typeof part.input === 'string' ? (parse(part.input) ?? part.input) : part.input
  return opaque({ type: 'tool-call', toolCallId, toolName, input, providerExecuted: true }, metadata)
}

function opaqueResult({ toolCallId, toolName, result, isError }: JsonObject, metadata: Bag | undefined): Part {
  const output = { type: isError === true ? 'error-json' : 'json', value: result ?? null }
  return opaque({ type: 'tool-result', toolCallId, toolName, output }, metadata)
}

function opaque(part: AiSdkPart & JsonObject, metadata: Bag | undefined): Part {
  return keep({}, { part: metadata ? { ...part, providerOptions: metadata } : part })
}

function toFilePart(data: unknown, mimeType: string): Part | undefined {
  const inner: unknown = isRecord(data) && data.type === 'data' ? data.data : data
  if (typeof inner === 'string') return { inlineData: { mimeType, data: inner } }
  if (inner instanceof Uint8Array) return { inlineData: { mimeType, data: base64(inner) } }
  if (isRecord(inner) && inner.type === 'url') return { fileData: { mimeType, fileUri: String(inner.url) } }
  return undefined
}

/** OpenAI says of some texts that they are no answer yet. */
function isCommentary(metadata: Bag | undefined): boolean {
  return Object.values(metadata ?? {}).some(({ phase }) => phase === 'commentary')
}

/** Gemini's own when the provider passes it on, else its shape made of the sources. */
function grounding({ content, providerMetadata }: AiSdkResult): JsonObject | undefined {
  for (const bag of Object.values(bagOf(providerMetadata) ?? {}))
    if (isRecord(bag.groundingMetadata)) return toPlain(bag.groundingMetadata).value as JsonObject
  const groundingChunks = content.flatMap((part) => (part.type === 'source' ? [toChunk({ ...part })] : []))
  return groundingChunks.length ? { groundingChunks } : undefined
}

function toChunk({ sourceType, url, title, filename, mediaType }: JsonObject): JsonObject {
  const named = typeof title === 'string' ? { title } : {}
  if (sourceType === 'url') return { web: { uri: string(url), ...named } }
  return { retrievedContext: { ...named, ...(toPlain({ filename, mediaType }).value as JsonObject) } }
}

function citations(content: readonly AiSdkPart[]): JsonObject | undefined {
  const found = content.flatMap((part) => {
    const { citations: given }: JsonObject = { ...part }
    return Array.isArray(given) ? given.filter(isRecord) : []
  })
  const all = found.map(({ source, startIndex, endIndex, citedText }) => {
    const { url, title }: JsonObject = isRecord(source) ? source : {}
    return toPlain({ startIndex, endIndex, uri: url, title, citedText }).value
  })
  return all.length ? { citations: all } : undefined
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
