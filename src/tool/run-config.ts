import type { JsonObject } from '../base/json.ts'

/** How one run behaves. */
export interface RunConfig {
  /** Yield the model's deltas as partial events. Default false. */
  readonly streaming?: boolean | undefined
  /** Model calls of the whole invocation, sub-agents and agent tools included. Default 500. */
  readonly maxLlmCalls?: number | undefined
  /** Start at once and go on when nobody reads the events. Default false. */
  readonly detach?: boolean | undefined
  /** Put on every event of the run. */
  readonly customMetadata?: JsonObject | undefined
}
