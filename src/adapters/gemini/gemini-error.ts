/** A failed request to Gemini. The message says what to do. It contains no API key. */
export class GeminiError extends Error {
  /** Always `GeminiError`. */
  override readonly name: string = 'GeminiError'
  /** HTTP status. Undefined when there was no error response. */
  readonly status: number | undefined
  /** Google's error status (`RESOURCE_EXHAUSTED`), or the finish reason of an unusable reply (`MALFORMED_FUNCTION_CALL`). */
  readonly reason: string | undefined
  /** Whether the same request may succeed later or with another model. */
  readonly isRetryable: boolean
  constructor(
    message: string,
    options: { status?: number | undefined; reason?: string | undefined; isRetryable?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.status = options.status
    this.reason = options.reason
    this.isRetryable = options.isRetryable === true
  }
}
