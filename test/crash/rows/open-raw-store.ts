import { isPostgres } from '../open-store.ts'
import { openRawPostgres } from './open-raw-postgres.ts'
import { openRawSqlite } from './open-raw-sqlite.ts'
import type { RawStore } from './raw-rows.ts'

/** Opens a store, as `openStore()` does, without the product. */
export async function openRawStore(store: string): Promise<RawStore> {
  return isPostgres(store) ? await openRawPostgres(store) : openRawSqlite(store)
}
