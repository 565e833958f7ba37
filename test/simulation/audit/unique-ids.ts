// P7: an id names one call or one request of its session, whatever ids models choose.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* uniqueIds(_: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const { session, calls, evidence } of logs) {
    const names = new Map<string, string>()
    const requests = evidence.entries.flatMap(({ record }) =>
      record?.type === 'request' ? [{ id: record.id, what: `a request about ${record.callId}` }] : [],
    )
    const called = Array.from(calls.values(), ({ id, name, invocationId }) => ({
      id,
      what: `${name} in ${invocationId}`,
    }))
    for (const { id, what } of [...called, ...requests]) {
      const other = names.get(id)
      if (other) yield { promise: 'P7', says: `${session}: "${id}" is both ${other} and ${what}` }
      if (!isFit(id)) yield { promise: 'P7', says: `${session}: "${id}" is the id of ${what}` }
      names.set(id, what)
    }
  }
}

/** Whether every provider accepts the id, and no round of a workflow has the same name. */
function isFit(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) && !/^t?\d+$/.test(id)
}
