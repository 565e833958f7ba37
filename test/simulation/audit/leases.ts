// P2: a lease lasts exactly as long as it was granted, whatever the wall clock shows.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** The default of the store. */
const LEASE_MS = 15_000

export function* leases({ journal }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const { session } of logs) {
    /** The latest lease and its end. Undefined after a release. `isLeft`: its holder has left the session as interrupted. */
    let held: { readonly epoch: number; readonly process: string; readonly until: number; isLeft?: true } | undefined
    for (const { session: where, method, done, error, epoch = -1, at, process, interrupted } of journal) {
      if (where !== session) continue
      if (method === 'claim' && error === 'SESSION_BUSY' && (!held || at >= held.until)) {
        const why = held ? `the lease of ${held.process} ended ${at - held.until} ms before` : 'no process holds it'
        yield { promise: 'P2', says: `${session}: ${process} is refused the session, and ${why}` }
      }
      if (method === 'claim' && done && held && at < held.until)
        yield {
          promise: 'P2',
          says: `${session}: ${process} claims the session ${held.until - at} ms before the lease ends`,
        }
      const isLateRenewal = method === 'renew' && held?.isLeft === true && held.epoch === epoch
      if (isLateRenewal && done)
        yield { promise: 'P2', says: `${session}: ${process} renews a lease that it has left as interrupted` }
      if (error === 'LEASE_LOST' && held?.epoch === epoch && !isLateRenewal)
        yield {
          promise: 'P2',
          says: `${session}: ${process} is refused ${method}, and no other process has claimed the session`,
        }
      if (!done || (method !== 'claim' && held?.epoch !== epoch)) continue
      if (method === 'claim' || method === 'renew') held = { epoch, process, until: at + LEASE_MS }
      else if (method === 'release') held = interrupted && held ? { ...held, until: at, isLeft: true } : undefined
    }
  }
}
