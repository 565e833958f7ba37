import { ToolwrightError } from '../../../core/error/error.ts'
import type { Lease } from '../../../services/session/service.ts'

/** The lease of a session that was claimed. Throws NOT_FOUND if there is no such session. */
export function requireLease(lease: Lease | undefined, { sessionId }: { readonly sessionId: string }): Lease {
  if (lease) return lease
  throw new ToolwrightError(
    'NOT_FOUND',
    `There is no session "${sessionId}" of this user to resume. Check userId and sessionId; runner.pending() lists both for each request.`,
  )
}
