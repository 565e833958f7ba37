// The attributes of spans, without content.

import type { Attributes } from '@opentelemetry/api'
import type { JsonObject } from '../../core/base/json.ts'
import type {
  AgentOperation,
  CallOperation,
  ModelOperation,
  OperationEnd,
  RunOperation,
  ToolOperation,
} from '../../engine/observe/operation.ts'
import { ATTRIBUTE, OTHER } from './names.ts'

/** The name of a tool. One that no tool has is text of a model. */
export function toolNameOf({ tool, description }: ToolOperation | CallOperation): string {
  return description === undefined ? OTHER : tool
}

/** `chat`, or as Google's models call it. */
export function modelOperationOf({ provider }: ModelOperation): string {
  return provider?.startsWith('gcp.') ? 'generate_content' : 'chat'
}

/** What samplers see of an agent. */
export function agentAttributes({ agent, description, run }: RunOperation | AgentOperation): Attributes {
  const attributes: Attributes = {
    [ATTRIBUTE.operation]: 'invoke_agent',
    [ATTRIBUTE.agent]: agent,
    [ATTRIBUTE.conversation]: run.sessionId,
    [ATTRIBUTE.session]: run.sessionId,
    [ATTRIBUTE.invocation]: run.invocationId,
  }
  if (description !== undefined) attributes[ATTRIBUTE.agentDescription] = description
  return attributes
}

/** What samplers see of a model call. */
export function modelAttributes(operation: ModelOperation): Attributes {
  const { model, provider, agent, run, stream, request } = operation
  const attributes: Attributes = {
    [ATTRIBUTE.operation]: modelOperationOf(operation),
    [ATTRIBUTE.provider]: provider ?? UNKNOWN_PROVIDER,
    [ATTRIBUTE.requestModel]: model,
    [ATTRIBUTE.agent]: agent,
    [ATTRIBUTE.conversation]: run.sessionId,
    [ATTRIBUTE.session]: run.sessionId,
    [ATTRIBUTE.stream]: stream,
  }
  if (!request) return attributes
  const { temperature, maxOutputTokens, topP, topK, responseMimeType } = request.config
  if (typeof temperature === 'number') attributes[ATTRIBUTE.temperature] = temperature
  if (typeof maxOutputTokens === 'number') attributes[ATTRIBUTE.maxTokens] = maxOutputTokens
  if (typeof topP === 'number') attributes[ATTRIBUTE.topP] = topP
  if (typeof topK === 'number') attributes[ATTRIBUTE.topK] = topK
  if (responseMimeType !== undefined)
    attributes[ATTRIBUTE.outputType] = responseMimeType === 'application/json' ? 'json' : 'text'
  return attributes
}

/** The provider of a model that does not say who provides it. */
export const UNKNOWN_PROVIDER = 'unknown'

/** What is known of a model call at its end. */
export function replyAttributes({ response, firstDeltaMs }: OperationEnd, tokens: Tokens, stream: boolean): Attributes {
  const attributes: Attributes = { ...tokenAttributes(tokens) }
  if (tokens.cached !== undefined) attributes[ATTRIBUTE.cachedTokens] = tokens.cached
  if (tokens.reasoning !== undefined) attributes[ATTRIBUTE.reasoningTokens] = tokens.reasoning
  if (stream && firstDeltaMs !== undefined) attributes[ATTRIBUTE.timeToFirstChunk] = firstDeltaMs / 1000
  if (!response) return attributes
  const { fallback, finishReason } = response
  if (fallback) attributes[ATTRIBUTE.responseModel] = fallback.model
  if (finishReason !== undefined) attributes[ATTRIBUTE.finishReasons] = [finishReason]
  return attributes
}

/** Token counts as attributes, of a model call or of all calls of an agent. */
export function tokenAttributes({ input, output }: Pick<Tokens, 'input' | 'output'>): Attributes {
  return {
    ...(input !== undefined && { [ATTRIBUTE.inputTokens]: input }),
    ...(output !== undefined && { [ATTRIBUTE.outputTokens]: output }),
  }
}

/** What samplers see of a tool call. */
export function toolAttributes(operation: ToolOperation | CallOperation): Attributes {
  const { agent, run, callId, description, type } = operation
  const attributes: Attributes = {
    [ATTRIBUTE.operation]: 'execute_tool',
    [ATTRIBUTE.tool]: toolNameOf(operation),
    [ATTRIBUTE.toolType]: 'function',
    [ATTRIBUTE.callId]: callId,
    [ATTRIBUTE.agent]: agent,
    [ATTRIBUTE.conversation]: run.sessionId,
    [ATTRIBUTE.session]: run.sessionId,
  }
  if (description !== undefined) attributes[ATTRIBUTE.toolDescription] = description
  if (type === 'tool') attributes[ATTRIBUTE.attempt] = operation.attempt
  return attributes
}

/** The tokens of a model call. Undefined: the provider does not say. */
export interface Tokens {
  /** Tokens that the model read, cached ones included. */
  readonly input: number | undefined
  /** Tokens that the model wrote, with those of its thoughts. */
  readonly output: number | undefined
  /** Cached tokens. */
  readonly cached?: number | undefined
  /** Tokens of thoughts. */
  readonly reasoning?: number | undefined
}

const NO_TOKENS: Tokens = { input: undefined, output: undefined }

/** The tokens that a reply names. */
export function tokensOf(usage: JsonObject | undefined): Tokens {
  if (!usage) return NO_TOKENS
  const read = countIn(usage.promptTokenCount)
  const ofTools = countIn(usage.toolUsePromptTokenCount)
  const written = countIn(usage.candidatesTokenCount)
  const reasoning = countIn(usage.thoughtsTokenCount)
  return {
    input: read === undefined && ofTools === undefined ? undefined : (read ?? 0) + (ofTools ?? 0),
    output: written === undefined && reasoning === undefined ? undefined : (written ?? 0) + (reasoning ?? 0),
    cached: countIn(usage.cachedContentTokenCount),
    reasoning,
  }
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}
