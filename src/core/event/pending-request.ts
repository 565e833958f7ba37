/** An open request of an invocation: a confirmation, input, a credential, or the result of a long-running call. */
export interface PendingRequest {
  /** The id an answer must name. For a long-running call, the id of the call. */
  readonly id: string
  /** The kind of request. */
  readonly kind: 'confirmation' | 'credential' | 'input' | 'longRunning'
  /** The user of the session. */
  readonly userId: string
  /** The session that waits. */
  readonly sessionId: string
  /** The invocation that waits. */
  readonly invocationId: string
  /** The tool call that waits. */
  readonly functionCallId: string
  /** The name of the tool. */
  readonly tool: string
  /** The arguments of the call. */
  readonly args: { readonly [key: string]: unknown }
  /** What the body of a long-running call returned, such as `{ ticketId }`. Undefined for other kinds. */
  readonly handle?: { readonly [key: string]: unknown }
  /** The text to show to the approver. */
  readonly hint?: string
  /** The name of the agent that made the call. */
  readonly agent: string
  /**
   * When the request was made or the handle of a long-running call was recorded, in seconds since the epoch. Absent for
   * long-running calls that an earlier version has listed.
   */
  readonly createdAt?: number
  /** Seconds since the epoch. After it the request counts as denied, and a background call as interrupted. */
  readonly expiresAt?: number
  /** Distinguishes several requests of one call. */
  readonly key?: string
  /** The JSON Schema of the answer, or of the edited arguments of an editable confirmation. */
  readonly schema?: { readonly [key: string]: unknown }
  /** True when `approve` may send edited arguments. */
  readonly editable?: boolean
  /** Data of the tool for the approver. */
  readonly payload?: unknown
  /** The page on which the user gives consent to a credential. */
  readonly authUri?: string
}

/** When a request expires, in milliseconds since the epoch. Infinity: never. */
export function expiryOf({ expiresAt = Number.POSITIVE_INFINITY }: Pick<PendingRequest, 'expiresAt'>): number {
  return expiresAt * 1_000
}
