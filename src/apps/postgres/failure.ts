// What an error of Postgres, of its driver or of the network means for the transaction that met it.
import { messageOf } from '../../core/error/error.ts'

/**
 * What to do about a failed transaction. `conflict`: run it again. `away`: the connection or the server is lost, or has no room; run
 * it again on another connection, later. `slow`: it was waiting for a lock or was cut off. `final`: running it again fails again.
 */
export type Failure = 'conflict' | 'away' | 'slow' | 'final'

/** https://www.postgresql.org/docs/current/errcodes-appendix.html; a code of two characters is a class. */
const FAILURES: ReadonlyMap<string, Failure> = new Map([
  ['40001', 'conflict'], // serialization_failure
  ['40P01', 'conflict'], // deadlock_detected
  ['26000', 'conflict'], // invalid_sql_statement_name: a pooler has changed the connection, see PreparedStatements
  ['42P05', 'conflict'], // duplicate_prepared_statement: the same
  ['0A000', 'conflict'], // feature_not_supported: a migration has changed the columns of a prepared statement
  ['57014', 'slow'], // query_canceled: by statement_timeout
  ['55P03', 'slow'], // lock_not_available: by lock_timeout
  ['08', 'away'], // connection_exception
  ['53300', 'away'], // too_many_connections
  ['57P01', 'away'], // admin_shutdown
  ['57P02', 'away'], // crash_shutdown
  ['57P03', 'away'], // cannot_connect_now: starting up, or shutting down
  ['57P05', 'away'], // idle_session_timeout
  ['25P03', 'away'], // idle_in_transaction_session_timeout
  ['25P04', 'away'], // transaction_timeout
  ['25006', 'away'], // read_only_sql_transaction: a standby, until the next connection finds the new primary
])

const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND'],
  ...['EAI_AGAIN', 'ENOENT', 'EHOSTDOWN', 'ECONNABORTED', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'],
])

/** Errors of `pg` have no codes. */
const LOST = /^(?:Connection (?:terminated|ended)|Client (?:was closed|has encountered)|timeout e|Query read timeout)/

/** A server that recovers, or a standby, refuses to write with several codes. */
const RECOVERING = /during recovery/

/** What an error means for the transaction that met it. */
export function failureOf(error: unknown): Failure {
  const code = codeOf(error)
  if (code !== undefined && NETWORK.has(code)) return 'away'
  if (isDatabaseError(error)) {
    if (RECOVERING.test(messageOf(error))) return 'away'
    return FAILURES.get(error.code) ?? FAILURES.get(error.code.slice(0, 2)) ?? 'final'
  }
  if (LOST.test(messageOf(error))) return 'away'
  return error instanceof AggregateError && error.errors.length > 0 ? failureOf(error.errors[0]) : 'final'
}

/** Has the server answered with an error? Then it has not committed. Without an answer, it may have. */
export function isDatabaseError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && /^[0-9A-Z]{5}$/.test(codeOf(error) ?? '') && 'severity' in error
}

/** The SQLSTATE, or the code of a system error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
