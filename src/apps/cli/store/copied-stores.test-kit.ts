// Stores to copy, with everything that a store can hold, and what is in their tables.
import { randomBytes } from 'node:crypto'
import { entryOf, eventOf, HOME, intentOf, requestOf } from '../../../adapters/testing/suites/session-fixtures.ts'
import { query, type SqlDatabase, type SqlRow } from '../../../services/sql/sql.ts'
import { newSchema, openDatabase as openPostgresDatabase, serverUrl } from '../../postgres/database.test-kit.ts'
import { postgres } from '../../postgres/postgres.ts'
import { openDatabase } from '../../sqlite/open-database.ts'
import { type SqliteServices, sqlite } from '../../sqlite/sqlite.ts'
import { temporaryFile } from '../../sqlite/temporary-file.test-kit.ts'

/** A key for all stores. */
export const KEYS: readonly [string] = [randomBytes(32).toString('base64')]

/** Ids that a database could confuse or refuse. */
export const HOSTILE: readonly string[] = [
  '"unfinished copy" ada',
  "a'; DROP TABLE toolwright_sessions; --",
  'nul \0 and \ud800',
  'caf\u00e9',
  'cafe\u0301',
  '%_/:\\',
  '\x1b[2J\n',
]

/** The services of a store. */
export type StoreServices = Pick<SqliteServices, 'sessionService' | 'artifactService' | 'credentialService'>

/** A new SQLite file with everything that a store can hold. */
export async function filledFile(): Promise<string> {
  const file = temporaryFile()
  const services = sqlite(file, { encryptionKeys: KEYS })
  await fill(services)
  services.close()
  return file
}

/** Writes something of everything. */
export async function fill({ sessionService, artifactService, credentialService }: StoreServices): Promise<void> {
  await sessionService.createSession({ ...HOME, state: { 'user:name': 'Ada', 'app:limit': 5, tab: 1, empty: '' } })
  const lease = await sessionService.claim(HOME)
  const pending = { opened: [requestOf('r2'), requestOf('r1')], closed: [] }
  await sessionService.append(lease, 0, [entryOf('e1', { z: 1, a: { deep: [null] } }), intentOf('c1')], { pending })
  await sessionService.postToInbox(HOME, { id: 'drained', kind: 'cancel', reason: 'no' } as never)
  await sessionService.append(lease, 2, [], { drained: ['drained'] })
  await sessionService.postToInbox(HOME, { id: 'waiting', kind: 'cancel', reason: 'no' } as never)
  await sessionService.release(lease)
  await sessionService.createSession({ ...HOME, sessionId: 'interrupted', events: [eventOf('e1')] })
  const interrupted = await sessionService.claim({ ...HOME, sessionId: 'interrupted' })
  await sessionService.release(interrupted, { interrupted: true })
  for (const id of HOSTILE) {
    const key = { appName: id, userId: id, sessionId: id }
    await sessionService.createSession({ ...key, state: { [id]: id, [`user:${id}`]: id }, events: [eventOf(id)] })
    await credentialService.saveCredential({ ...key, key: id, credential: { authType: 'apiKey', apiKey: id } as never })
  }
  const data = Buffer.from([0, 255, 10]).toString('base64')
  for (const sessionId of ['s1', 'gone']) {
    const artifact = { inlineData: { mimeType: 'image/png', data } }
    await artifactService.saveArtifact({ ...HOME, sessionId, filename: 'a.png', artifact })
    await artifactService.saveArtifact({ ...HOME, sessionId, filename: 'a.png', artifact: { text: 'second' } })
  }
  await artifactService.saveArtifact({ ...HOME, filename: 'user:me', artifact: { text: 'of the user' } })
  await sessionService.savePin?.({ appName: 'shop', name: 'mcp', hash: 'abc' } as never)
}

/** A new schema of the shared server, as arguments of the command and as a database. */
export function newPostgres(): { url: string; schema: string; open(): SqlDatabase; services(): StoreServices } {
  const schema = newSchema()
  const url = serverUrl()
  return {
    url,
    schema,
    open: () => openPostgresDatabase({ schema }),
    services: () => postgres(url, { schema, encryptionKeys: KEYS }),
  }
}

const OF_SESSION = 'JOIN toolwright_sessions AS sessions ON sessions.id = rows.session'
const KEY = 'sessions.app AS app, sessions."user" AS owner, sessions.session AS id'
const ROWS: readonly string[] = [
  `SELECT ${KEY}, seq, updated_at, CASE WHEN epoch = 0 THEN 0 ELSE 1 END AS interrupted FROM toolwright_sessions AS sessions ORDER BY sessions.id`,
  `SELECT ${KEY}, rows.seq AS seq, event_id, body FROM toolwright_entries AS rows ${OF_SESSION} ORDER BY sessions.id, rows.seq`,
  `SELECT ${KEY}, key, value FROM toolwright_state AS rows ${OF_SESSION} ORDER BY sessions.id, rows.rowid`,
  'SELECT app, "user", key, value FROM toolwright_state WHERE session = 0 ORDER BY app, "user", rowid',
  `SELECT ${KEY}, item_id, body FROM toolwright_inbox AS rows ${OF_SESSION} ORDER BY sessions.id, rows.id`,
  `SELECT ${KEY}, since, body FROM toolwright_pending AS rows ${OF_SESSION} ORDER BY sessions.id, rows.id`,
  'SELECT * FROM toolwright_artifacts ORDER BY app, "user", session, filename, version',
  'SELECT app, "user", key, sealed FROM toolwright_credentials ORDER BY generation',
  'SELECT * FROM toolwright_pins ORDER BY app, name',
]

/** All rows of a store without the ids that its database has given. */
export async function rowsOf(database: SqlDatabase): Promise<SqlRow[][]> {
  const tables: SqlRow[][] = []
  for (const sql of ROWS) tables.push((await database.readOne(query(sql))).map((row) => ({ ...row })))
  return tables
}

/** All rows of a SQLite file. */
export async function rowsOfFile(file: string): Promise<SqlRow[][]> {
  const database = openDatabase(file, { synchronous: 'normal', busyTimeoutMs: 5_000 })
  try {
    return await rowsOf(database)
  } finally {
    database.close()
  }
}
