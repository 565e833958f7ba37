import type { Dialect, SqlDatabase, SqlRow, SqlValue, SqlWork, Statement } from '../../services/sql/sql.ts'
import { UserTurns } from '../../services/sql/user-turns.ts'
import { commitOutcome, readUptime } from './commit-outcome.ts'
import { channelOf, Listening, type OpenListener } from './listening.ts'
import { migrate } from './migrate.ts'
import { Patience } from './patience.ts'
import type { Connections } from './pool.ts'
import { closedError, storageError, unknownOutcome } from './storage-error.ts'
import { Transactions, type Written } from './transaction.ts'
import type { TransactionSettings } from './transaction-start.ts'

/** Options of `PostgresDatabase`. */
interface DatabaseOptions extends TransactionSettings {
  /** The connections. */
  readonly connections: Connections
  /** Names the database in errors, without the password. */
  readonly place: string
  /** The clock of leases; undefined for the clock of the server. */
  readonly now: (() => number) | undefined
  /** Makes a connection for LISTEN. Undefined if there is none: changes are looked for each second. */
  readonly openListener?: OpenListener | undefined
  /** Receives a warning if messages do not arrive. */
  readonly logger?: { warn(message: string): void } | undefined
  /** Whether the tables must be there: none are created. Default: false. */
  readonly mustExist?: boolean | undefined
  /** How long a transaction is repeated while the server is away. */
  readonly awayMs?: number | undefined
}

/** The clock of the server, unless a value is given. It also advances within a transaction that waits for a lock. */
const SERVER_TIME = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision)'

/** A Postgres database. Repeats transactions while that can help, and turns errors into `ToolwrightError`s. */
export class PostgresDatabase implements SqlDatabase {
  /** How Postgres writes what differs. */
  readonly dialect: Dialect
  /** The turns of users with work that blocks the event loop. */
  readonly turns: UserTurns = new UserTurns()
  readonly #options: DatabaseOptions
  readonly #transactions: Transactions
  readonly #closing: AbortController = new AbortController()
  readonly #active: Set<Promise<unknown>> = new Set()
  readonly #listening: Set<Listening> = new Set()
  /** Identifies the time since the last crash of the server. Undefined before the tables are known to be there. */
  #uptime: Promise<string> | undefined

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.dialect = {
      forUpdate: ' FOR UPDATE',
      leaseTime: `coalesce(CAST(? AS double precision), ${SERVER_TIME})`,
      nextEpoch: "nextval('toolwright_epochs')",
      notify: `pg_notify('${channelOf(options.schema)}', CAST(? AS text))`,
    }
    this.#transactions = new Transactions(options.connections, options)
  }

  /** The value of `dialect.leaseTime`. */
  leaseTime(): number | null {
    return this.#options.now?.() ?? null
  }

  /** Calls the listener with messages of other processes. Without LISTEN, it is called each second. */
  watch(listener: (message?: string) => void): () => void {
    const { schema, openListener, logger, place } = this.#options
    const channel = channelOf(schema)
    const notify = (message: string): Promise<unknown> =>
      this.#transactions.withConnection((send) =>
        send([{ text: 'SELECT pg_notify($1, $2)', values: [channel, message] }]),
      )
    const listening = new Listening({ channel, open: openListener, notify, listener, logger, place })
    this.#listening.add(listening)
    return () => {
      this.#listening.delete(listening)
      listening.stop()
    }
  }

  /** Connects, and creates or migrates the tables. Everything else does it, too, unless it is done. */
  async ready(): Promise<void> {
    await this.#repeat(() => this.#prepare())
  }

  /** Runs work in a transaction that sees one snapshot. */
  read<T>(work: () => SqlWork<T>): Promise<T> {
    return this.#repeat(async () => {
      await this.#prepare()
      return await this.#transactions.read(work)
    })
  }

  /** Runs one statement that reads. */
  readOne(statement: Statement, ...values: SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#repeat(async () => {
      await this.#prepare()
      return await this.#transactions.readOne({ statement, values })
    })
  }

  /**
   * Runs work in a transaction that writes. It is repeated after conflicts, and while the server is away: for some seconds, and
   * after that for as long as `mayWaitLonger` returns true. Such work is of a holder, and finds out by itself what it has stored.
   */
  write<T>(work: () => SqlWork<T>, mayWaitLonger?: () => SqlWork<boolean>): Promise<T> {
    const mayWait = mayWaitLonger && ((): Promise<boolean> => this.#transactions.read(mayWaitLonger))
    return this.#repeat(async () => {
      const uptime = await this.#prepare()
      const { result, lost } = await this.#transactions.write(work)
      if (lost) await this.#throwUnlessStored({ ...lost, uptime }, mayWait)
      return result
    }, mayWait)
  }

  /** Ends what waits for the server, waits for the transactions under way, and ends the connections. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const listening of this.#listening) listening.stop()
    await Promise.allSettled(this.#active)
    await this.#options.connections.close()
  }

  /** Makes attempts until one succeeds, or another one cannot help. */
  async #repeat<T>(attempt: () => Promise<T>, mayWaitLonger?: () => Promise<boolean>): Promise<T> {
    const { place, awayMs } = this.#options
    const { signal } = this.#closing
    let patience: Patience | undefined
    for (;;) {
      if (signal.aborted) throw closedError(place)
      try {
        return await this.#untilSettled(attempt())
      } catch (error) {
        patience ??= new Patience({ signal, awayMs, mayWaitLonger })
        await patience.waitAfter(error).catch((final: unknown) => {
          throw signal.aborted ? closedError(place) : storageError(final, place)
        })
      }
    }
  }

  async #untilSettled<T>(active: Promise<T>): Promise<T> {
    this.#active.add(active)
    try {
      return await active
    } finally {
      this.#active.delete(active)
    }
  }

  /** Creates or migrates the tables, unless it is done. */
  #prepare(): Promise<string> {
    this.#uptime ??= this.#transactions
      .withConnection(async (send) => {
        await migrate(send, this.#options)
        return await readUptime(send, this.#options.schema)
      })
      .catch((error: unknown) => {
        this.#uptime = undefined // the next use tries again
        throw error
      })
    return this.#uptime
  }

  /** Throws the error of a lost commit, unless the server has committed. */
  async #throwUnlessStored(
    lost: NonNullable<Written<unknown>['lost']> & { readonly uptime: string },
    mayWaitLonger?: () => Promise<boolean>,
  ): Promise<void> {
    const { statementTimeoutMs, schema, place } = this.#options
    // the old connection may hold the transaction open for as long as the server lets it idle
    const options = { schema, maxMs: 2 * statementTimeoutMs }
    const ask = (): Promise<string> => this.#transactions.withConnection((send) => commitOutcome(send, lost, options))
    const outcome = await this.#repeat(ask, mayWaitLonger).catch((cause: unknown) => {
      throw unknownOutcome(place, cause)
    })
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw lost.error
    this.#uptime = undefined // the server has crashed
    throw mayWaitLonger ? lost.error : unknownOutcome(place, lost.error)
  }
}
