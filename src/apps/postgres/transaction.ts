// Transactions on the connections of a pool. Each uses one connection and leaves nothing behind in it.
import { ToolwrightError } from '../../core/error/error.ts'
import type { SqlRow, SqlStep, SqlWork } from '../../services/sql/sql.ts'
import { failureOf } from './failure.ts'
import type { Connections, PostgresClient } from './pool.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { canSendTogether, type SentResult, type SentStatement, sendTogether } from './send-together.ts'
import { textOf } from './statement-text.ts'
import {
  COMMIT,
  ROLLBACK,
  type TransactionSettings,
  type TransactionStarts,
  transactionStarts,
} from './transaction-start.ts'

/** Sends statements on one connection, in one round trip. */
export type Send = (statements: readonly SentStatement[]) => Promise<SentResult[]>

/** The work of a transaction that was sent to be committed. */
export interface Written<T> {
  /** What the work returned. */
  readonly result: T
  /** Set if the connection was lost during the commit: the server may have committed. */
  readonly lost?: { readonly id: string; readonly error: unknown }
}

/** More than `statement_timeout`, after which the server answers by itself. */
const EXTRA_MS = 1_000

/** Runs single transactions. Errors are those of `pg`, of the network, and of the work. */
export class Transactions {
  readonly #connections: Connections
  readonly #starts: TransactionStarts
  readonly #timeoutMs: number
  readonly #prepared: PreparedStatements = new PreparedStatements()

  constructor(connections: Connections, settings: TransactionSettings) {
    this.#connections = connections
    this.#starts = transactionStarts(settings)
    this.#timeoutMs = settings.statementTimeoutMs + EXTRA_MS
  }

  /** Runs one statement that reads. It needs no BEGIN: what is sent together is one transaction. */
  readOne(step: SqlStep): Promise<readonly SqlRow[]> {
    const { one, read } = this.#starts
    const sent = toSent(step)
    return this.#use(async (send, client) => {
      const isTogether = canSendTogether(client)
      const results = await send(isTogether ? [...one, sent] : [...read, sent, COMMIT])
      return results[isTogether ? one.length : read.length]?.rows ?? []
    }, {})
  }

  /** Runs work that reads one snapshot. */
  read<T>(work: () => SqlWork<T>): Promise<T> {
    // the result does not wait for the commit: there is nothing to commit
    return this.#use(async (send) => (await run(send, this.#starts.read, work)).result, { last: COMMIT })
  }

  /** Runs work that writes, and commits it. */
  write<T>(work: () => SqlWork<T>): Promise<Written<T>> {
    return this.#use(async (send) => {
      const { result, started } = await run(send, this.#starts.write, work)
      return started ? await commit(send, { result, id: String(started.rows[0]?.transaction) }) : { result }
    }, {})
  }

  /** Uses a connection. It goes back without a transaction. One that is lost, or leads to a server that cannot write, is closed. */
  withConnection<T>(use: (send: Send) => Promise<T>): Promise<T> {
    return this.#use(use, { isText: true })
  }

  /**
   * Uses a connection. `last` is sent before it goes back; the result does not wait for that. `isText`: statements get no names, because
   * what fails is not repeated.
   */
  async #use<T>(
    use: (send: Send, client: PostgresClient) => Promise<T>,
    { last, isText = false }: { readonly last?: SentStatement; readonly isText?: boolean },
  ): Promise<T> {
    const client = await this.#connections.take()
    const options = { timeoutMs: this.#timeoutMs, prepared: isText ? undefined : this.#prepared }
    const send: Send = (statements) => sendTogether(client, statements, options)
    const giveAfter = async (statement: SentStatement): Promise<void> => {
      const error = await send([statement]).then(
        () => undefined,
        (error: unknown) => error,
      )
      this.#connections.give(client, error)
    }
    try {
      const result = await use(send, client)
      if (last) void giveAfter(last)
      else this.#connections.give(client)
      return result
    } catch (error) {
      if (failureOf(error) === 'away') this.#connections.give(client, error)
      else await giveAfter(ROLLBACK)
      throw error
    }
  }
}

interface Ran<T> {
  readonly result: T
  /** What the server said to the settings of the transaction; undefined if the work needed no transaction. */
  readonly started?: SentResult | undefined
}

/** Begins a transaction with the first statement of the work, in one round trip, and runs the other statements. */
async function run<T>(send: Send, start: readonly SentStatement[], work: () => SqlWork<T>): Promise<Ran<T>> {
  const transaction = work()
  let step = transaction.next()
  if (step.done) return { result: step.value }
  const results = await send([...start, toSent(step.value)])
  step = transaction.next(results.at(-1) as SentResult)
  while (!step.done) {
    const [result] = await send([toSent(step.value)])
    step = transaction.next(result as SentResult)
  }
  return { result: step.value, started: results[start.length - 1] }
}

async function commit<T>(send: Send, { result, id }: { readonly result: T; readonly id: string }): Promise<Written<T>> {
  try {
    const [committed] = await send([COMMIT])
    if (committed?.command === 'COMMIT') return { result }
  } catch (error) {
    if (failureOf(error) !== 'away') throw error
    return { result, lost: { id, error } }
  }
  throw new ToolwrightError('STORAGE', 'Postgres rolled a transaction back instead of committing it. Try again.')
}

function toSent({ statement, values }: SqlStep): SentStatement {
  return { text: textOf(statement), values }
}
