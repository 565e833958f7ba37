/** What Gemini refused, or what came between. The message says what to do about it; no key is in it. */
export class GeminiError extends Error {
  override readonly name: string = 'GeminiError'
  /** Of HTTP; undefined when there was no answer. */
  readonly status: number | undefined
  /** Google's word for it: `RESOURCE_EXHAUSTED`, `INVALID_ARGUMENT`, ..., or a finish reason: `MALFORMED_FUNCTION_CALL`. */
  readonly reason: string | undefined
  /** The same request may succeed later, or with another model. */
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
