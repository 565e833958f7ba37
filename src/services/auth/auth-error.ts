/** A failed exchange, refresh or discovery. The message contains no secret: the model and the operator may see it. */
export class AuthError extends Error {
  /** `AuthError`. */
  override readonly name = 'AuthError'
  /** The authorization server no longer accepts the refresh token or the code. A new consent is needed. */
  readonly isFinal: boolean

  /** The authorization server does not know the client, or refuses its secret. */
  readonly isClientRefused: boolean

  constructor(message: string, options: { isFinal?: boolean; isClientRefused?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.isFinal = options.isFinal === true
    this.isClientRefused = options.isClientRefused === true
  }
}
