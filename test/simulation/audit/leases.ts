// P2, in time: a lease lives as long as it was given for, whatever the wall clock does.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** What the store gives when it is not told otherwise. */
const LEASE_MS = 15_000

export function* leases({ journal }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const { session } of logs) {
    /** The latest lease: since when it counts, and until when. Undefined when it was given back. */
    let held: { readonly epoch: number; readonly process: string; readonly until: number } | undefined
    for (const { session: where, method, done, error, epoch = -1, at, process, interrupted } of journal) {
      if (where !== session) continue
      if (method === 'claim' && error === 'SESSION_BUSY' && (!held || at >= held.until)) {
        const why = held ? `the lease of ${held.process} ended ${at - held.until} ms before` : 'nobody has it'
        yield { promise: 'P2', says: `${session}: ${process} is refused the session, and ${why}` }
      }
      if (method === 'claim' && done && held && at < held.until)
        yield { promise: 'P2', says: `${session}: ${process} takes the session ${held.until - at} ms before its time` }
      if (error === 'LEASE_LOST' && held?.epoch === epoch)
        yield { promise: 'P2', says: `${session}: ${process} is refused ${method}, and nobody has taken its session` }
      if (!done || (method !== 'claim' && held?.epoch !== epoch)) continue
      if (method === 'claim' || method === 'renew') held = { epoch, process, until: at + LEASE_MS }
      else if (method === 'release') held = interrupted && held ? { ...held, until: at } : undefined
    }
  }
}
