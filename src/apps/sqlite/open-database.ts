import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { kindOf } from '../../core/base/kind-of.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { SqliteDatabase } from './database.ts'
import { checkTables, migrate } from './schema.ts'
import { isBusy, openError } from './storage-error.ts'

const MEMORY = ':memory:'
const RETRY_MS = 10

/**
 * Opening is synchronous and blocks the process while another process creates or migrates the tables, at most this long.
 * A file with current tables opens without the lock.
 */
const MAX_OPEN_WAIT_MS = 2_000

/**
 * How many pages the write-ahead log has when it is copied into the file, which waits for the disk. SQLite's default is 1000: a quarter
 * of the appends, and most of their pages are the same ones again.
 */
const CHECKPOINT_PAGES = 4_000

/** Options of `openDatabase`. */
interface OpenOptions {
  /** `PRAGMA synchronous`. */
  readonly synchronous: 'normal' | 'full'
  /** How long a transaction waits for the write lock. */
  readonly busyTimeoutMs: number
  /** Milliseconds on the clock of leases. Default: since the machine has started. */
  readonly monotonicNow?: (() => number) | undefined
}

/** Opens or creates the file and migrates its tables. */
export function openDatabase(path: string | URL, options: OpenOptions): SqliteDatabase {
  const file = toAbsolutePath(path)
  if (file !== MEMORY) ensurePrivateFile(file)
  const connection = connect(file)
  try {
    const waitMs = Math.min(Math.round(options.busyTimeoutMs), MAX_OPEN_WAIT_MS)
    connection.exec(`PRAGMA busy_timeout = ${waitMs}`)
    enableWriteAheadLog(connection, file, waitMs)
    connection.exec(`PRAGMA synchronous = ${options.synchronous === 'full' ? 'FULL' : 'NORMAL'}`)
    connection.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    connection.exec('PRAGMA foreign_keys = ON')
    migrate(connection, file)
    checkTables(connection)
    connection.exec('PRAGMA busy_timeout = 0') // from now on SqliteDatabase retries without blocking the process
    const { busyTimeoutMs, monotonicNow = millisecondsSinceBoot } = options
    return new SqliteDatabase(connection, file, { busyTimeoutMs, monotonicNow, isInMemory: file === MEMORY })
  } catch (error) {
    connection.close()
    throw openError(error, file)
  }
}

/** CLOCK_MONOTONIC or its equivalent: one clock for all processes of the machine until it restarts. */
function millisecondsSinceBoot(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

function connect(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file)
  } catch (error) {
    throw openError(error, file)
  }
}

/** Makes a path absolute: a later `chdir` or SQLite's parsing of names must not select another file. */
function toAbsolutePath(path: string | URL): string {
  if (path === MEMORY) return path
  if (path instanceof URL && path.protocol === 'file:') return urlToPath(path)
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) {
    const got = typeof path === 'string' ? 'a path that is blank or contains NUL' : kindOf(path)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `sqlite() requires the path of a file, a file: URL object or ":memory:", got ${got}.`,
    )
  }
  if (path.startsWith('file:')) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `"${path}" is a URL in a string. Pass a path or new URL("${path}") to sqlite().`,
    )
  }
  return resolve(path)
}

function urlToPath(url: URL): string {
  try {
    const path = fileURLToPath(url)
    if (!path.includes('\0')) return path
  } catch (error) {
    const message = `The URL "${url.href}" is not a file path: ${messageOf(error)}. Pass a path to sqlite().`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
  throw new ToolwrightError('INVALID_CONFIG', `The URL "${url.href}" is not a file path: it contains %00.`)
}

/**
 * Creates the file readable by its owner only, because state may hold secrets. SQLite gives the write-ahead log the same
 * permissions. An existing file is not opened here: closing it would drop all locks of this process on it.
 */
function ensurePrivateFile(file: string): void {
  try {
    if (exists(file)) checkAccess(file)
    else createFile(file)
  } catch (error) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The database "${file}" cannot be opened: ${openFailureReason(error, file)}`,
      {
        cause: error,
      },
    )
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined
}

function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (exists(file)) return // another process created it
    closeSync(openSync(file, 'a', 0o600)) // a symbolic link to a missing file: 'ax' does not follow links
  }
}

function checkAccess(file: string): void {
  if (statSync(file).isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' })
  accessSync(file, constants.R_OK | constants.W_OK)
}

function openFailureReason(error: unknown, file: string): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `the folder "${dirname(file)}" does not exist. Create it first.`
    case 'EISDIR':
      return 'it is a folder. Pass the path of a file in it to sqlite().'
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'it is not writable. Check the permissions of the file and its folder.'
    default:
      return messageOf(error)
  }
}

/**
 * Enables write-ahead logging, in which readers and the writer do not wait for each other. The first process that opens a
 * new file enables it exclusively; the others retry, because SQLite does not wait for it.
 */
function enableWriteAheadLog(connection: DatabaseSync, file: string, timeoutMs: number): void {
  for (let waited = 0; ; waited += RETRY_MS) {
    const mode = tryWriteAheadLog(connection, waited < timeoutMs)
    if (mode === 'wal' || mode === 'memory') return
    if (mode !== undefined) {
      const message = `The database "${file}" does not support a write-ahead log in its folder. Move it to a local disk.`
      throw new ToolwrightError('INVALID_CONFIG', message)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

/** Returns the journal mode; undefined while another process enables it. */
function tryWriteAheadLog(connection: DatabaseSync, mayWait: boolean): unknown {
  try {
    return connection.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode
  } catch (error) {
    if (mayWait && isBusy(error)) return undefined
    throw error
  }
}
