// A file with schema version 1. The schema is copied here because a released version never changes.
import { DatabaseSync } from 'node:sqlite'

const VERSION_1 = `
  CREATE TABLE toolwright_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    checkpoint TEXT,
    UNIQUE (app, user, session)
  ) STRICT;

  CREATE TABLE toolwright_entries (
    session INTEGER NOT NULL REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    event_id TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  CREATE UNIQUE INDEX toolwright_event_ids ON toolwright_entries (session, event_id) WHERE event_id IS NOT NULL;

  CREATE TABLE toolwright_state (
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (app, user, session, key)
  ) STRICT;

  CREATE TABLE toolwright_inbox (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES toolwright_sessions (id) ON DELETE CASCADE,
    item_id TEXT NOT NULL,
    body TEXT,
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
    session TEXT NOT NULL,
    filename TEXT NOT NULL,
    version INTEGER NOT NULL,
    mime_type TEXT,
    created_at REAL NOT NULL,
    metadata TEXT,
    part TEXT NOT NULL,
    bytes BLOB,
    PRIMARY KEY (app, user, session, filename, version)
  ) STRICT;

  CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  INSERT INTO toolwright_meta VALUES ('schema', 0), ('epoch', 0);
  UPDATE toolwright_meta SET value = 1 WHERE name = 'schema';
`

/** Opens a file like a process with schema version 1, with the statements of that version. */
export function openVersion1(file: string): {
  /** Creates a session with a lease until `expiresAt` and returns its epoch. */
  createHeld(sessionId: string, expiresAt: number): number
  claim(sessionId: string, now: number, leaseMs: number): number | undefined
  renew(sessionId: string, epoch: number, expiresAt: number): boolean
  close(): void
} {
  const connection = new DatabaseSync(file)
  connection.exec('PRAGMA journal_mode = WAL')
  const tables = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'toolwright_meta'").get()
  if (!tables) connection.exec(VERSION_1)
  const nextEpoch = connection.prepare(
    "UPDATE toolwright_meta SET value = value + 1 WHERE name = 'epoch' RETURNING value",
  )
  const find = connection.prepare('SELECT id, epoch, expires_at FROM toolwright_sessions WHERE session = ?')
  const insert = connection.prepare(
    `INSERT INTO toolwright_sessions (app, user, session, seq, epoch, expires_at, updated_at)
     VALUES ('shop', 'ada', ?, 0, 0, 0, 0)`,
  )
  const hold = connection.prepare('UPDATE toolwright_sessions SET epoch = ?, expires_at = ? WHERE id = ?')
  const renew = connection.prepare('UPDATE toolwright_sessions SET expires_at = ? WHERE session = ? AND epoch = ?')
  const claim = (sessionId: string, now: number, leaseMs: number): number | undefined => {
    const row = find.get(sessionId) as { id: number; epoch: number; expires_at: number }
    if (row.epoch !== 0 && now < row.expires_at) return undefined
    const epoch = Number(nextEpoch.get()?.value)
    hold.run(epoch, now + leaseMs, row.id)
    return epoch
  }
  return {
    createHeld: (sessionId, expiresAt) => {
      insert.run(sessionId)
      return claim(sessionId, 0, expiresAt) ?? 0
    },
    claim,
    renew: (sessionId, epoch, expiresAt) => renew.run(expiresAt, sessionId, epoch).changes > 0,
    close: () => connection.close(),
  }
}
