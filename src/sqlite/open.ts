import { closeSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { Database } from './database.ts'
import { bringUpToDate } from './schema.ts'
import { BUSY, isSqliteError, openError } from './storage-error.ts'

const MEMORY = ':memory:'
const RETRY_MS = 10

export interface OpenOptions {
  readonly synchronous: 'normal' | 'full'
  readonly busyTimeoutMs: number
}

/** Opens the file, or makes it, and sees to it that the tables are there. */
export function openDatabase(path: string | URL, options: OpenOptions): Database {
  const file = fileOf(path)
  if (file !== MEMORY) createPrivately(file)
  const connection = connect(file)
  try {
    connection.exec(`PRAGMA busy_timeout = ${Math.round(options.busyTimeoutMs)}`)
    keepWriteAheadLog(connection, file, options.busyTimeoutMs)
    connection.exec(`PRAGMA synchronous = ${options.synchronous === 'full' ? 'FULL' : 'NORMAL'}`)
    connection.exec('PRAGMA foreign_keys = ON')
    bringUpToDate(connection, file)
    return new Database(connection, file)
  } catch (error) {
    connection.close()
    throw openError(error, file)
  }
}

function connect(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file)
  } catch (error) {
    throw openError(error, file)
  }
}

/** Absolute, so that neither a change of folder nor SQLite's own reading of a name can make another file of it. */
function fileOf(path: string | URL): string {
  if (path === MEMORY) return path
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path)
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) {
    throw new ToolwrightError('INVALID_CONFIG', 'sqlite() needs the path of a file, or ":memory:".')
  }
  if (path.startsWith('file:')) {
    throw new ToolwrightError('INVALID_CONFIG', `"${path}" is a URL. Give sqlite() a path, or new URL("${path}").`)
  }
  return resolve(path)
}

/** State may hold what is nobody else's business. SQLite gives the files beside it the same permissions. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600)) // one that is there is left as it is
  } catch (error) {
    throw new ToolwrightError('INVALID_CONFIG', `The database "${file}" cannot be opened: ${reasonOf(error, file)}`, {
      cause: error,
    })
  }
}

function reasonOf(error: unknown, file: string): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `there is no folder "${dirname(file)}". Make it first.`
    case 'EISDIR':
      return 'it is a folder. Give sqlite() the path of a file in it.'
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'it may not be written. Check the permissions of the file and its folder.'
    default:
      return messageOf(error)
  }
}

/**
 * Readers and the writer do not wait for each other. The first to open a new file switches it over alone; SQLite does
 * not wait for that by itself.
 */
function keepWriteAheadLog(connection: DatabaseSync, file: string, timeoutMs: number): void {
  for (let waited = 0; ; waited += RETRY_MS) {
    const mode = tryWriteAheadLog(connection, waited < timeoutMs)
    if (mode === 'wal' || mode === 'memory') return
    if (mode !== undefined) {
      const message = `The database "${file}" cannot keep a write-ahead log where it is. Put it on a local disk.`
      throw new ToolwrightError('INVALID_CONFIG', message)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

/** The mode the file is in now; undefined while another process is at it. */
function tryWriteAheadLog(connection: DatabaseSync, mayWait: boolean): unknown {
  try {
    return connection.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode
  } catch (error) {
    if (mayWait && isSqliteError(error) && (error.errcode & 0xff) === BUSY) return undefined
    throw error
  }
}
