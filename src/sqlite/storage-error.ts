// What SQLite's refusals mean for whoever runs the program, and what to do about them.
import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../error/error.ts'

interface SqliteError extends Error {
  /** SQLite's extended result code; its low byte is the kind. */
  readonly errcode: number
}

// https://www.sqlite.org/rescode.html
const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const CONSTRAINT = 19
const NOTADB = 26

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Another connection has the lock that is needed. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === BUSY
}

/** The error for a caller. Everything else that fails in a transaction fails on what was read from the file. */
export function storageError(error: unknown, file: string): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  if (isSqliteError(error)) return explain(error, file, 'STORAGE')
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') return closedError(file, error)
  const message = `The database "${file}" holds something that cannot be read: ${messageOf(error)}. Restore it from a backup.`
  return new ToolwrightError('STORAGE', message, { cause: error })
}

export function closedError(file: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('STORAGE', `The database "${file}" was closed.`, { cause })
}

/** The error for the developer who opens a file: INVALID_CONFIG for what will not go away by itself. */
export function openError(error: unknown, file: string): ToolwrightError {
  if (!isSqliteError(error)) return storageError(error, file)
  const passes = [BUSY, LOCKED, IOERR, FULL].includes(error.errcode & 0xff)
  return explain(error, file, passes ? 'STORAGE' : 'INVALID_CONFIG')
}

/** A row that Toolwright has not written. */
export function damaged(what: string, problem?: string, cause?: unknown): ToolwrightError {
  const why = problem === undefined ? '' : ` (${problem})`
  return new ToolwrightError('STORAGE', `${what} is damaged in the database${why}. Restore the file from a backup.`, {
    cause,
  })
}

function explain(error: SqliteError, file: string, code: ToolwrightErrorCode): ToolwrightError {
  const isTooLarge = (error.errcode & 0xff) === TOOBIG
  const message = `The database "${file}" ${reasonOf(error)}`
  return new ToolwrightError(isTooLarge ? 'TOO_LARGE' : code, message, { cause: error })
}

function reasonOf(error: SqliteError): string {
  switch (error.errcode & 0xff) {
    case BUSY:
    case LOCKED:
      return 'is being written by another process for too long. Find who holds it open, or raise busyTimeoutMs.'
    case READONLY:
      return 'cannot be written. Check who may write to the file and its folder, and that it was not moved away.'
    case FULL:
      return 'has no room to grow. Make room on its disk; nothing was written by half.'
    case CANTOPEN:
      return 'cannot be opened. Check the permissions of the file and its folder.'
    case CORRUPT:
      return 'is damaged. Restore it from a backup.'
    case NOTADB:
      return 'is no SQLite database. Give sqlite() another path.'
    case IOERR:
      return `could not be read or written: ${messageOf(error)}. Check its disk.`
    case ERROR:
      return isAboutTables(error)
        ? `does not have the tables it needs: ${messageOf(error)}. Restore it from a backup, or give sqlite() another path.`
        : `refused: ${messageOf(error)}.`
    case CONSTRAINT:
      return `holds rows that contradict each other: ${messageOf(error)}. Restore it from a backup.`
    case TOOBIG:
      return 'cannot hold a value as large as this.'
    default:
      return `refused: ${messageOf(error)}.`
  }
}

function isAboutTables(error: SqliteError): boolean {
  return /no such (?:table|column|index)|has no column|already exists|duplicate column/.test(error.message)
}
