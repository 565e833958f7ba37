import type { JsonObject } from '../../core/base/json.ts'

/** Settings of one run. */
export interface RunConfig {
  /** Yield the model's text as it arrives, as partial events. Default false. */
  readonly streaming?: boolean | undefined
  /** Maximum number of model calls of the invocation, including sub-agents and agent tools. Default 500. */
  readonly maxLlmCalls?: number | undefined
  /** Start at once, and continue when the consumer stops iterating. Default false. */
  readonly detach?: boolean | undefined
  /** Data that is added to every event of the run. Default: none. */
  readonly customMetadata?: JsonObject | undefined
}
