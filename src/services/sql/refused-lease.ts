import type { ToolwrightError } from '../../core/error/error.ts'
import type { SessionKey } from '../session/service.ts'
import { leaseLost, sessionGone } from '../session/session-errors.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'

/** Why a lease is not held: the session was deleted, or the lease has ended. */
export function* refusedLease(
  { sessions }: Pick<SessionTables, 'sessions'>,
  key: SessionKey,
): SqlWork<ToolwrightError> {
  const row = (yield* sessions.find(key)) ?? (yield* sessions.findCopy(key))
  return row ? leaseLost(key.sessionId) : sessionGone(key.sessionId)
}
