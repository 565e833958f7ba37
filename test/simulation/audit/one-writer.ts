// P2: only the holder of the lease writes to a session.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* oneWriter({ journal }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    let holder = -1
    let written = 0
    for (const { session, method, done, epoch = -1, seq = 0, process } of journal) {
      if (session !== log.session || !done) continue
      if (method === 'claim') holder = epoch
      if (method !== 'append') continue
      if (seq > written && epoch !== holder)
        yield { promise: 'P2', says: `${session}: ${process} wrote ${seq} after it had lost its lease` }
      written = Math.max(written, seq)
    }
    let epoch = -1
    for (const { seq } of log.evidence.entries) {
      const by = log.stored(seq)
      if (!by) yield { promise: 'P2', says: `${log.session}: entry ${seq} has no writer` }
      else if (by.epoch < epoch)
        yield { promise: 'P2', says: `${log.session}: entry ${seq} was written by an earlier holder` }
      else epoch = by.epoch
    }
  }
}
