// Servers forget sessions, for example when they restart. The protocol then wants status 404; many published servers answer
// 400, which has other causes, too.
import { isRecord } from '../../base/json.ts'
import type { McpConnection } from '../connection/connection.ts'
import { isJsonRpcError, isLostSession } from './call-error.ts'

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
  if (!isBadRequest(error)) return undefined
  return (await connection.isSessionLost(signal)) ? 'unsure' : undefined
}

/** Is it the HTTP status 400, which is no answer of the tool? */
function isBadRequest(error: unknown): boolean {
  return isRecord(error) && !isJsonRpcError(error) && error.status === 400
}
