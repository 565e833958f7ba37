// A database that answers later, as one on a server does: it waits for each statement of a rule, and holders read copies of the
// state. It stands on a SQLite file, so that rules can be tested without a server.

import { SqlSessionService } from '../../services/sql/session-service.ts'
import type {
  Dialect,
  SqlDatabase,
  SqlResult,
  SqlRow,
  SqlStep,
  SqlValue,
  SqlWork,
  Statement,
} from '../../services/sql/sql.ts'
import { UserTurns } from '../../services/sql/user-turns.ts'
import { openDatabase } from './open-database.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

type SqliteFile = ReturnType<typeof openDatabase>

/** One process that uses the database. */
export class DelayedDatabase implements SqlDatabase {
  readonly dialect: Dialect
  readonly turns: UserTurns = new UserTurns()
  /** The statements so far. */
  readonly statements: string[] = []
  readonly #file: SqliteFile
  readonly #prepared: Map<string, ReturnType<SqliteFile['prepare']>> = new Map()
  readonly #monotonicNow: () => number
  readonly #queue: { last: Promise<unknown> }

  constructor(file: SqliteFile, monotonicNow: () => number, queue: { last: Promise<unknown> }) {
    this.dialect = file.dialect
    this.#file = file
    this.#monotonicNow = monotonicNow
    this.#queue = queue
  }

  leaseTime(): number {
    return this.#monotonicNow()
  }

  read<T>(work: () => SqlWork<T>): Promise<T> {
    return this.#inTurn('BEGIN', work)
  }

  async readOne(statement: Statement, ...values: SqlValue[]): Promise<readonly SqlRow[]> {
    await undefined
    return this.#perform({ statement, values }).rows
  }

  write<T>(work: () => SqlWork<T>): Promise<T> {
    return this.#inTurn('BEGIN IMMEDIATE', work)
  }

  /** Runs transactions one after another: they share the connection. */
  #inTurn<T>(begin: string, work: () => SqlWork<T>): Promise<T> {
    const done = this.#queue.last.then(() => this.#run(begin, work))
    this.#queue.last = done.catch(() => undefined)
    return done
  }

  async #run<T>(begin: string, work: () => SqlWork<T>): Promise<T> {
    this.#file.prepare(begin).run()
    try {
      const steps = work()
      let next = steps.next()
      while (!next.done) {
        await undefined
        next = steps.next(this.#perform(next.value))
      }
      this.#file.prepare('COMMIT').run()
      return next.value
    } catch (error) {
      this.#file.prepare('ROLLBACK').run()
      throw error
    }
  }

  #perform({ statement, values }: SqlStep): SqlResult {
    this.statements.push(statement.sql)
    const prepared = this.#prepared.get(statement.sql) ?? this.#file.prepare(statement.sql)
    this.#prepared.set(statement.sql, prepared)
    if (statement.returns === 'rows') return { rows: prepared.all(...values), changes: 0 }
    return { rows: [], changes: Number(prepared.run(...values).changes) }
  }
}

/** The clocks of a database. */
interface Clocks {
  readonly now: () => number
  readonly monotonicNow: () => number
}

const STOPPED: Clocks = { now: () => 0, monotonicNow: () => 0 }

/** An empty database. Each call of `process` is another process that uses it. */
export function delayedDatabase({ now, monotonicNow }: Clocks = STOPPED): {
  process(): { database: DelayedDatabase; sessionService: SqlSessionService }
  close(): void
} {
  const file = openDatabase(temporaryFile(), { synchronous: 'normal', busyTimeoutMs: 0 })
  file
    .prepare(
      `CREATE TABLE toolwright_state_versions (
         app TEXT NOT NULL, user TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (app, user)) STRICT`,
    )
    .run()
  file.prepare("INSERT INTO toolwright_meta (name, value) VALUES ('state_floor', 0)").run()
  const queue = { last: Promise.resolve() }
  let ids = 0
  const options = { now, newId: () => `id${++ids}`, leaseMs: 15_000, cacheBytes: 1_000_000, logger: console }
  const process = (): { database: DelayedDatabase; sessionService: SqlSessionService } => {
    const database = new DelayedDatabase(file, monotonicNow, queue)
    return { database, sessionService: new SqlSessionService(database, options) }
  }
  return { process, close: () => file.close() }
}
