// P7: every call of an invocation that has ended has exactly one final response.
import type { Evidence } from '../evidence.ts'
import { type AuditedCall, type AuditedLog, finalOf } from './log.ts'
import type { Violation } from './violation.ts'

export function* oneResponse({ unfinished }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const { session, calls, doubled } of logs) {
    for (const key of doubled) yield { promise: 'P7', says: `${session}: two calls have the key ${key}` }
    for (const call of calls.values()) {
      const finals = call.responses.filter(({ isFinal }) => isFinal)
      const who = `${session}: ${call.name} (${call.key} in ${call.path})`
      if (finals.length > 1) yield { promise: 'P7', says: `${who} has ${finals.length} final responses` }
      if (finals.length === 0 && unfinished.length === 0 && !isAnsweredAbove(call, calls))
        yield { promise: 'P7', says: `${who} has no final response, but its invocation has ended` }
    }
  }
}

/** Whether the call is inside another call that has its response. No response is required then. */
function isAnsweredAbove({ path, invocationId }: AuditedCall, calls: ReadonlyMap<string, AuditedCall>): boolean {
  return path.split('/').some((step) => {
    const outer = calls.get(`${invocationId}/${step.slice(step.lastIndexOf('@') + 1)}`)
    return outer !== undefined && finalOf(outer) !== undefined
  })
}
