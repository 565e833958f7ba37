/** The code of an error for the caller or the developer. Each code has one HTTP status: docs/reference/errors.md. */
export type ToolwrightErrorCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'ALREADY_ANSWERED'
  | 'SESSION_BUSY'
  | 'PAUSED'
  | 'STALE_APPEND'
  | 'LEASE_LOST'
  | 'SESSION_GONE'
  | 'EXPIRED'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'STORAGE'
  | 'UNAVAILABLE'
  | 'INTERRUPTED'
  | 'INTERNAL'
  | 'INVALID_CONFIG'
  | 'MISSING_PEER'
  | 'NEEDS_INFER'

const STATUS: { readonly [code in ToolwrightErrorCode]: number } = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ALREADY_ANSWERED: 409,
  SESSION_BUSY: 409,
  PAUSED: 409,
  STALE_APPEND: 409,
  LEASE_LOST: 409,
  SESSION_GONE: 410,
  EXPIRED: 410,
  TOO_LARGE: 413,
  RATE_LIMITED: 429,
  STORAGE: 503,
  UNAVAILABLE: 503,
  INTERRUPTED: 503,
  INTERNAL: 500,
  INVALID_CONFIG: 500,
  MISSING_PEER: 500,
  NEEDS_INFER: 500,
}

/** An error for the caller or the developer. The model never sees one. */
export class ToolwrightError extends Error {
  /** `ToolwrightError`. */
  override readonly name: string = 'ToolwrightError'
  /** The stable code of the error. */
  readonly code: ToolwrightErrorCode
  /** When to try again, in milliseconds. Set for `RATE_LIMITED`, if it is known. */
  declare readonly retryAfterMs?: number
  /** The HTTP status of the code. */
  get status(): number {
    return STATUS[this.code] ?? 500
  }
  constructor(code: ToolwrightErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(message, options)
    this.code = code
    if (options?.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

/** The codes that a tool body may set on a `ToolError`. */
export type ToolErrorCode =
  | 'NOT_FOUND'
  | 'INVALID_ARGS'
  | 'TIMEOUT'
  | 'CANCELLED'
  | 'EXECUTION_FAILED'
  | 'AUTH_FAILED'
  | 'UNKNOWN_OUTCOME'

/** Every `errorCode` that a tool response for the model can have. */
export type ResultErrorCode = ToolErrorCode | 'DEFINITION_CHANGED' | 'REPEATED_CALL' | 'INVALID_RESULT'

/**
 * An error for the model. A tool body throws it, and the model gets its message.
 *
 * @example
 * if (matches.length > 1) throw new ToolError('Which order? There are two of that name.', { code: 'INVALID_ARGS' })
 */
export class ToolError extends Error {
  /** `ToolError`. */
  override readonly name: string = 'ToolError'
  /** The `errorCode` that the model gets. */
  readonly code: ResultErrorCode
  constructor(message: string, options: { code?: ResultErrorCode; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = options.code ?? 'EXECUTION_FAILED'
  }
}

/** The message of any thrown value, also of values that are not errors and of errors that throw when they are read. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown
      if (typeof message === 'string' && message !== '') return message
    }
    if (thrown instanceof Error) return thrown.name
    return typeof thrown === 'string' ? thrown : `a value that is not an error was thrown (${typeof thrown})`
  } catch {
    return 'an error that cannot be read was thrown'
  }
}
