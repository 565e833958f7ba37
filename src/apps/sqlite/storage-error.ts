// Turns SQLite errors into ToolwrightErrors that say what to do.
import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../../core/error/error.ts'

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

/** Whether an error comes from SQLite. */
function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === BUSY
}

/** The error of a failed transaction. An error that is not from SQLite was caused by data read from the file. */
export function storageError(error: unknown, file: string): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  if (isSqliteError(error)) return toToolwrightError(error, file, 'STORAGE')
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') return closedError(file, error)
  const message = `The database "${file}" contains unreadable data: ${messageOf(error)}. Restore it from a backup.`
  return new ToolwrightError('STORAGE', message, { cause: error })
}

/** The error for using a closed file. */
export function closedError(file: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('STORAGE', `The database "${file}" was closed. Open it again with sqlite().`, { cause })
}

/** The error of a failed open: INVALID_CONFIG when a retry cannot help. */
export function openError(error: unknown, file: string): ToolwrightError {
  if (!isSqliteError(error)) return storageError(error, file)
  const isTransient = [BUSY, LOCKED, IOERR, FULL].includes(error.errcode & 0xff)
  return toToolwrightError(error, file, isTransient ? 'STORAGE' : 'INVALID_CONFIG')
}

function toToolwrightError(error: SqliteError, file: string, code: ToolwrightErrorCode): ToolwrightError {
  const isTooLarge = (error.errcode & 0xff) === TOOBIG
  const message = `The database "${file}" ${reasonOf(error)}`
  return new ToolwrightError(isTooLarge ? 'TOO_LARGE' : code, message, { cause: error })
}

function reasonOf(error: SqliteError): string {
  switch (error.errcode & 0xff) {
    case BUSY:
    case LOCKED:
      return 'is locked by another process. Find the process that holds the write lock, or raise busyTimeoutMs.'
    case READONLY:
      return 'is read-only. Check the permissions of the file and its folder, and that the file was not moved.'
    case FULL:
      return 'cannot grow: the disk is full. Free disk space; the transaction was rolled back.'
    case CANTOPEN:
      return 'cannot be opened. Check the permissions of the file and its folder.'
    case CORRUPT:
      return 'is damaged. Restore it from a backup.'
    case NOTADB:
      return 'is not a SQLite database. Pass another path to sqlite().'
    case IOERR:
      return `had an I/O error: ${messageOf(error)}. Check its disk.`
    case ERROR:
      return isMissingTable(error)
        ? `has no valid tables: ${messageOf(error)}. Restore it from a backup, or pass another path to sqlite().`
        : `rejected a statement: ${messageOf(error)}.`
    case CONSTRAINT:
      return `has inconsistent rows: ${messageOf(error)}. Restore it from a backup.`
    case TOOBIG:
      return 'cannot store a value of this size. Store large data as artifacts.'
    default:
      return `rejected a statement: ${messageOf(error)}.`
  }
}

function isMissingTable(error: SqliteError): boolean {
  return /no such (?:table|column|index)|has no column|already exists|duplicate column/.test(error.message)
}
