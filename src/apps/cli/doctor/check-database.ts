import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../core/error/error.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { checkConfiguredKeys, keySourceOf } from '../../sqlite/encryption-keys.ts'
import { readKeyFile } from '../../sqlite/key-file.ts'
import { SCHEMA_VERSION } from '../../sqlite/schema.ts'
import { MEMORY } from '../load/app-database.ts'
import { type Finding, findingsOf, problemOnce } from './finding.ts'

/** Whether the store of a runner that a file exports can be used. Its program opens it with keys of its own. */
export async function checkStoreOf({
  appName,
  sessionService,
}: Pick<Runner, 'appName' | 'sessionService'>): Promise<Finding[]> {
  const { ok } = findingsOf('database')
  const { file } = sessionService as { file?: unknown } // the agent file may have loaded another copy of the class
  if (typeof file === 'string' && file !== MEMORY) return checkDatabase(file, { hasOwnKeys: true })
  if (file === MEMORY || sessionService instanceof InMemorySessionService)
    return [ok('The runner keeps sessions in memory: they are gone when the process ends')]
  try {
    await sessionService.interrupted({ appName })
    return [ok('The session store of the runner answers')]
  } catch (error) {
    const message = `The session store of the runner fails: ${messageOf(error)}`
    return [
      problemOnce('database', message, 'Check the sessionService of the runner, and that its database is running.'),
    ]
  }
}

/**
 * Whether a SQLite file can be used, and the keys of its credentials. Changes nothing. `hasOwnKeys`: the program passes its keys,
 * so that they are not checked.
 */
export function checkDatabase(path: string, { hasOwnKeys = false }: { hasOwnKeys?: boolean } = {}): Finding[] {
  const { ok, problem } = findingsOf('database')
  const file = resolve(path)
  try {
    accessSync(dirname(file), constants.W_OK)
    if (!existsSync(file)) return [ok(`"${path}" does not exist yet. It is created when it is needed`)]
    accessSync(file, constants.R_OK | constants.W_OK)
    return [...checkContent(path), ...checkPermissions(path), ...(hasOwnKeys ? [] : checkKeys(path))]
  } catch (error) {
    return [
      problem(`"${path}" cannot be used: ${messageOf(error)}.`, 'Check the file, its folder and their permissions.'),
    ]
  }
}

function checkContent(path: string): Finding[] {
  const { ok, warning, problem } = findingsOf('database')
  const connection = new DatabaseSync(path, { readOnly: true })
  try {
    const damage = connection.prepare('PRAGMA quick_check(1)').get()?.quick_check
    if (damage !== 'ok') return [problem(`"${path}" is damaged: ${damage}.`, 'Restore it from a backup.')]
    const version = schemaVersion(connection)
    if (version === SCHEMA_VERSION) return [ok(`"${path}" opens, schema version ${version}`)]
    if (version > SCHEMA_VERSION) {
      const message = `"${path}" was written by a newer toolwright (schema version ${version}, supported: ${SCHEMA_VERSION}).`
      return [problem(message, 'Update toolwright, or use another file.')]
    }
    const message = `"${path}" has schema version ${version}. It becomes ${SCHEMA_VERSION} when it is opened, and older versions of toolwright then refuse it.`
    return [warning(message, 'Back it up first: sqlite3 <file> "VACUUM INTO \'copy.db\'"')]
  } finally {
    connection.close()
  }
}

/** Whether the file exists and opening it changes none of its tables. */
export function hasCurrentSchema(path: string): boolean {
  if (!existsSync(path)) return false
  const connection = new DatabaseSync(path, { readOnly: true })
  try {
    return schemaVersion(connection) === SCHEMA_VERSION
  } catch {
    return false // not a database
  } finally {
    connection.close()
  }
}

function schemaVersion(connection: DatabaseSync): number {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'toolwright_meta'").get()
  if (!table) return 0
  return Number(connection.prepare("SELECT value FROM toolwright_meta WHERE name = 'schema'").get()?.value ?? 0)
}

/** State may hold secrets. */
function checkPermissions(path: string): Finding[] {
  const { warning } = findingsOf('database')
  const mode = statSync(path).mode & 0o777
  if (process.platform === 'win32' || (mode & 0o077) === 0) return []
  return [warning(`Other users may access "${path}" (mode ${mode.toString(8)}).`, `Run: chmod 600 ${path}`)]
}

function checkKeys(path: string): Finding[] {
  const { ok, warning, problem } = findingsOf('keys')
  try {
    checkConfiguredKeys(path, undefined)
    const source = keySourceOf(resolve(path))
    if (source.type !== 'file') return [ok('Credentials are encrypted with TOOLWRIGHT_ENCRYPTION_KEYS')]
    const keys = readKeyFile(source.path)
    const hasCredentials = hasRows(path, 'toolwright_credentials')
    if (keys?.length === 0) return [problem(`The key file "${source.path}" is empty.`, 'Restore it from a backup.')]
    if (keys && hasCredentials)
      return [
        warning(
          `Credentials are encrypted with the key file "${source.path}", which is next to the database.`,
          'In production set TOOLWRIGHT_ENCRYPTION_KEYS, and back up the key apart from the database.',
        ),
      ]
    if (!keys && hasCredentials) {
      const fix = 'Restore the file from a backup, or set TOOLWRIGHT_ENCRYPTION_KEYS to the keys that encrypted them.'
      return [problem(`The key file "${source.path}" is missing, but the database holds credentials.`, fix)]
    }
    return [ok('The database holds no credentials')]
  } catch (error) {
    return [problem(messageOf(error))]
  }
}

function hasRows(path: string, table: string): boolean {
  const connection = new DatabaseSync(path, { readOnly: true })
  try {
    if (!connection.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)) return false
    return connection.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined
  } finally {
    connection.close()
  }
}
