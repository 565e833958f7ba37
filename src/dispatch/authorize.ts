// The credential gate: a call that needs a credential does not run without one.
import type { Batch } from './host.ts'
import { failure, type Ready, type Result } from './outcome.ts'

/** Undefined lets the call through. Credentials cannot be resolved yet, so a call that needs one is refused. */
export async function authorize(_batch: Batch, { call, entry }: Ready): Promise<Result | undefined> {
  if (!entry.tool.authConfig) return undefined
  return failure(
    call,
    'AUTH_FAILED',
    `Tool "${call.name}" needs a credential and none can be resolved; it was not run.`,
  )
}
