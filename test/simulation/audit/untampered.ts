// P6: what a plugin may not change is not changed, neither in the log nor in what runs.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** What the plugin of the plan writes. */
const MARK = /tampered/

export function* untampered({ plan, ledger }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  if (!plan.tampering) return
  for (const { session, evidence } of logs) {
    for (const { seq, event, record } of evidence.entries)
      if (MARK.test(JSON.stringify(event ?? record)))
        yield { promise: 'P6', says: `${session}: entry ${seq} is what a plugin made of it` }
  }
  for (const { session, tool, key, args } of ledger)
    if (MARK.test(JSON.stringify(args)))
      yield { promise: 'P6', says: `${session}: ${tool} (${key}) runs a plugin's words` }
}
