// Turns errors of Postgres, of its driver and of the network into ToolwrightErrors that say what to do. No message holds a password.
import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../../core/error/error.ts'
import { codeOf, failureOf, isDatabaseError } from './failure.ts'

/** The error of a transaction that failed. `place` names the database, without the password. */
export function storageError(error: unknown, place: string): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  const [code, reason] = describe(error)
  return new ToolwrightError(code, `The Postgres database ${place} ${reason}`, { cause: error })
}

/** The error for using closed services. */
export function closedError(place: string): ToolwrightError {
  return new ToolwrightError('STORAGE', `The Postgres database ${place} was closed. Open it again with postgres().`)
}

/** The error of a write whose connection was lost during the commit, if nothing tells whether it was stored. */
export function unknownOutcome(place: string, cause: unknown): ToolwrightError {
  const message = `The Postgres database ${place} went away during a commit: the write may have been stored. Read before you repeat it.`
  return new ToolwrightError('STORAGE', message, { cause })
}

function describe(error: unknown): [ToolwrightErrorCode, string] {
  if (isDatabaseError(error)) return describeSql(error.code, messageOf(error))
  if (failureOf(error) !== 'away')
    return ['STORAGE', `contains unreadable data: ${messageOf(error)}. Restore it from a backup.`]
  switch (codeOf(error) ?? messageOf(error)) {
    case 'ECONNREFUSED':
      return [
        'STORAGE',
        'cannot be reached: nothing listens at this address. Start the server, or check host and port.',
      ]
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ['STORAGE', 'cannot be reached: its host name is unknown. Check the host in the URL.']
    case 'timeout exceeded when trying to connect':
      return [
        'STORAGE',
        'has no free connection: all connections of the pool are in use. Raise `max` of the pool, or find what holds them.',
      ]
    case 'Query read timeout':
      return ['STORAGE', 'did not answer in time. Check the server and the network, or raise statementTimeoutMs.']
    default:
      return ['STORAGE', `cannot be reached: ${messageOf(error)}. Check the server and the network.`]
  }
}

function describeSql(code: string, message: string): [ToolwrightErrorCode, string] {
  if (/during recovery/.test(message))
    return ['STORAGE', 'is read-only: it is a standby. Connect to the primary server.']
  switch (code) {
    case '28P01':
    case '28000':
      return ['INVALID_CONFIG', `refused the login: ${message}. Check user, password and pg_hba.conf.`]
    case '3D000':
      return ['INVALID_CONFIG', `does not exist. Create it with CREATE DATABASE, or check the URL.`]
    case '42501':
      return [
        'INVALID_CONFIG',
        `denies access: ${message}. GRANT the role USAGE on the schema and SELECT, INSERT, UPDATE, DELETE on its tables; the role that creates or migrates them needs CREATE.`,
      ]
    case '25006':
      return ['STORAGE', 'is read-only. Connect to the primary server, with a role that may write.']
    case '53100':
      return [
        'STORAGE',
        'cannot grow: the disk of the server is full. Free disk space; the transaction was rolled back.',
      ]
    case '53200':
      return ['STORAGE', 'is out of memory. The transaction was rolled back.']
    case '53300':
      return ['STORAGE', 'has no free connection. Raise max_connections of the server, or lower `max` of the pools.']
    case '57014':
      return [
        'STORAGE',
        'cut off a statement that took too long. Find what holds its locks, or raise statementTimeoutMs.',
      ]
    case '57P03':
      return ['STORAGE', `is not ready: ${message}.`]
    case '54000':
      return ['INVALID_REQUEST', 'cannot index ids of this length. Use shorter ids: together at most 2600 bytes.']
    case '22P05':
    case '22021':
      return ['INVALID_REQUEST', `cannot store this text: ${message}.`]
    case '42P01':
    case '42703':
    case '3F000':
      return [
        'STORAGE',
        `has no valid tables: ${message}. Restore it from a backup, or pass another schema to postgres().`,
      ]
    case 'XX001':
    case 'XX002':
      return ['STORAGE', `is damaged: ${message}. Restore it from a backup.`]
    default:
      return ['STORAGE', `rejected a statement: ${message} (${code}).`]
  }
}
