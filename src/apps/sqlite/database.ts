import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { systemPorts } from '../../core/base/ports.ts'
import {
  command,
  type Dialect,
  type SqlDatabase,
  type SqlResult,
  type SqlRow,
  type SqlStep,
  type SqlValue,
  type SqlWork,
  type Statement,
} from '../../services/sql/sql.ts'
import { UserTurns } from '../../services/sql/user-turns.ts'
import { FileIdentity } from './file-identity.ts'
import { closedError, isBusy, openError, storageError } from './storage-error.ts'

/** Options of an open file. */
interface DatabaseOptions {
  /** How long a transaction waits for the write lock. */
  readonly busyTimeoutMs: number
  /** Whether the database is in the memory of the process. */
  readonly isInMemory: boolean
  /** Milliseconds on the clock that all processes of the machine share. */
  readonly monotonicNow: () => number
}

/** Upper limit of the delay between two attempts to get the write lock, before jitter of plus or minus 50 %. */
const MAX_RETRY_DELAY_MS = 25

const NO_ROWS: readonly SqlRow[] = []

const DIALECT: Dialect = {
  forUpdate: '',
  leaseTime: '?',
  // One counter per file, so that a lease on a deleted session is invalid for a new session with the same key.
  nextEpoch: "(SELECT value FROM toolwright_meta WHERE name = 'epoch') + 1",
  saveEpoch: command("UPDATE toolwright_meta SET value = ? WHERE name = 'epoch'"),
}

/** A transaction that waits for another process to release the lock. */
interface WaitingTransaction {
  attempt(): unknown
  resolve(result: unknown): void
  reject(error: unknown): void
  /** End of `busyTimeoutMs`, on the monotonic clock. */
  readonly deadline: number
  /** Called after the deadline. True keeps the transaction waiting. */
  readonly mayWaitLonger: (() => boolean) | undefined
}

