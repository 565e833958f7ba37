import { ToolwrightError } from '../../core/error/error.ts'
import type { SqlRow, SqlValue } from '../../services/sql/sql.ts'
import { MIGRATIONS, type Migration } from './schema.ts'
import type { SentResult, SentStatement } from './send-together.ts'
import { quoteName } from './transaction-start.ts'

/** Which database is migrated. */
interface MigrateOptions {
  /** The schema of the tables. */
  readonly schema: string
  /** Names the database in errors. */
  readonly place: string
  /** Whether the tables must be there: none are created. Default: false. */
  readonly mustExist?: boolean | undefined
  /** The migrations. Default: those of this Toolwright. */
  readonly migrations?: readonly Migration[] | undefined
}

type Send = (statements: readonly SentStatement[]) => Promise<SentResult[]>

/** Two processes must not migrate at the same time. The number is any; it is the same in all versions of Toolwright. */
const LOCK = 'SELECT pg_advisory_xact_lock(7426893, hashtext($1))'

const OLDEST_SERVER = 140_000

/** Creates the schema and its tables, or migrates them to the version of this Toolwright. Needs no rights if there is nothing to do. */
export async function migrate(send: Send, options: MigrateOptions): Promise<void> {
  const { schema, migrations = MIGRATIONS } = options
  const statements = statementsFor(schema)
  checkServer(await first(send, SERVER), options)
  const known = await versionOf(send, options)
  if (known >= migrations.length) return
  if (known === 0 && options.mustExist) throw missing(options)
  await send([plain('BEGIN'), { text: LOCK, values: [schema] }])
  const version = await versionOf(send, options) // read again: another process may have migrated meanwhile
  if (version < migrations.length) {
    if (version === 0) await createSchema(send, options)
    const missing = migrations.slice(version).flatMap((migration) => migration.statements)
    const { worksFrom } = migrations.at(-1) as Migration
    await send([
      statements.usePath,
      ...missing.map((text) => plain(text)),
      statements.setMeta('schema', migrations.length),
      statements.setMeta('works_from', worksFrom),
    ])
  }
  await send([plain('COMMIT')])
}

const SERVER = plain(
  `SELECT CAST(current_setting('server_version_num') AS bigint) AS version, current_setting('server_encoding') AS encoding`,
)

function checkServer(server: SqlRow, { place }: MigrateOptions): void {
  const { version, encoding } = server
  if (Number(version) < OLDEST_SERVER) {
    throw invalid(`The server of ${place} is too old: Toolwright needs Postgres 14 or newer.`)
  }
  if (encoding === 'UTF8') return
  throw invalid(
    `The Postgres database ${place} has the encoding ${String(encoding)}. Create one with the encoding UTF8: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.`,
  )
}

/** The version of the tables; 0 if there are none. Throws INVALID_CONFIG if this Toolwright cannot work with them. */
async function versionOf(send: Send, options: MigrateOptions): Promise<number> {
  const { schema, place, migrations = MIGRATIONS } = options
  const { tables, meta } = await first(send, { text: TABLES, values: [schema] })
  if (Number(tables) === 0) return 0
  const where = `The schema "${schema}" of the Postgres database ${place}`
  if (Number(meta) === 0) {
    throw invalid(
      `${where} has tables of others. Pass the name of another schema to postgres(), or of one that is empty.`,
    )
  }
  const rows = (await send([plain(`SELECT name, value FROM ${quoteName(schema)}.toolwright_meta`)]))[0]?.rows ?? []
  const numberOf = (name: string): unknown => rows.find((row) => row.name === name)?.value
  const [version, worksFrom] = [numberOf('schema'), numberOf('works_from')]
  if (typeof version !== 'number' || typeof worksFrom !== 'number' || version < 1) {
    throw invalid(`${where} has no valid version. Restore it from a backup, or pass another schema to postgres().`)
  }
  if (worksFrom <= migrations.length) return version
  throw invalid(
    `${where} was written by a newer Toolwright (schema version ${version}, supported: ${migrations.length}). Update Toolwright, or pass another schema to postgres().`,
  )
}

/** Needs no rights in the schema: the catalog lists what is there. */
const TABLES = `
  SELECT count(*) AS tables, count(*) FILTER (WHERE relname = 'toolwright_meta') AS meta
  FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1)`

async function createSchema(send: Send, { schema }: MigrateOptions): Promise<void> {
  const { known } = await first(send, {
    text: 'SELECT count(*) AS known FROM pg_catalog.pg_namespace WHERE nspname = $1',
    values: [schema],
  })
  // IF NOT EXISTS would need the right to create schemas, even if there is nothing to create
  if (Number(known) === 0) await send([plain(`CREATE SCHEMA ${quoteName(schema)}`)])
}

interface Statements {
  readonly usePath: SentStatement
  setMeta(name: string, value: number): SentStatement
}

function statementsFor(schema: string): Statements {
  return {
    usePath: { text: `SELECT set_config('search_path', $1, true)`, values: [`${quoteName(schema)}, pg_temp`] },
    setMeta: (name, value) => ({
      text: 'INSERT INTO toolwright_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      values: [name, value],
    }),
  }
}

async function first(send: Send, statement: SentStatement): Promise<SqlRow> {
  return (await send([statement]))[0]?.rows[0] ?? {}
}

function missing({ schema, place }: MigrateOptions): ToolwrightError {
  return invalid(
    `The schema "${schema}" of the Postgres database ${place} has no tables of Toolwright. Check the address and the name of the schema.`,
  )
}

function plain(text: string, values: readonly SqlValue[] = []): SentStatement {
  return { text, values }
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
