// Stores to copy, with everything that a store can hold, and what is in their tables.
import { randomBytes } from 'node:crypto'
import { entryOf, eventOf, HOME, intentOf, requestOf } from '../../../adapters/testing/suites/session-fixtures.ts'
import type { StoredSchedule } from '../../../services/schedule/service.ts'
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
export type StoreServices = Omit<SqliteServices, 'close' | typeof Symbol.dispose>

/** A new SQLite file with everything that a store can hold. */
export async function filledFile(): Promise<string> {
  const file = temporaryFile()
  const services = sqlite(file, { encryptionKeys: KEYS })
  await fill(services)
  services.close()
  return file
}

/** Writes something of everything. */
export async function fill(services: StoreServices): Promise<void> {
  const { sessionService, artifactService, credentialService, memoryService, scheduleService } = services
  await sessionService.createSession({ ...HOME, state: { 'user:name': 'Ada', 'app:limit': 5, tab: 1, empty: '' } })
  const lease = await sessionService.claim(HOME)
  const pending = { opened: [requestOf('r2'), requestOf('r1')], closed: [] }
  await sessionService.append(lease, 0, [entryOf('e1', { z: 1, a: { deep: [null] } }), intentOf('c1')], { pending })
  await sessionService.post(HOME, { id: 'drained', type: 'cancel' })
  await sessionService.append(lease, 2, [], { drained: ['drained'] })
  await sessionService.post(HOME, { id: 'waiting', type: 'state', stateDelta: { late: true } })
  await sessionService.release(lease)
  await sessionService.createSession({ ...HOME, sessionId: 'interrupted', events: [eventOf('e1')] })
  const interrupted = await sessionService.claim({ ...HOME, sessionId: 'interrupted' })
  await sessionService.release(interrupted, { interrupted: true })
  for (const id of HOSTILE) {
    const key = { appName: id, userId: id, sessionId: id }
    await sessionService.createSession({ ...key, state: { [id]: id, [`user:${id}`]: id }, events: [eventOf(id)] })
    await credentialService.save({ ...key, key: id, credential: { authType: 'apiKey', apiKey: id } })
  }
  const data = Buffer.from([0, 255, 10]).toString('base64')
  for (const sessionId of ['s1', 'gone']) {
    const artifact = { inlineData: { mimeType: 'image/png', data } }
    await artifactService.saveArtifact({ ...HOME, sessionId, filename: 'a.png', artifact })
    await artifactService.saveArtifact({ ...HOME, sessionId, filename: 'a.png', artifact: { text: 'second' } })
  }
  await artifactService.saveArtifact({ ...HOME, filename: 'user:me', artifact: { text: 'of the user' } })
  await sessionService.pins.set({ appName: 'shop' }, 'mcp', 'abc')
  for (const id of ['s1', 'gone']) {
    const session = { appName: 'shop', userId: 'ada', id, state: {}, events: [eventOf('e1')], lastUpdateTime: 0 }
    await memoryService.addSessionToMemory(session)
    await scheduleService.saveSchedule({ ...scheduleOf(`of ${id}`), sessionId: id }, null)
  }
  await scheduleService.saveSchedule(scheduleOf('each day'), null)
}

function scheduleOf(id: string): StoredSchedule {
  const message = { role: 'user', parts: [{ text: 'Report.' }] } as const
  const owner = { appName: 'shop', userId: 'ada', uid: id, createdAt: 0, revision: 'r' }
  const times = {
    timing: { type: 'at', at: 1 },
    missed: 'once',
    wakeAt: 1,
    state: { type: 'waiting', tick: 1 },
  } as const
  return { ...owner, ...times, id, message }
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
  `SELECT users.app AS app, users."user" AS owner, session, body, length, words FROM toolwright_memories AS memories
   JOIN toolwright_memory_users AS users ON users.id = memories.owner
   JOIN toolwright_memory_index AS found ON found.rowid = memories.id ORDER BY users.app, users."user", session, memories.id`,
  'SELECT app, schedule, "user", session, wake_at, revision, body FROM toolwright_schedules ORDER BY app, schedule',
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
