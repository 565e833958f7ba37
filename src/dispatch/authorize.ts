// The credential gate: a call that needs a credential does not run without one.
import { type CallResult, failure, type ReadyCall } from './outcome.ts'

/** Refuses a call whose tool has an `authConfig`: this version cannot resolve credentials. */
export function authorize({ call }: ReadyCall): CallResult {
  const problem = `Tool "${call.name}" was not run: it needs a credential, and none can be resolved. Use another tool.`
  return failure(call, 'AUTH_FAILED', problem)
}
