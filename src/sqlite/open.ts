import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { Database } from './database.ts'
import { bringUpToDate } from './schema.ts'
import { isBusy, openError } from './storage-error.ts'

const MEMORY = ':memory:'
const RETRY_MS = 10

/**
 * Opening is synchronous, and so is its waiting: only for a process that makes or changes the tables at that moment, and
 * not for longer than this, whatever `busyTimeoutMs` says. A file whose tables are up to date opens without the lock.
 */
const MAX_OPEN_WAIT_MS = 2_000

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
    const waitMs = Math.min(Math.round(options.busyTimeoutMs), MAX_OPEN_WAIT_MS)
    connection.exec(`PRAGMA busy_timeout = ${waitMs}`)
    keepWriteAheadLog(connection, file, waitMs)
    connection.exec(`PRAGMA synchronous = ${options.synchronous === 'full' ? 'FULL' : 'NORMAL'}`)
    connection.exec('PRAGMA foreign_keys = ON')
    bringUpToDate(connection, file)
    connection.exec('PRAGMA busy_timeout = 0') // from now on Database waits, without stopping the process
    return new Database(connection, file, { busyTimeoutMs: options.busyTimeoutMs, isInMemory: file === MEMORY })
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
  if (path instanceof URL && path.protocol === 'file:') return pathOf(path)
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) {
    throw new ToolwrightError('INVALID_CONFIG', 'sqlite() needs the path of a file, or ":memory:".')
  }
  if (path.startsWith('file:')) {
    throw new ToolwrightError('INVALID_CONFIG', `"${path}" is a URL. Give sqlite() a path, or new URL("${path}").`)
  }
  return resolve(path)
}

function pathOf(url: URL): string {
  try {
    const path = fileURLToPath(url)
    if (!path.includes('\0')) return path
  } catch (error) {
    const message = `The URL "${url.href}" is no path of a file: ${messageOf(error)}. Give sqlite() a path.`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
  throw new ToolwrightError('INVALID_CONFIG', `The URL "${url.href}" is no path of a file: it contains %00.`)
}

/**
 * State may hold secrets: the file is for its owner only. SQLite gives the files beside it the same permissions. A file that
 * is there is not opened here: closing it again would drop the locks of every connection this process has on it.
 */
function createPrivately(file: string): void {
  try {
    if (exists(file)) checkAccess(file)
    else createFile(file)
  } catch (error) {
    throw new ToolwrightError('INVALID_CONFIG', `The database "${file}" cannot be opened: ${reasonOf(error, file)}`, {
      cause: error,
    })
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
    if (exists(file)) return // another process was first
    closeSync(openSync(file, 'a', 0o600)) // a symbolic link to a file that is not there: 'ax' does not follow links
  }
}

function checkAccess(file: string): void {
  if (statSync(file).isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' })
  accessSync(file, constants.R_OK | constants.W_OK)
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
    if (mayWait && isBusy(error)) return undefined
    throw error
  }
}
