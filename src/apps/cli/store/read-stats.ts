import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../core/error/error.ts'
import { query, rowOf, type SqlWork } from '../../../services/sql/sql.ts'
import { readTableStats, type TableStats } from '../../../services/sql/store-stats.ts'
import { Connections } from '../../postgres/pool.ts'
import { readSource } from '../../postgres/source.ts'
import { storageError } from '../../postgres/storage-error.ts'
import { Transactions } from '../../postgres/transaction.ts'
import { SqliteDatabase } from '../../sqlite/database.ts'
import { UsageError } from '../terminal.ts'
import { STATEMENT_TIMEOUT_MS, type StorePlace } from './open-store.ts'

/** What a store holds. */
export interface StoreStats extends TableStats {
  /** The bytes of the SQLite file and its write-ahead log, or of the tables and indexes in Postgres. */
  readonly fileBytes: number
  /** Bytes of the file that nothing uses. `VACUUM` gives them back. Null for Postgres, which does not know. */
  readonly freeBytes: number | null
}

/** Reads what a store holds, in one snapshot. Changes nothing. `top`: how many of the oldest and the largest sessions. */
export async function readStats(place: StorePlace, top: number): Promise<StoreStats> {
  return place.type === 'sqlite' ? await readFile(place.file, top) : await readServer(place, top)
}

async function readFile(file: string, top: number): Promise<StoreStats> {
  if (!existsSync(file)) throw new UsageError(`"${file}" does not exist. Pass the SQLite file of a store.`)
  const connection = new DatabaseSync(file, { readOnly: true })
  try {
    const now = (): number => 0 // no leases are read
    const database = new SqliteDatabase(connection, file, { busyTimeoutMs: 0, monotonicNow: now, isInMemory: false })
    return await database.read(function* () {
      const pageBytes = Number((yield* rowOf(PAGE_SIZE))?.page_size)
      const freeBytes = Number((yield* rowOf(FREE_PAGES))?.freelist_count) * pageBytes
      return { fileBytes: sizeOf(file) + sizeOf(`${file}-wal`), freeBytes, ...(yield* readTableStats(top)) }
    })
  } catch (error) {
    throw new Error(`"${file}" cannot be read as a store of toolwright: ${messageOf(error)}`, { cause: error })
  } finally {
    connection.close()
  }
}

const PAGE_SIZE = query('PRAGMA page_size')
const FREE_PAGES = query('PRAGMA freelist_count')

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

type ServerPlace = Extract<StorePlace, { type: 'postgres' }>

/** Without the services: they would create or migrate the tables. */
async function readServer({ url, schema }: ServerPlace, top: number): Promise<StoreStats> {
  const { source, place } = readSource(url)
  const connections = new Connections(source)
  const transactions = new Transactions(connections, { schema, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  try {
    return await transactions.read(function* (): SqlWork<StoreStats> {
      const size = yield* rowOf(TABLE_BYTES, schema)
      if (Number(size?.sessions) === 0)
        throw new UsageError(
          `The schema "${schema}" of ${place} has no tables of toolwright. Check the URL and --schema.`,
        )
      return { fileBytes: Number(size?.bytes), freeBytes: null, ...(yield* readTableStats(top)) }
    })
  } catch (error) {
    throw error instanceof UsageError ? error : storageError(error, place)
  } finally {
    await connections.close()
  }
}

const TABLE_BYTES = query(
  `SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS bigint) AS bytes,
     count(*) FILTER (WHERE relname = 'toolwright_sessions') AS sessions
   FROM pg_catalog.pg_class WHERE relkind = 'r' AND relname LIKE 'toolwright%'
     AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ?)`,
)
