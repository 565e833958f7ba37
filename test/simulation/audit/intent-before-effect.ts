// P3: a body with side effects begins only after its process has stored the intent.
import type { Evidence, LedgerEntry } from '../evidence.ts'
import type { AuditedCall, AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* intentBeforeEffect({ ledger }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const entry of ledger) {
    if (entry.step !== 'began' || entry.effect === 'none') continue
    const log = logs.find(({ session }) => session === entry.session)
    const call = log?.calls.get(entry.key)
    if (!log || !call) continue // a body without a call violates P6
    if (!hasLiveIntent(log, call, entry))
      yield { promise: 'P3', says: `${entry.session}: ${entry.tool} (${entry.key}) began without a stored intent` }
  }
}

/** The intent of this process, without a later response or request. */
function hasLiveIntent(log: AuditedLog, call: AuditedCall, { process, tick }: LedgerEntry): boolean {
  const isBefore = ({ seq }: { seq: number }): boolean => {
    const by = log.stored(seq)
    return by?.process === process && by.tick < tick
  }
  const intent = call.intents.findLast(isBefore)
  if (!intent) return false
  const ends = [...call.responses, ...call.asked].filter(isBefore)
  return ends.every(({ seq }) => seq < intent.seq)
}
