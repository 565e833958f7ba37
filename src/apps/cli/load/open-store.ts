import type { Logger } from '../../../engine/dispatch/host.ts'
import type { SqliteServices } from '../../sqlite/sqlite.ts'
import { createStoreFolder } from './store-folder.ts'

/** Where the sessions of an app are stored. */
export interface StoreOptions {
  /** The SQLite file. Default: in memory. */
  readonly db?: string | undefined
  /** `db` is the default one, whose folder is created when it is opened. Default: false. */
  readonly isDefault?: boolean | undefined
}

/** Opens the database of an app; undefined if the app has none. */
export async function openStore(
  { db, isDefault = false }: StoreOptions,
  logger: Logger,
): Promise<SqliteServices | undefined> {
  if (db === undefined) return undefined
  if (isDefault) createStoreFolder(db)
  return (await import('../../sqlite/sqlite.ts')).sqlite(db, { logger })
}
