import { DatabaseSync } from 'node:sqlite'
import { type RawStore, readRows } from './raw-rows.ts'

/** Opens a store, as `openStore()` does, without the product. */
export function openRawStore(store: string): RawStore {
  const database = new DatabaseSync(store, { timeout: 10_000 })
  return {
    rows: (app) => readRows(async (sql, ...values) => database.prepare(sql).all(...values), app),
    async endLeases(app) {
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