/**
 * An open SQLite file. Runs transactions and turns SQLite errors into `ToolwrightError`s. A transaction is synchronous
 * from BEGIN to COMMIT. Waiting for another process is not: a timer retries, so the event loop stays free.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly dialect: Dialect = DIALECT
  readonly turns: UserTurns = new UserTurns()
  readonly #connection: DatabaseSync
  readonly #file: string
  readonly #busyTimeoutMs: number
  readonly #identity: FileIdentity | undefined
  readonly #beginRead: StatementSync
  readonly #beginWrite: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  /** In order of arrival: a write never overtakes a waiting write. */
  readonly #waiting: WaitingTransaction[] = []
  readonly #prepared: Map<Statement, StatementSync> = new Map()
  readonly #monotonicNow: () => number
  #cancelRetry: (() => void) | undefined
  #retryCount = 0
  #isOpen = true

  constructor(connection: DatabaseSync, file: string, options: DatabaseOptions) {
    this.#connection = connection
    this.#file = file
    this.#busyTimeoutMs = options.busyTimeoutMs
    this.#monotonicNow = options.monotonicNow
    this.#identity = options.isInMemory ? undefined : new FileIdentity(file)
    this.#beginRead = connection.prepare('BEGIN')
    // Takes the write lock first, so that no other process can change the rows read in the transaction before its commit.
    this.#beginWrite = connection.prepare('BEGIN IMMEDIATE')
    this.#commit = connection.prepare('COMMIT')
    this.#rollback = connection.prepare('ROLLBACK')
  }

  /** The absolute path of the file, or `:memory:`. */
  get file(): string {
    return this.#file
  }

  /** Prepares a statement. Use `?` for values: Node 22 cannot bind `?1`. */
  prepare(sql: string): StatementSync {
    try {
      return this.#connection.prepare(sql)
    } catch (error) {
      throw openError(error, this.#file)
    }
  }

  /** The time that leases are measured with. */
  leaseTime(): number {
    return this.#monotonicNow()
  }

  /** Runs `work` in a read transaction, which sees one snapshot. `work` may be called more than once. */
  read<T>(work: () => SqlWork<T>): Promise<T> {
    return this.#run(() => this.#runTransaction(this.#beginRead, work), false)
  }

  /** Runs one statement that only reads. */
  readOne(statement: Statement, ...values: SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#run(() => this.#perform({ statement, values }).rows, false)
  }

  /**
   * Runs `work` in a write transaction. `work` may be called more than once. While another process holds the write lock,
   * the transaction waits for `busyTimeoutMs`, and after that for as long as `mayWaitLonger` returns true.
   */
  write<T>(work: () => SqlWork<T>, mayWaitLonger?: () => SqlWork<boolean>): Promise<T> {
    return this.#run(
      () => {
        this.#identity?.checkFile()
        return this.#runTransaction(this.#beginWrite, work)
      },
      true,
      mayWaitLonger && (() => this.#runSteps(mayWaitLonger)),
    )
  }

  /** Runs work that only reads synchronously. Readers never wait for the writer. */
  readNow<T>(work: () => SqlWork<T>): T {
    try {
      return this.#runSteps(work)
    } catch (error) {
      throw storageError(error, this.#file)
    }
  }

  /** Throws when the file or its write-ahead log was replaced since it was opened. */
  checkIdentity(): void {
    this.#identity?.checkAll()
  }

  /** Closes the file and rejects the transactions that wait for the lock. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#cancelRetry?.()
    for (const { reject } of this.#waiting.splice(0)) reject(closedError(this.#file))
    this.#connection.close()
  }

  #run<T>(attempt: () => T, isWrite: boolean, mayWaitLonger?: () => boolean): Promise<T> {
    if (!isWrite || this.#waiting.length === 0) {
      try {
        return Promise.resolve(attempt())
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(storageError(error, this.#file))
      }
    }
    return new Promise<unknown>((resolve, reject) => {
      const deadline = systemPorts.monotonicNow() + this.#busyTimeoutMs
      this.#waiting.push({ attempt, resolve, reject, deadline, mayWaitLonger })
      this.#scheduleRetry()
    }) as Promise<T>
  }

  /** Schedules one retry for all waiting transactions. The timer keeps the process alive, so that no write is lost. */
  #scheduleRetry(): void {
    const pause = Math.min(2 ** this.#retryCount++, MAX_RETRY_DELAY_MS) * (0.5 + systemPorts.random())
    this.#cancelRetry ??= systemPorts.setTimer(this.#retry, pause)
  }

  readonly #retry = (): void => {
    this.#cancelRetry = undefined
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      try {
        const result = first.attempt()
        this.#waiting.shift()
        this.#retryCount = 0
        first.resolve(result)
      } catch (error) {
        if (isBusy(error)) {
          this.#rejectExpired(error)
          if (this.#waiting.length) this.#scheduleRetry()
          return
        }
        this.#waiting.shift()
        first.reject(storageError(error, this.#file))
      }
    }
    this.#retryCount = 0
  }

  #rejectExpired(error: unknown): void {
    const now = systemPorts.monotonicNow()
    for (const waiter of this.#waiting.splice(0)) {
      if (now < waiter.deadline || isStillWorthWaiting(waiter.mayWaitLonger)) this.#waiting.push(waiter)
      else waiter.reject(storageError(error, this.#file))
    }
  }

  #runTransaction<T>(begin: StatementSync, work: () => SqlWork<T>): T {
    begin.run()
    try {
      const result = this.#runSteps(work)
      this.#commit.run()
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #runSteps<T>(work: () => SqlWork<T>): T {
    const steps = work()
    let next = steps.next()
    while (!next.done) next = steps.next(this.#perform(next.value))
    return next.value
  }

  #perform({ statement, values }: SqlStep): SqlResult {
    let prepared = this.#prepared.get(statement)
    if (!prepared) {
      prepared = this.#connection.prepare(statement.sql)
      this.#prepared.set(statement, prepared)
    }
    if (statement.returns === 'rows') return { rows: prepared.all(...(values as SQLInputValue[])), changes: 0 }
    return { rows: NO_ROWS, changes: Number(prepared.run(...(values as SQLInputValue[])).changes) }
  }

  #rollBack(): void {
    try {
      this.#rollback.run()
    } catch {
      // SQLite has rolled back already, e.g. on a full disk
    }
  }
}

function isStillWorthWaiting(ask: (() => boolean) | undefined): boolean {
  try {
    return ask?.() ?? false
  } catch {
    return false // the lease cannot be read
  }
}
