// Opens the databases that a command line names.
import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SqlDatabase } from '../../../services/sql/sql.ts'
import { PostgresDatabase } from '../../postgres/database.ts'
import { Connections } from '../../postgres/pool.ts'
import { checkSchema, DEFAULT_SCHEMA } from '../../postgres/postgres-options.ts'
import { readSource } from '../../postgres/source.ts'
import { openDatabase } from '../../sqlite/open-database.ts'
import { UsageError } from '../terminal.ts'

/** Where a store is. */
export type StorePlace =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string }

/** An open database. */
export interface OpenStore extends AsyncDisposable {
  /** The database. */
  readonly database: SqlDatabase
}

/** Counting and comparing a large store takes longer than a statement of a run may take. */
export const STATEMENT_TIMEOUT_MS = 600_000
/** How long a write waits for another process that writes to the file. */
const BUSY_TIMEOUT_MS = 30_000

/** Reads an argument: a path, or a URL of Postgres, which may hold a password. `schema`: the value of `--<option>`. */
export function readStorePlace(
  given: string,
  { schema, option }: { readonly schema: string | undefined; readonly option: string },
): StorePlace {
  if (/^postgres(ql)?:/i.test(given)) {
    checkSchema(schema ?? DEFAULT_SCHEMA)
    return { type: 'postgres', url: given, schema: schema ?? DEFAULT_SCHEMA }
  }
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(given) // a drive of Windows has one letter
  if (isUrl || given.startsWith(':')) {
    throw new UsageError('A store is the path of a SQLite file, or a URL that starts with postgres://.')
  }
  if (schema !== undefined) throw new UsageError(`--${option} is for Postgres, and "${given}" is a file.`)
  return { type: 'sqlite', file: existsSync(given) ? realpathSync(given) : resolve(given) }
}

/** Whether two arguments name one store. */
export function isSameStore(one: StorePlace, other: StorePlace): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Throws a `UsageError` for a file that does not exist: it would be created. */
export function checkStoreExists(place: StorePlace): void {
  if (place.type === 'postgres' || existsSync(place.file)) return
  throw new UsageError(`"${place.file}" does not exist. Pass the SQLite file to copy from, or a URL of Postgres.`)
}

/** Opens a store. `mustExist`: whether it is an error if Postgres has no tables of one; else they are created. */
export async function openStore(place: StorePlace, { mustExist }: { readonly mustExist: boolean }): Promise<OpenStore> {
  return place.type === 'sqlite' ? openFile(place.file) : await openServer(place, mustExist)
}

function openFile(file: string): OpenStore {
  const database = openDatabase(file, { synchronous: 'full', busyTimeoutMs: BUSY_TIMEOUT_MS })
  return { database, [Symbol.asyncDispose]: async () => database.close() }
}

async function openServer(
  { url, schema }: Extract<StorePlace, { type: 'postgres' }>,
  mustExist: boolean,
): Promise<OpenStore> {
  const { source, place } = readSource(url)
  const connections = new Connections(source)
  const database = new PostgresDatabase({
    connections,
    place,
    schema,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    now: undefined,
    mustExist,
  })
  const close = (): Promise<void> => database.close()
  try {
    await database.ready()
  } catch (error) {
    await close()
    throw error
  }
  return { database, [Symbol.asyncDispose]: close }
}
