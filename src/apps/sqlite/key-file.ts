// The file that holds the encryption keys if no others are configured: one key per line, the first one encrypts.
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** A file above this size is not a key file. */
const MAX_BYTES = 100_000

/** Reads the keys of the file. Undefined if it does not exist. Throws INVALID_CONFIG if other users may read it. */
export function readKeyFile(path: string): string[] | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return undefined
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('it is not a file with keys')
    if (process.platform !== 'win32') checkMode(path, stats.mode & 0o777)
    return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean)
  } catch (error) {
    throw keyFileError(path, 'read', error)
  }
}

function checkMode(path: string, mode: number): void {
  if ((mode & 0o077) === 0) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `The key file "${path}" is refused: other users may access it (mode ${mode.toString(8)}). Run: chmod 600 ${quote(path)}`,
  )
}

/**
 * Creates the file with a new key, readable by its owner only. Does nothing if another process has created it. The file
 * appears complete and is on the disk before a credential depends on it.
 */
export function createKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.tmp`
  try {
    writeDurably(draft, `${randomBytes(32).toString('base64')}\n`)
    try {
      linkSync(draft, path) // unlike a rename, it fails if the file exists
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      unlinkSync(draft)
    }
    syncFolder(dirname(path))
  } catch (error) {
    throw keyFileError(path, 'created', error)
  }
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Windows cannot open folders, and needs no sync of them. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function keyFileError(path: string, what: string, error: unknown): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  return new ToolwrightError(
    'INVALID_CONFIG',
    `The key file "${path}" cannot be ${what}: ${messageOf(error)}. Check the file and its folder, or set encryptionKeys of sqlite().`,
    { cause: error },
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Quotes a path for a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
