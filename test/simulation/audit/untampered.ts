// P6: plugins change neither the log nor running calls where they must not.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** The text that the tampering plugin writes. */
const MARK = /tampered/

export function* untampered({ plan, ledger }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  if (!plan.tampering) return
  for (const { session, evidence } of logs) {
    for (const { seq, event, record } of evidence.entries)
      if (MARK.test(JSON.stringify(event ?? record)))
        yield { promise: 'P6', says: `${session}: entry ${seq} was changed by a plugin` }
  }
  for (const { session, tool, key, args } of ledger)
    if (MARK.test(JSON.stringify(args)))
      yield { promise: 'P6', says: `${session}: ${tool} (${key}) runs with arguments of a plugin` }
}
