// Databases of tests: each has a schema of its own on the shared server.
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { inject, onTestFinished } from 'vitest'
import { command, query, type SqlRow } from '../../services/sql/sql.ts'
import { PostgresDatabase } from './database.ts'
import { Connections, type PostgresConnection, type PostgresPool } from './pool.ts'

/** The URL of the shared server. */
export function serverUrl(): string {
  return inject('postgresUrl')
}

/** The name of an unused schema. */
export function newSchema(): string {
  return `test_${randomUUID()}`
}

/** Opens a database, by default in a new schema of the shared server. It closes after the test. */
export function openDatabase(
  options: {
    readonly source?: PostgresPool | PostgresConnection
    readonly schema?: string
    readonly statementTimeoutMs?: number
    readonly awayMs?: number
  } = {},
): PostgresDatabase {
  const { source = { connectionString: serverUrl() }, schema = newSchema(), statementTimeoutMs = 10_000 } = options
  const database = new PostgresDatabase({
    connections: new Connections(source),
    place: '"test"',
    schema,
    statementTimeoutMs,
    now: undefined,
    awayMs: options.awayMs,
  })
  onTestFinished(() => database.close())
  return database
}

/** Runs a statement as an administrator of the shared server, or of the server with this URL. */
export async function runSql(sql: string, url: string = serverUrl()): Promise<SqlRow[]> {
  const pool = new Pool({ connectionString: url, max: 1 })
  try {
    return (await pool.query(sql)).rows
  } finally {
    await pool.end()
  }
}

/** Statements of tests on the table of pins, which has a name and a value. */
export const pins: {
  readonly [name in 'add' | 'names' | 'lock' | 'change']: ReturnType<typeof query>
} = {
  add: command("INSERT INTO toolwright_pins (app, name, hash) VALUES ('test', ?, ?)"),
  names: query('SELECT name FROM toolwright_pins ORDER BY name'),
  lock: query('SELECT hash FROM toolwright_pins WHERE name = ? FOR UPDATE'),
  change: command('UPDATE toolwright_pins SET hash = ? WHERE name = ?'),
}
