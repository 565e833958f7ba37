// Servers forget sessions, for example when they restart. The protocol then wants status 404; many published servers answer
// 400, and some another status or an error of their own. These have other causes, too.
import type { McpConnection } from '../connection/connection.ts'
import { refusalOf } from '../connection/refusal.ts'
import { isLostSession } from './call-error.ts'

/** `not-run`: the server says that it has not run the request. `unsure`: it has most likely not. */
export type SessionLoss = 'not-run' | 'unsure'

/** Whether an error says that the server has lost the session of the connection. Undefined if it has not. */
export async function sessionLoss(
  connection: McpConnection,
  error: unknown,
  signal?: AbortSignal,
): Promise<SessionLoss | undefined> {
  if (!connection.hasSession || signal?.aborted) return undefined
  if (isLostSession(error)) return 'not-run'
  const refusal = refusalOf(error)
  if (refusal === undefined) return undefined
  return (await connection.isSessionLost(refusal, signal)) ? 'unsure' : undefined
}
