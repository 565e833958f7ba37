// The attributes of spans, without content.

import type { Attributes } from '@opentelemetry/api'
import { LABEL, UNKNOWN_PROVIDER } from '../../engine/observe/metrics/metric-table.ts'
import { modelOperationOf, type Tokens, toolNameOf } from '../../engine/observe/metrics/operation-facts.ts'
import type { Sums } from '../../engine/observe/metrics/run-metrics.ts'
import type {
  AgentOperation,
  CallOperation,
  ModelOperation,
  OperationEnd,
  RunOperation,
  ToolOperation,
} from '../../engine/observe/operation.ts'
import { ATTRIBUTE } from './names.ts'

/** What samplers see of an agent. */
export function agentAttributes({ agent, description, run }: RunOperation | AgentOperation): Attributes {
  const attributes: Attributes = {
    [LABEL.operation]: 'invoke_agent',
    [LABEL.agent]: agent,
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
    [LABEL.operation]: modelOperationOf(operation),
    [LABEL.provider]: provider ?? UNKNOWN_PROVIDER,
    [LABEL.requestModel]: model,
    [LABEL.agent]: agent,
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

/** Adds what is known of a model call at its end. */
export function addReply(to: Attributes, { response }: OperationEnd, tokens: Tokens): void {
  addTokens(to, tokens)
  if (tokens.cached !== undefined) to[ATTRIBUTE.cachedTokens] = tokens.cached
  if (tokens.reasoning !== undefined) to[ATTRIBUTE.reasoningTokens] = tokens.reasoning
  if (!response) return
  const { fallback, finishReason } = response
  if (fallback) to[ATTRIBUTE.responseModel] = fallback.model
  if (finishReason !== undefined) to[ATTRIBUTE.finishReasons] = [finishReason]
}

/** Adds when the first part of a streamed reply came. */
export function addFirstChunk(to: Attributes, { firstDeltaMs }: OperationEnd): void {
  if (firstDeltaMs !== undefined) to[ATTRIBUTE.timeToFirstChunk] = firstDeltaMs / 1000
}

/** Adds the sums of all model calls of an agent. */
export function addSums(to: Attributes, sums: Sums): void {
  addTokens(to, sums)
  if (sums.provider !== undefined) to[LABEL.provider] = sums.provider
}

function addTokens(to: Attributes, { input, output }: Pick<Tokens, 'input' | 'output'>): void {
  if (input !== undefined) to[ATTRIBUTE.inputTokens] = input
  if (output !== undefined) to[ATTRIBUTE.outputTokens] = output
}

/** What samplers see of a tool call. */
export function toolAttributes(operation: ToolOperation | CallOperation): Attributes {
  const { agent, run, callId, description, type } = operation
  const attributes: Attributes = {
    [LABEL.operation]: 'execute_tool',
    [LABEL.tool]: toolNameOf(operation),
    [ATTRIBUTE.toolType]: 'function',
    [ATTRIBUTE.callId]: callId,
    [LABEL.agent]: agent,
    [ATTRIBUTE.conversation]: run.sessionId,
    [ATTRIBUTE.session]: run.sessionId,
  }
  if (description !== undefined) attributes[ATTRIBUTE.toolDescription] = description
  if (type === 'tool') attributes[ATTRIBUTE.attempt] = operation.attempt
  return attributes
}
