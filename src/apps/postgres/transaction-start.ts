import type { SentStatement } from './send-together.ts'

/** What every transaction sets for itself. */
export interface TransactionSettings {
  /** The schema of the tables. */
  readonly schema: string
  /** How long a statement may take, and how long a transaction may wait for its process, in milliseconds. */
  readonly statementTimeoutMs: number
}

/** How transactions begin. The settings end with the transaction: a connection behind a pooler has no state of ours. */
export interface TransactionStarts {
  /** Before a statement that needs no BEGIN. */
  readonly one: readonly [SentStatement]
  /** Begins a transaction that reads one snapshot. */
  readonly read: readonly [SentStatement, SentStatement]
  /** Begins a transaction that writes. The second result has its id as `transaction`. */
  readonly write: readonly [SentStatement, SentStatement]
}

/** Makes the statements that begin transactions. */
export function transactionStarts({ schema, statementTimeoutMs }: TransactionSettings): TransactionStarts {
  const timeout = String(Math.ceil(statementTimeoutMs))
  // tables are found in the schema only; a process that hangs in a transaction loses its locks
  const settings = [
    `set_config('search_path', $1, true)`,
    `set_config('statement_timeout', $2, true)`,
    `set_config('idle_in_transaction_session_timeout', $2, true)`,
  ]
  const values = [`${quoteName(schema)}, pg_temp`, timeout]
  const set: SentStatement = { text: `SELECT ${settings.join(', ')}`, values }
  const setAndId: SentStatement = {
    text: `SELECT ${settings.join(', ')}, CAST(pg_current_xact_id() AS text) AS transaction`,
    values,
  }
  return {
    one: [set],
    read: [plain('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'), set],
    write: [plain('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'), setAndId],
  }
}

/** Ends a transaction. */
export const COMMIT: SentStatement = plain('COMMIT')
/** Undoes a transaction. */
export const ROLLBACK: SentStatement = plain('ROLLBACK')

function plain(text: string): SentStatement {
  return { text, values: [] }
}

/** Quotes a name for a statement. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
