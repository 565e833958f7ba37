// The seam between the rules of a store and its database. A rule is a generator: it yields statements and gets their results. The
// driver of SQLite runs all of them in one turn of the event loop, the driver of Postgres waits for each. A rule does not catch
// errors of statements: the driver rolls the transaction back.
import type { UserTurns } from './user-turns.ts'

/** A value that both databases store. */
export type SqlValue = string | number | null | Uint8Array

/** A row of a result. Integers are numbers. */
export interface SqlRow {
  readonly [column: string]: unknown
}

/** A statement, made once and run often: drivers prepare it by identity. */
export interface Statement {
  /** The text, with `?` for each value. */
  readonly sql: string
  /** What its result is read for. */
  readonly returns: 'rows' | 'changes'
}

/** A statement with its values. */
export interface SqlStep {
  /** The statement. */
  readonly statement: Statement
  /** One value for each `?`. */
  readonly values: readonly SqlValue[]
}

/** What a statement gave. */
export interface SqlResult {
  /** The rows; none if the statement returns changes. */
  readonly rows: readonly SqlRow[]
  /** The number of changed rows; 0 if the statement returns rows. */
  readonly changes: number
}

/** Work in one transaction. It may run more than once, so it must change nothing but the database. */
export type SqlWork<T> = Generator<SqlStep, T, SqlResult>

/** What the two databases write differently. Rules build their statements with it. */
export interface Dialect {
  /** Locks the selected rows until the end of the transaction. Empty on SQLite, where a writer locks the file. */
  readonly forUpdate: '' | ' FOR UPDATE'
  /**
   * The time that leases are measured with, in milliseconds, as an expression with one `?`. The value is `leaseTime()` of the
   * database: null for the clock of the database server.
   */
  readonly leaseTime: string
  /** The epoch of the next lease as an expression: higher than all earlier ones, also those of deleted sessions. Null if damaged. */
  readonly nextEpoch: string
  /** Stores the epoch of a new lease, its only value. Omit it if `nextEpoch` never gives a number twice, as a sequence does. */
  readonly saveEpoch?: Statement | undefined
  /** Sends a message of at most 8000 bytes to those who watch the database, as an expression with one `?`. Omit it if that is not possible. */
  readonly notify?: string | undefined
}

/** A database that runs work in transactions. Errors are `ToolwrightError`s. */
export interface SqlDatabase {
  /** How this database writes what differs. */
  readonly dialect: Dialect
  /** The path of its file, or `:memory:`. Omit it for a database on a server. */
  readonly file?: string | undefined
  /** The turns of users with work that blocks the event loop. */
  readonly turns: UserTurns
  /** The value of the `?` in `dialect.leaseTime`. */
  leaseTime(): number | null
  /** Runs work in a transaction that sees one snapshot and writes nothing. */
  read<T>(work: () => SqlWork<T>): Promise<T>
  /** Runs one statement that only reads. */
  readOne(statement: Statement, ...values: SqlValue[]): Promise<readonly SqlRow[]>
  /** Runs work in a transaction that writes. `mayWaitLonger`: asked when a lock was waited for too long; true keeps waiting. */
  write<T>(work: () => SqlWork<T>, mayWaitLonger?: () => SqlWork<boolean>): Promise<T>
  /**
   * Runs work that only reads, at once. Omit it if the database answers later: holders of sessions then read a copy of the state,
   * and the table `toolwright_state_versions` tells when shared state has changed (state-versions.ts).
   */
  readNow?<T>(work: () => SqlWork<T>): T
  /**
   * Calls the listener with messages of `dialect.notify`, and without one when something may have changed, until the returned function
   * is called. What this process changes need not be told.
   */
  watch?(listener: (message?: string) => void): () => void
  /** Throws if the open database is not the one under its name any more. Called in transactions that give out a lease. */
  checkIdentity?(): void
}

/** A message of `dialect.notify` has at most 8000 bytes. */
export const MAX_MESSAGE_BYTES = 7_900

/** The largest number of rows a statement can be limited to: all. */
export const ALL_ROWS: number = Number.MAX_SAFE_INTEGER

/** A statement whose rows are read. */
export function query(sql: string): Statement {
  return { sql, returns: 'rows' }
}

/** A statement whose number of changed rows is read. */
export function command(sql: string): Statement {
  return { sql, returns: 'changes' }
}

/** Runs a statement and returns its rows. */
export function* rowsOf(statement: Statement, ...values: SqlValue[]): SqlWork<readonly SqlRow[]> {
  return (yield { statement, values }).rows
}

/** Runs a statement and returns its first row; undefined if there is none. */
export function* rowOf(statement: Statement, ...values: SqlValue[]): SqlWork<SqlRow | undefined> {
  return (yield { statement, values }).rows[0]
}

/** Runs a statement and returns the number of changed rows. */
export function* changesOf(statement: Statement, ...values: SqlValue[]): SqlWork<number> {
  return (yield { statement, values }).changes
}
