// What SQLite's refusals mean for whoever runs the program, and what to do about them.
import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../error/error.ts'

interface SqliteError extends Error {
  /** SQLite's extended result code; its low byte is the kind. */
  readonly errcode: number
}

// https://www.sqlite.org/rescode.html
export const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const NOTADB = 26

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** The error for a caller: STORAGE, unless it is none of the database's. */
export function storageError(error: unknown, file: string): unknown {
  if (isSqliteError(error)) return explain(error, file, 'STORAGE')
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
    return new ToolwrightError('STORAGE', `The database "${file}" was closed.`, { cause: error })
  }
  return error
}

/** The error for whoever opens a file: INVALID_CONFIG for what will not go away by itself. */
export function openError(error: unknown, file: string): unknown {
  if (!isSqliteError(error)) return error
  const passes = [BUSY, LOCKED, IOERR, FULL].includes(error.errcode & 0xff)
  return explain(error, file, passes ? 'STORAGE' : 'INVALID_CONFIG')
}

/** A row that nobody here could have written. */
export function damaged(what: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('STORAGE', `${what} is damaged in the database. Restore the file from a backup.`, {
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
    case TOOBIG:
      return 'cannot hold a value as large as this.'
    default:
      return `refused: ${messageOf(error)}.`
  }
}
