import { yieldToTimers } from '../../../core/base/ports.ts'
import type { LogPage, SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'

/** How much of a log is read at a time. */
const PIECE = { limit: 1_000, maxBytes: 1_000_000 }

/**
 * The stored log of a session from a sequence number on, read without a lease in pieces, between which other work goes on. No
 * piece: there is no such session. A store without `readLog` has no records, and one piece.
 */
export async function* readStoredLog(
  key: SessionKey,
  fromSeq: number,
  { sessionService, ports }: Pick<RunServices, 'sessionService' | 'ports'>,
): AsyncGenerator<LogPage, void> {
  if (!sessionService.readLog) {
    const session = await sessionService.getSession(key)
    const entries = session?.events.map((event, index) => ({ seq: index + 1, event })) ?? []
    if (session) yield { entries: entries.slice(fromSeq - 1), lastSeq: entries.length }
    return
  }
  for (let next = fromSeq; ; ) {
    const piece = await sessionService.readLog({ ...key, fromSeq: next, ...PIECE })
    if (!piece) return
    yield piece
    const last = piece.entries.at(-1)?.seq
    if (last === undefined || last >= piece.lastSeq) return
    next = last + 1
    await yieldToTimers(ports)
  }
}
