/** Thrown when a request gets no complete response. */
export class LostRequestError extends Error {
  /** Did the request certainly not reach the server? */
  readonly isUnsent: boolean
  constructor(message: string, isUnsent: boolean) {
    super(message)
    this.isUnsent = isUnsent
  }
}

/** Codes of errors before the first byte is sent: no address, no connection, no trusted certificate. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|ERR_TLS_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+)$/

/** What `fetch` throws for a port of another protocol, such as 9 or 6667: it sends nothing there. */
const BLOCKED_PORT = 'bad port'

/** The error of a fetch that failed. Only codes are shown: messages of HTTP clients can contain addresses with secrets. */
export function lostRequest(thrown: unknown, origin: string): LostRequestError {
  const cause = (thrown as { cause?: unknown } | undefined)?.cause
  if (cause instanceof Error && cause.message === BLOCKED_PORT)
    return new LostRequestError(
      `The API at ${origin} cannot be reached: fetch refuses its port. Use another port.`,
      true,
    )
  const code = codeOf(thrown) ?? codeOf(cause)
  const isUnsent = code !== undefined && UNSENT.test(code)
  const what = isUnsent ? 'cannot be reached' : 'closed the connection before the end of its response'
  return new LostRequestError(`The API at ${origin} ${what}${code === undefined ? '' : ` (${code})`}.`, isUnsent)
}

function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z\d_]{1,50}$/.test(code) ? code : undefined
}
