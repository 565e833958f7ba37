import type { AiSdkModel } from '../ai-sdk-types.ts'
import { cleanMessage } from './clean-message.ts'

/** A failed request to an AI SDK model. Contains neither API keys nor the prompt. */
export class AiSdkError extends Error {
  /** Always `AiSdkError`. */
  override readonly name: string = 'AiSdkError'
  /** Provider of the model, for example `openai.responses`. */
  readonly provider: string
  /** Id of the model, for example `gpt-5`. */
  readonly model: string
  /** HTTP status of the response. Undefined when the provider did not respond. */
  readonly status: number | undefined
  /** Whether the same request may succeed when it is sent again. */
  readonly isRetryable: boolean
  /** Milliseconds the provider asks clients to wait before the next request. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    { provider, modelId }: Pick<AiSdkModel, 'provider' | 'modelId'>,
    details: { status?: number | undefined; isRetryable?: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.provider = provider
    this.model = modelId
    this.status = details.status
    this.isRetryable = details.isRetryable === true
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The error for a stream that ended before the reply was complete. */
export function cutOffError(model: AiSdkModel, cause?: unknown): AiSdkError {
  const message = `The reply of ${model.provider} was cut off before its end.`
  return new AiSdkError(message, model, { isRetryable: true, ...(cause !== undefined && { cause }) })
}

/** The error for a reply that ended with the finish reason `error`. */
export function failedReplyError(model: AiSdkModel, rawFinishReason: string | undefined): AiSdkError {
  const reason = rawFinishReason === undefined ? '' : ` (${cleanMessage(rawFinishReason)})`
  const message = `${model.provider} ended its reply with an error${reason}. The reply was not used.`
  return new AiSdkError(message, model, { isRetryable: true })
}

/** The error for a reply that is larger than one event may be. */
export function replyTooLargeError(model: AiSdkModel, maxBytes: number): AiSdkError {
  const message = `The reply of ${model.provider} has more than ${maxBytes} bytes and was not used. Set maxOutputTokens.`
  return new AiSdkError(message, model, {})
}

/** The error for a reply that was not complete after `timeoutMs`. */
export function replyTimeoutError(model: AiSdkModel, timeoutMs: number): AiSdkError {
  const message = `${model.provider} did not finish its reply within ${timeoutMs} ms. Raise timeoutMs of fromAiSdk().`
  return new AiSdkError(message, model, { isRetryable: true })
}
