import pg from 'pg'
import { schemaOf, withoutSchema } from '../open-store.ts'
import { type Query, type RawStore, readRows } from './raw-rows.ts'

/** Connects to a Postgres database. */
export async function openRawPostgres(store: string): Promise<RawStore> {
  const client = new pg.Client({ connectionString: withoutSchema(store) })
  await client.connect()
  await client.query(`SET search_path TO "${schemaOf(store)}"`)
  const query: Query = async (sql, ...values) => {
    let count = 0
    return (
      await client.query(
        sql.replaceAll('?', () => `$${++count}`),
        values,
      )
    ).rows
  }
  return {
    rows: (app, session) => readRows(query, app, session),
    async endLeases(app) {
      // the first process may have been killed before it made the tables
      const [found] = await query("SELECT to_regclass('toolwright_sessions') AS sessions")
      if (found?.sessions === null) return
      await query('UPDATE toolwright_sessions SET expires_at = 0, lease_until = 0 WHERE app = ?', app)
    },
    async findDamage() {
      return [] // each read would fail
    },
    close: () => client.end(),
  }
}
