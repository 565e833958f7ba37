import { isRecord } from '../../../src/core/base/json.ts'

/** A request that the server refused, or that failed on the way. */
export class ApiError extends Error {
  /** The HTTP status; 0 if the server did not answer. */
  readonly status: number
  /** The code of the error, such as `SESSION_BUSY`. */
  readonly code: string
  /** The id under which the server logged the error. */
  readonly correlationId: string | undefined

  constructor(
    message: string,
    options: { status?: number; code?: string; correlationId?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.status = options.status ?? 0
    this.code = options.code ?? 'INTERNAL'
    this.correlationId = options.correlationId
  }
}

/** Was there no connection to the server, or did it stop? The page connects again by itself. */
export function isOffline(error: unknown): boolean {
  return error instanceof ApiError && OFFLINE.has(error.code)
}

/** `DISCONNECTED`: during the answer. `INTERRUPTED`: the server stops. */
const OFFLINE: ReadonlySet<string> = new Set(['OFFLINE', 'DISCONNECTED', 'INTERRUPTED'])

/** Reads the body of an error response. Undefined if the value is not one. */
export function readApiError(value: unknown, status: number): ApiError | undefined {
  if (!isRecord(value) || typeof value.error !== 'string') return undefined
  const { error, errorCode, correlationId } = value
  return new ApiError(error, {
    status,
    code: typeof errorCode === 'string' ? errorCode : 'INTERNAL',
    correlationId: typeof correlationId === 'string' ? correlationId : undefined,
  })
}

/** What a user of the page can do, where the message of the server is for developers. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['PAUSED', 'This session waits for you. Answer its open requests first.'],
  ['SESSION_BUSY', 'A run of this session is under way. Wait for its end, or stop it.'],
  ['UNAUTHENTICATED', 'Open the address that the server printed when it started.'],
])

/** The error as one line for the user. */
export function describeError(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const advice = ADVICE.get(error.code)
  if (advice !== undefined) return advice
  // the operator finds a failure of the server under its id
  const isOfServer = error.status >= 500 && error.correlationId !== undefined
  return isOfServer ? `${error.message} (${error.code}, ${error.correlationId})` : error.message
}
