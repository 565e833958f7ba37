// P11: every failure is an expected one.
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

/** Error codes that a client can handle. */
const EXPECTED_CODES = [
  'SESSION_BUSY',
  'PAUSED',
  'NOT_FOUND',
  'ALREADY_ANSWERED',
  'ALREADY_EXISTS',
  'EXPIRED',
  'INVALID_REQUEST',
  'LEASE_LOST',
  'SESSION_GONE',
  'STALE_APPEND',
  'STORAGE',
]

/** Log messages for the failures of models, tools and the network in the plan. */
const EXPECTED_LOGS = [
  /^The model of agent "\w+" failed: The model is tired\.$/,
  /^Tool "(\w+)" threw in call "[\w-]+" of invocation "[\w-]+": \1 broke\.$/,
  /^requiresConfirmation of tool "\w+" threw in call "[\w-]+" of invocation "[\w-]+": its message is left out, because it may hold arguments$/,
  /^Sessions with expired requests could not be listed: STORAGE: The line is dead\.$/,
  /^Session "\w+" of user "\w+" in app "\w+" could not be recovered: (?:[A-Z_]+: )?(The line is dead\.|The lease on session "\w+" is no longer held: [^.]+\. Call runner\.resume\(\) to continue the run\.)$/,
]

export function* failsInTheOpen(
  { actions, logged, strays }: Evidence,
  logs: readonly AuditedLog[],
): Iterable<Violation> {
  for (const { says, error } of actions) {
    if (error && !EXPECTED_CODES.includes(error.code))
      yield { promise: 'P11', says: `${says} failed: ${error.message}` }
  }
  for (const stray of strays) yield { promise: 'P11', says: `unhandled rejection: ${stray}` }
  for (const { process, message } of logged) {
    if (!EXPECTED_LOGS.some((pattern) => pattern.test(message)))
      yield { promise: 'P11', says: `${process} logged: ${message}` }
  }
  for (const { session, evidence } of logs) {
    for (const { event } of evidence.entries) {
      if (event?.errorCode === 'AGENT_ERROR') yield { promise: 'P11', says: `${session}: ${event.errorMessage}` }
    }
  }
}
