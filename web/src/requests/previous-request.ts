import type { JsonObject } from '../../../src/core/base/json.ts'
import type { Entry, RequestRecord } from '../../../src/core/event/event.ts'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import { readLog } from '../api/sessions.ts'
import type { SessionKey } from '../api/types.ts'

/** The request before this one for the same tool. */
export interface PreviousRequest {
  /** The arguments it showed. */
  readonly args: JsonObject
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** Is it a request of the same call, whose arguments or definition have changed since? */
  readonly isSameCall: boolean
}

/** How far back the log is searched. */
const ENTRIES = 1000

/** Finds the request before this one for the same tool in the same session. Undefined if there is none. */
export async function findPreviousRequest(
  key: SessionKey,
  request: PendingRequest,
  signal: AbortSignal,
): Promise<PreviousRequest | undefined> {
  const { lastSeq } = await readLog(key, { fromSeq: 1, limit: 1 }, signal)
  const { entries } = await readLog(key, { fromSeq: Math.max(1, lastSeq - ENTRIES + 1), limit: ENTRIES }, signal)
  return previousIn(entries, request)
}

/** Finds it among the given entries. */
export function previousIn(entries: readonly Entry[], request: PendingRequest): PreviousRequest | undefined {
  const tools = new Map<string, string>()
  let found: RequestRecord | undefined
  for (const { event, record } of entries) {
    for (const { functionCall } of event?.content?.parts ?? [])
      if (functionCall?.id !== undefined) tools.set(functionCall.id, functionCall.name)
    if (record?.type !== 'request' || record.kind !== request.kind) continue
    if (record.id === request.id) break
    if (tools.get(record.callId) === request.tool) found = record
  }
  return found && { args: found.args, createdAt: found.createdAt, isSameCall: found.callId === request.functionCallId }
}
