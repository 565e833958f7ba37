// Sends statements in one round trip. If one fails, the server skips those after it: a statement never runs outside of the
// transaction whose BEGIN is sent with it. `pg` has no such function, so this is a query of its own, as `pg-cursor` has one.
import type { SqlResult, SqlRow, SqlValue } from '../../services/sql/sql.ts'
import { columnValue, parameterValue } from './column-values.ts'
import { codeOf } from './failure.ts'
import type { PostgresClient } from './pool.ts'
import type { PreparedStatements } from './prepared-statements.ts'

/** A statement as the server gets it. */
export interface SentStatement {
  /** With `$1`, `$2` for the values. */
  readonly text: string
  /** The values. */
  readonly values: readonly SqlValue[]
}

/** What the server said to a statement. */
export interface SentResult extends SqlResult {
  /** The command that was executed: `INSERT`, `COMMIT`, `ROLLBACK`. */
  readonly command: string
}

/** How statements are sent. */
export interface SendOptions {
  /** How long the answer may take, in milliseconds. */
  readonly timeoutMs: number
  /** Gives statements names. Undefined: each is sent as text. */
  readonly prepared?: PreparedStatements | undefined
}

/** Runs statements one after the other on a connection, in one round trip if the connection can. None may be empty. */
export async function sendTogether(
  client: PostgresClient,
  statements: readonly SentStatement[],
  options: SendOptions,
): Promise<SentResult[]> {
  if (canSendTogether(client)) return await sendAll(client, statements, options)
  const results: SentResult[] = []
  for (const statement of statements) results.push(await sendOne(client, statement, options))
  return results
}

/** The part of a connection of `pg` that sends messages of the protocol. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  parse(message: { name?: string; text: string }): void
  bind(message: { statement?: string; values: readonly (string | Buffer | null)[] }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string }): void
  close(message: { type: 'S'; name: string }): void
  sync(): void
}

/** False for clients of `pg-native`, and for those that send queries without waiting for the one before. */
export function canSendTogether(client: PostgresClient): boolean {
  const { connection, pipeline } = client as { connection?: Partial<Connection>; pipeline?: boolean }
  return connection?.parse !== undefined && connection.bind !== undefined && connection.close !== undefined && !pipeline
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

function sendAll(
  client: PostgresClient,
  statements: readonly SentStatement[],
  { timeoutMs, prepared }: SendOptions,
): Promise<SentResult[]> {
  return new Promise((resolve, reject) => {
    const results: SentResult[] = []
    const named: string[] = []
    let fields: readonly Field[] = []
    let rows: SqlRow[] = []
    const query = {
      query_timeout: timeoutMs,
      callback: (error: unknown, sent?: SentResult[]): void => {
        if (error) {
          prepared?.read(codeOf(error))
          reject(error)
          return
        }
        if (named.length > 0) prepared?.remember(client, named)
        resolve(sent ?? results)
      },
      submit: (connection: Connection): void => {
        connection.stream.cork()
        try {
          for (const statement of statements) {
            const { text, values } = statement
            const name = prepared?.nameOf(statement) ?? ''
            if (name === '') connection.parse({ text })
            else if (!prepared?.isKnown(client, name) && !named.includes(name)) {
              connection.close({ type: 'S', name }) // no error without such a statement
              connection.parse({ name, text })
              named.push(name)
            }
            connection.bind({ statement: name, values: values.map(parameterValue) })
            connection.describe({ type: 'P', name: '' })
            connection.execute({ portal: '' })
          }
          connection.sync()
        } finally {
          connection.stream.uncork()
        }
      },
      handleRowDescription: (message: { readonly fields: readonly Field[] }): void => {
        fields = message.fields
      },
      handleDataRow: (message: { readonly fields: readonly (string | null)[] }): void => {
        rows.push(toRow(fields, message.fields))
      },
      handleCommandComplete: ({ text }: { readonly text: string }): void => {
        results.push({ rows, changes: changesOf(text), command: commandOf(text) })
        rows = []
      },
      handleError: (error: unknown): void => query.callback(error),
      handleReadyForQuery: (): void => query.callback(undefined, results),
      handleEmptyQuery: (): void => {},
      handlePortalSuspended: (): void => {},
      handleCopyInResponse: (): void => {},
      handleCopyData: (): void => {},
    }
    client.query(query)
  })
}

async function sendOne(
  client: PostgresClient,
  { text, values }: SentStatement,
  { timeoutMs }: SendOptions,
): Promise<SentResult> {
  const result = await client.query({
    text,
    values: values.map(parameterValue),
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
    query_timeout: timeoutMs,
  })
  const { rows, fields, rowCount, command } = result as ArrayResult
  return { rows: rows.map((row) => toRow(fields, row)), changes: rowCount ?? 0, command }
}

/** A result of `pg` with rows as arrays. */
interface ArrayResult {
  readonly rows: readonly (readonly (string | null)[])[]
  readonly fields: readonly Field[]
  readonly rowCount: number | null
  readonly command: string
}

function toRow(fields: readonly Field[], values: readonly (string | null)[]): SqlRow {
  const row: { [column: string]: unknown } = {}
  for (const [index, { name, dataTypeID }] of fields.entries()) row[name] = columnValue(values[index], dataTypeID)
  return row
}

/** The number at the end of `INSERT 0 3`. */
const changesOf = (text: string): number => Number(/\d+$/.exec(text)?.[0] ?? 0)

const commandOf = (text: string): string => text.split(' ', 1)[0] ?? ''
