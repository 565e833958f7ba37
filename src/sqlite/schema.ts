// The tables, as steps: a file is brought up to date by those it has not seen. A step that was released never changes.
import type { DatabaseSync } from 'node:sqlite'
import { ToolwrightError } from '../error/error.ts'

const STEPS: readonly string[] = [
  `
  CREATE TABLE toolwright_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given again: a session in a deleted one's place is another one
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,                   -- of the last entry
    epoch INTEGER NOT NULL,                 -- of who holds it; 0 = nobody
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
    body TEXT,                              -- NULL = done with, and not to be heard again
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
    bytes BLOB,                             -- the data of the part, when it is whole bytes
    PRIMARY KEY (app, user, session, filename, version)
  ) STRICT;

  CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  INSERT INTO toolwright_meta VALUES ('schema', 0), ('epoch', 0);
  `,
  // Leases on a monotonic clock. A process of version 1 that has the file open continues with expires_at, which is
  // still written for it; lease_epoch tells its leases, which have no other end, from those of version 2.
  `
  ALTER TABLE toolwright_sessions ADD COLUMN lease_epoch INTEGER NOT NULL DEFAULT 0;  -- the epoch the next two are of
  ALTER TABLE toolwright_sessions ADD COLUMN lease_until REAL NOT NULL DEFAULT 0;     -- in milliseconds since boot
  ALTER TABLE toolwright_sessions ADD COLUMN lease_ms REAL NOT NULL DEFAULT 0;
  `,
]

/** Makes or changes the tables where they are not as this version of Toolwright knows them. */
export function bringUpToDate(connection: DatabaseSync, file: string): void {
  if (versionOf(connection, file) === STEPS.length) return
  connection.exec('BEGIN IMMEDIATE')
  try {
    // asked again: another process may have been first
    const version = versionOf(connection, file)
    for (const step of STEPS.slice(version)) connection.exec(step)
    connection.prepare("UPDATE toolwright_meta SET value = ? WHERE name = 'schema'").run(STEPS.length)
    connection.exec('COMMIT')
  } catch (error) {
    undo(connection)
    throw error
  }
}

function undo(connection: DatabaseSync): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // a full disk has undone it already
  }
}

/** How many steps the file has seen. */
function versionOf(connection: DatabaseSync, file: string): number {
  const tables = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'toolwright_meta'")
  if (!tables.get()) return 0
  const version = connection.prepare("SELECT value FROM toolwright_meta WHERE name = 'schema'").get()?.value
  if (typeof version === 'number' && version >= 1 && version <= STEPS.length) return version
  const message =
    typeof version === 'number' && version > STEPS.length
      ? `The database "${file}" was written by a newer Toolwright (its tables have version ${version}, this one knows ${STEPS.length}). Update Toolwright, or use another file.`
      : `The database "${file}" does not say which version its tables have. Restore it from a backup, or use another file.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}
