/** Something an invocation waits for. */
export interface PendingRequest {
  readonly id: string
  readonly kind: 'confirmation' | 'credential' | 'input' | 'longRunning'
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
  readonly functionCallId: string
  readonly tool: string
  readonly args: { readonly [key: string]: unknown }
  /** What the person who decides is told. */
  readonly hint?: string
  readonly agent: string
  /** Seconds since the epoch. */
  readonly createdAt?: number
  /** Seconds since the epoch; after it the request counts as denied. */
  readonly expiresAt?: number
  /** Of several questions of one call, which. */
  readonly key?: string
  /** What an answer must look like, as JSON Schema; of a confirmation, what edited arguments must. */
  readonly schema?: { readonly [key: string]: unknown }
  /** `approve` may send other arguments. */
  readonly editable?: boolean
  /** What the tool gave along for whoever decides. */
  readonly payload?: unknown
  /** Where consent is given. */
  readonly authUri?: string
}
