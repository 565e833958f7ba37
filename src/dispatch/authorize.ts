// The credential gate: a call that needs a credential does not run without one.
import { type CallResult, failure, type ReadyCall } from './outcome.ts'

/** Refuses a call whose tool has an `authConfig`: credentials cannot be resolved yet. */
export function authorize({ call }: ReadyCall): CallResult {
  const problem = `Tool "${call.name}" needs a credential and none can be resolved; it was not run.`
  return failure(call, 'AUTH_FAILED', problem)
}
