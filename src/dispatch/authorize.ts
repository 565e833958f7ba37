// The credential gate: a call that needs a credential does not run without one.
import type { Batch } from './host.ts'
import { failure, type Prepared, type ReadyCall } from './outcome.ts'

/** The call as it may go on. Credentials cannot be resolved yet, so a call that needs one is refused. */
export async function authorize(_batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry } = ready
  if (!entry.tool.authConfig) return ready
  return failure(
    call,
    'AUTH_FAILED',
    `Tool "${call.name}" needs a credential and none can be resolved; it was not run.`,
  )
}
