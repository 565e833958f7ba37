// Where a database is: a URL, the options of a pool, or a pool.
import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { isPool, type PostgresConnection, type PostgresPool } from './pool.ts'

/** A database, and how errors name it. */
export interface Source {
  /** The pool, or how to make one. */
  readonly source: PostgresPool | PostgresConnection
  /** The name and the address of the database, without role and password. */
  readonly place: string
}

/** Checks where a database is. Throws INVALID_CONFIG for an address without a database. No message holds the address: it has a password. */
export function readSource(given: unknown): Source {
  if (typeof given === 'string') return { source: { connectionString: given }, place: placeOf(given, 'The URL') }
  if (given instanceof URL) return readSource(given.href)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`postgres() requires a URL, the options of a pool, or a pool of "pg", got ${kindOf(given)}.`)
  }
  const source = given as PostgresPool | PostgresConnection
  if (isPool(source)) return { source, place: placeOfPool(source) }
  const { connectionString, host = 'localhost', port = 5432, database = process.env.PGDATABASE } = source
  if (connectionString !== undefined) return { source, place: placeOf(connectionString, 'connectionString') }
  if (typeof database !== 'string' || database === '') throw invalid('postgres(): database is missing. Set its name.')
  return { source, place: describe(database, `${String(host)}:${String(port)}`) }
}

/** Checks a URL and returns the place it names. */
export function placeOf(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
    throw invalid(`${what} of postgres() is not valid. Write it as postgres://user:password@host:5432/database.`)
  }
  const database = decode(url.pathname.slice(1))
  if (database === '') {
    throw invalid(
      `${what} of postgres() names no database. Add it at the end: postgres://user:password@host:5432/database.`,
    )
  }
  return describe(database, url.host || (url.searchParams.get('host') ?? 'localhost'))
}

function placeOfPool(pool: PostgresPool): string {
  const { options } = pool as { options?: PostgresConnection }
  try {
    return readSource({ ...options }).place
  } catch {
    return 'of the pool'
  }
}

function describe(database: string, address: string): string {
  return `"${database}" (${address})`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
