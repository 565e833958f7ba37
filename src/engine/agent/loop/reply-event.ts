// The event of a model reply.
import { isRecord, jsonSize } from '../../../core/base/json.ts'
import { clip, MAX_CONTENT_BYTES } from '../../../core/base/limits.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type Content, hasParts, partsSize, textOf } from '../../../core/content/content.ts'
import { codeCallOf } from '../../../core/event/code-call.ts'
import { NO_ACTIONS } from '../../../core/event/event.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { LlmResponse } from '../../model/model.ts'
import type { RecordedTurn } from './run-host.ts'

/** A longer name of a model is cut. */
const MAX_MODEL_NAME = 200

/** The event of a final response. Writes the answer to the `outputKey` and adds the actions of callbacks. */
export function replyEvent(turn: RecordedTurn, content: Content, response: LlmResponse): EventDraft {
  const { run, plan, frame } = turn
  const { agent } = plan
  const { outputKey } = agent.options
  if (!agent.output && outputKey !== undefined && isFinal(content, response)) {
    turn.context.state.set(outputKey, textOf(content))
  }
  const event = run.recorder.draft(agent.name, frame, content, NO_ACTIONS)
  event.turnComplete = true
  const model = response.modelVersion ?? turn.repliedBy
  if (model !== undefined) event.modelVersion = clip(String(model), MAX_MODEL_NAME)
  withReplyMetadata(event, response)
  if (response.errorCode !== undefined) {
    event.errorCode = clip(String(response.errorCode))
    if (response.errorMessage !== undefined) event.errorMessage = clip(String(response.errorMessage))
  }
  const grounding = run.fold.scopes.get(frame.path)?.grounding
  if (grounding) event.groundingMetadata ??= grounding
  const actions = turn.takeActions()
  if (actions) event.actions = actions
  return event
}

/** Is a value from a model or a callback a response? */
export function isResponse(value: unknown): value is LlmResponse {
  if (!isRecord(value)) return false
  const { content } = value
  return content === undefined || content === null || hasParts(content)
}

/** Is the reply the agent's final answer? It must have no calls, no code to run and no error. */
export function isFinal({ parts }: Content, { errorCode }: LlmResponse): boolean {
  return (
    errorCode === undefined &&
    !parts.some((part, at) => part.functionCall || (part.executableCode && codeCallOf(parts, at)))
  )
}

/** Is the reply too large to be recorded? Metadata counts, because it is recorded with the reply. */
export function isReplyTooLarge(content: Content, response: LlmResponse): boolean {
  if (partsSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) return true
  const { usageMetadata, groundingMetadata, citationMetadata, customMetadata, fallback } = response
  if (!usageMetadata && !groundingMetadata && !citationMetadata && !customMetadata && !fallback) return false
  const metadata = [usageMetadata, groundingMetadata, citationMetadata, customMetadata, fallback]
  return jsonSize(metadata, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES
}

/** Copies the metadata of a response to the event. */
export function withReplyMetadata(event: EventDraft, response: LlmResponse): void {
  if (response.interrupted !== undefined) event.interrupted = response.interrupted
  if (response.finishReason !== undefined) event.finishReason = clip(String(response.finishReason))
  if (response.usageMetadata !== undefined) event.usageMetadata = plainMetadata(response.usageMetadata)
  if (response.groundingMetadata !== undefined) event.groundingMetadata = plainMetadata(response.groundingMetadata)
  if (response.citationMetadata !== undefined) event.citationMetadata = plainMetadata(response.citationMetadata)
  if (response.customMetadata !== undefined) {
    event.customMetadata = { ...event.customMetadata, ...plainMetadata(response.customMetadata) }
  }
  if (response.fallback !== undefined) event.fallback = plainMetadata(response.fallback)
}

/** Metadata as JSON. A value that a store cannot hold must not make the reply fail. */
function plainMetadata<T extends object>(metadata: T): T {
  return toJsonValue(metadata).value as T
}
