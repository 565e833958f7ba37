// P11: nothing fails in a way nobody has foreseen.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** Refusals a client can act on. */
const FORESEEN = [
  'SESSION_BUSY',
  'PAUSED',
  'NOT_FOUND',
  'ALREADY_ANSWERED',
  'ALREADY_EXISTS',
  'EXPIRED',
  'INVALID_REQUEST',
  'LEASE_LOST',
  'STALE_APPEND',
  'STORAGE',
]

/** What operators are told when models and lines fail as the plan says. */
const EXPECTED = [
  /^The model of agent "\w+" failed: The model is tired\.$/,
  /^Session "\w+" could not be gone on with: (The line is dead\.|The lease on session "\w+" is no longer held\.)$/,
]

export function* failsInTheOpen(
  { actions, logged, strays }: Evidence,
  logs: readonly AuditedLog[],
): Iterable<Violation> {
  for (const { says, error } of actions) {
    if (error && !FORESEEN.includes(error.code)) yield { promise: 'P11', says: `${says} failed: ${error.message}` }
  }
  for (const stray of strays) yield { promise: 'P11', says: `nobody heard of: ${stray}` }
  for (const { process, message } of logged) {
    if (!EXPECTED.some((pattern) => pattern.test(message)))
      yield { promise: 'P11', says: `${process} logged: ${message}` }
  }
  for (const { session, evidence } of logs) {
    for (const { event } of evidence.entries) {
      if (event?.errorCode === 'AGENT_ERROR') yield { promise: 'P11', says: `${session}: ${event.errorMessage}` }
    }
  }
}
