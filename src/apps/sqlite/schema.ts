// The tables as a list of migrations. A released migration never changes.
import type { DatabaseSync } from 'node:sqlite'
import { ToolwrightError } from '../../core/error/error.ts'

const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE toolwright_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: a session created again under the same key is another one
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,                   -- of the last entry
    epoch INTEGER NOT NULL,                 -- of the holder; 0 = no holder
    expires_at REAL NOT NULL,               -- of the lease, in milliseconds
    updated_at REAL NOT NULL,
    checkpoint TEXT,                        -- no longer used
    UNIQUE (app, user, session)
  ) STRICT;

  CREATE TABLE toolwright_entries (
    session INTEGER NOT NULL REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    event_id TEXT,                          -- NULL = a record
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  CREATE UNIQUE INDEX toolwright_event_ids ON toolwright_entries (session, event_id) WHERE event_id IS NOT NULL;

  CREATE TABLE toolwright_state (
    app TEXT NOT NULL,
    user TEXT NOT NULL,                     -- '' = the app's
    session INTEGER NOT NULL,               -- 0 = the user's or the app's
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (app, user, session, key)
  ) STRICT;

  CREATE TABLE toolwright_inbox (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    item_id TEXT NOT NULL,
    body TEXT,                              -- NULL = drained; the id stays to detect repeats
    UNIQUE (session, item_id)
  ) STRICT;

  CREATE TABLE toolwright_pending (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    since REAL NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX toolwright_pending_of ON toolwright_pending (session);

  CREATE TABLE toolwright_artifacts (
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,                  -- '' = the user's
    filename TEXT NOT NULL,
    version INTEGER NOT NULL,
    mime_type TEXT,
    created_at REAL NOT NULL,               -- in seconds
    metadata TEXT,
    part TEXT NOT NULL,
    bytes BLOB,                             -- decoded inline data of the part
    PRIMARY KEY (app, user, session, filename, version)
  ) STRICT;

  CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  INSERT INTO toolwright_meta VALUES ('schema', 0), ('epoch', 0);
  `,
  // Leases on a monotonic clock. expires_at is still written for processes with schema version 1 that have the file open.
  // lease_epoch distinguishes their leases, which only have expires_at, from leases of version 2.
  `
  ALTER TABLE toolwright_sessions ADD COLUMN lease_epoch INTEGER NOT NULL DEFAULT 0;  -- the epoch the next two are of
  ALTER TABLE toolwright_sessions ADD COLUMN lease_until REAL NOT NULL DEFAULT 0;     -- in milliseconds since boot
  ALTER TABLE toolwright_sessions ADD COLUMN lease_ms REAL NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE toolwright_credentials (
    generation INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a credential saved after a delete is another one
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    key TEXT NOT NULL,
    sealed BLOB NOT NULL,                          -- encrypted
    UNIQUE (app, user, key)
  ) STRICT;
  `,
  `
  CREATE TABLE toolwright_pins (
    app TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (app, name)
  ) STRICT;
  `,
  `
  CREATE TABLE IF NOT EXISTS toolwright_checkpoints (
    session INTEGER PRIMARY KEY REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,                   -- of the latest entry in it
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_inbox_waiting ON toolwright_inbox (session) WHERE body IS NOT NULL;
  `,
  `
  CREATE TABLE IF NOT EXISTS toolwright_schedules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order of creation
    app TEXT NOT NULL,
    schedule TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,                  -- '' = a new session for each run
    wake_at REAL NOT NULL,                  -- when a worker has to look at it, in milliseconds since 1970
    revision TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (app, schedule)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_schedules_due ON toolwright_schedules (app, wake_at);
  CREATE INDEX IF NOT EXISTS toolwright_schedules_of ON toolwright_schedules (app, user, session);
  `,
  // The words of messages are letters and digits of ASCII: they need no other tokenizer. With `secure-delete`, deleted words leave the index at
  // once.
  `
  CREATE TABLE IF NOT EXISTS toolwright_memory_users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    UNIQUE (app, user)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS toolwright_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL REFERENCES toolwright_memory_users (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    body TEXT NOT NULL,
    length INTEGER NOT NULL                 -- in words
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_memories_of ON toolwright_memories (owner, session);
  CREATE VIRTUAL TABLE IF NOT EXISTS toolwright_memory_index USING fts5(owner, words, tokenize = 'ascii');
  INSERT INTO toolwright_memory_index (toolwright_memory_index, rank) VALUES ('secure-delete', 1);
  `,
  // Schedulers that take a session over from a dead worker, sessions whose workers die again and again, and limits.
  `
  ALTER TABLE toolwright_sessions ADD COLUMN holder TEXT;                         -- the scheduler of the latest lease
  ALTER TABLE toolwright_sessions ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;  -- of holders, in a row
  ALTER TABLE toolwright_sessions ADD COLUMN set_aside TEXT;                      -- why no worker continues the session
  CREATE INDEX IF NOT EXISTS toolwright_sessions_held ON toolwright_sessions (app, id) WHERE epoch <> 0;
  CREATE INDEX IF NOT EXISTS toolwright_sessions_set_aside ON toolwright_sessions (app, id) WHERE set_aside IS NOT NULL;

  -- limits that all processes share
  CREATE TABLE IF NOT EXISTS toolwright_limits (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    name TEXT NOT NULL,
    max INTEGER NOT NULL,
    UNIQUE (app, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS toolwright_slots (
    slot TEXT PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES toolwright_limits (id) ON DELETE CASCADE,
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    holder TEXT NOT NULL,                   -- '' = nothing renews it
    ends_at REAL NOT NULL,                  -- in milliseconds since boot
    lease_ms REAL NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_slots_of ON toolwright_slots (owner);
  CREATE INDEX IF NOT EXISTS toolwright_slots_of_user ON toolwright_slots (app, user);
  CREATE INDEX IF NOT EXISTS toolwright_slots_held ON toolwright_slots (holder) WHERE holder <> '';
  CREATE TABLE IF NOT EXISTS toolwright_slot_places (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order in line
    owner INTEGER NOT NULL REFERENCES toolwright_limits (id) ON DELETE CASCADE,
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    ticket TEXT NOT NULL,
    ends_at REAL NOT NULL,
    lease_ms REAL NOT NULL,
    UNIQUE (owner, user, ticket)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_slot_places_of_user ON toolwright_slot_places (app, user);
  ` +
    // Which workers there are. Workers and operators look for sessions with a holder: there are few of them.
    `
  CREATE TABLE IF NOT EXISTS toolwright_workers (
    app TEXT NOT NULL,
    worker TEXT NOT NULL,
    seen_at REAL NOT NULL,                  -- when it reported, on the clock of leases, in milliseconds
    body TEXT NOT NULL,
    PRIMARY KEY (app, worker)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS toolwright_workers_seen ON toolwright_workers (app, seen_at);
  CREATE INDEX IF NOT EXISTS toolwright_sessions_held ON toolwright_sessions (app, id) WHERE epoch <> 0;
  `,
  // When requests expire, in milliseconds: workers look for those that have. NULL = not known yet, from a process of an earlier version.
  `
  ALTER TABLE toolwright_pending ADD COLUMN expires REAL;
  CREATE INDEX toolwright_pending_expires ON toolwright_pending (expires);
  `,
]

/** The tables with the columns that this Toolwright reads. */
const TABLES: Readonly<Record<string, string>> = {
  toolwright_sessions:
    'id, app, user, session, seq, epoch, expires_at, updated_at, lease_epoch, lease_until, lease_ms, holder, crashes, set_aside',
  toolwright_entries: 'session, seq, event_id, body',
  toolwright_checkpoints: 'session, seq, state',
  toolwright_state: 'app, user, session, key, value',
  toolwright_inbox: 'id, session, item_id, body',
  toolwright_pending: 'id, session, since, body, expires',
  toolwright_artifacts: 'app, user, session, filename, version, mime_type, created_at, metadata, part, bytes',
  toolwright_credentials: 'generation, app, user, key, sealed',
  toolwright_pins: 'app, name, hash',
  toolwright_memory_users: 'id, app, user',
  toolwright_memories: 'id, owner, session, body, length',
  toolwright_memory_index: 'rowid, owner, words',
  toolwright_schedules: 'id, app, schedule, user, session, wake_at, revision, body',
  toolwright_limits: 'id, app, name, max',
  toolwright_slots: 'slot, owner, app, user, holder, ends_at, lease_ms',
  toolwright_slot_places: 'id, owner, app, user, ticket, ends_at, lease_ms',
  toolwright_workers: 'app, worker, seen_at, body',
  toolwright_meta: 'name, value',
}

/** The version of the tables that this Toolwright writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length

/** Creates the tables, or migrates them to the version of this Toolwright. */
export function migrate(connection: DatabaseSync, file: string): void {
  if (versionOf(connection, file) === MIGRATIONS.length) return
  connection.exec('BEGIN IMMEDIATE')
  try {
    // read again under the lock: another process may have migrated the file
    const version = versionOf(connection, file)
    for (const migration of MIGRATIONS.slice(version)) connection.exec(migration)
    connection.prepare("UPDATE toolwright_meta SET value = ? WHERE name = 'schema'").run(MIGRATIONS.length)
    connection.exec('COMMIT')
  } catch (error) {
    rollBack(connection)
    throw error
  }
}

/** Throws the error of SQLite if a table or a column is missing. */
export function checkTables(connection: DatabaseSync): void {
  for (const [table, columns] of Object.entries(TABLES)) connection.prepare(`SELECT ${columns} FROM ${table}`)
}

function rollBack(connection: DatabaseSync): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // SQLite has rolled back already, e.g. on a full disk
  }
}

/** The number of migrations already applied to the file. */
function versionOf(connection: DatabaseSync, file: string): number {
  const tables = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'toolwright_meta'")
  if (!tables.get()) return 0
  const version = connection.prepare("SELECT value FROM toolwright_meta WHERE name = 'schema'").get()?.value
  if (typeof version === 'number' && version >= 1 && version <= MIGRATIONS.length) return version
  const message =
    typeof version === 'number' && version > MIGRATIONS.length
      ? `The database "${file}" was written by a newer Toolwright (schema version ${version}, supported: ${MIGRATIONS.length}). Update Toolwright, or use another file.`
      : `The database "${file}" has no valid schema version. Restore it from a backup, or use another file.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}
