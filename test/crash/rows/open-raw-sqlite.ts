import { DatabaseSync } from 'node:sqlite'
import { type RawStore, readRows } from './raw-rows.ts'

/** Opens a SQLite file. */
export function openRawSqlite(file: string): RawStore {
  const database = new DatabaseSync(file, { timeout: 10_000 })
  return {
    rows: (app, session) => readRows(async (sql, ...values) => database.prepare(sql).all(...values), app, session),
    async endLeases(app) {
      // the first process may have been killed before it made the tables
      if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'toolwright_sessions'").get()) return
      const sql = 'UPDATE toolwright_sessions SET expires_at = 0, lease_until = 0 WHERE app = ?'
      database.prepare(sql).run(app)
    },
    async findDamage() {
      const found = database.prepare('PRAGMA integrity_check').all()
      return found.map((row) => String(row.integrity_check)).filter((problem) => problem !== 'ok')
    },
    async close() {
      database.close()
    },
  }
}
