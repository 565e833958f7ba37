/** A model of a `fallback()` chain that failed. */
export interface FailedModel {
  /** The name of the model. */
  readonly model: string
  /** The error code: Google's reason, another code, or an HTTP status. */
  readonly code?: string
  /** The error message, without secrets. */
  readonly message: string
}

/** Which model of a `fallback()` chain replied, and which failed before it. */
export interface ModelFallback {
  /** The name of the model that replied. */
  readonly model: string
  /** The models that failed, in the order of the chain. */
  readonly from: readonly FailedModel[]
}
