import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { systemPorts } from '../base/ports.ts'
import { FileWatch } from './file-watch.ts'
import { closedError, isBusy, openError, storageError } from './storage-error.ts'

/** Pauses between two tries to get the write lock grow up to this, plus or minus a half. */
const MAX_PAUSE_MS = 25

/** Work that waits for another process to give the lock back. */
interface Waiter {
  attempt(): unknown
  resolve(result: unknown): void
  reject(error: unknown): void
  /** When `busyTimeoutMs` is over. */
  readonly until: number
  /** Is it worth waiting longer? */
  readonly mayWaitLonger: (() => boolean) | undefined
}

/**
 * An open file: transactions, statements, and errors that say what to do. A transaction is synchronous from its BEGIN to
 * its COMMIT. Waiting for another process is not: the file is tried again from a timer, so the event loop stays free.
 */
export class Database {
  readonly #connection: DatabaseSync
  readonly #file: string
  readonly #busyTimeoutMs: number
  readonly #watch: FileWatch | undefined
  readonly #beginRead: StatementSync
  readonly #beginWrite: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  /** In the order they came: a write never overtakes one that waits. */
  readonly #waiting: Waiter[] = []
  #timer: (() => void) | undefined
  #tries = 0
  #isOpen = true

  constructor(connection: DatabaseSync, file: string, options: { busyTimeoutMs: number; isInMemory: boolean }) {
    this.#connection = connection
    this.#file = file
    this.#busyTimeoutMs = options.busyTimeoutMs
    this.#watch = options.isInMemory ? undefined : new FileWatch(file)
    this.#beginRead = connection.prepare('BEGIN')
    // The lock is taken at once: what is read inside stays true until the commit, for other processes too.
    this.#beginWrite = connection.prepare('BEGIN IMMEDIATE')
    this.#commit = connection.prepare('COMMIT')
    this.#rollback = connection.prepare('ROLLBACK')
  }

  /** A statement to keep; values are bound to each `?` (Node 22 binds none to `?1`), never written into it. */
  prepare(sql: string): StatementSync {
    try {
      return this.#connection.prepare(sql)
    } catch (error) {
      throw openError(error, this.#file)
    }
  }

  /** All that is read inside is of one moment. `work` may be called more than once. */
  read<T>(work: () => T): Promise<T> {
    return this.#run(() => this.#transact(this.#beginRead, work), false)
  }

  /**
   * All that is written inside is kept, or none of it. `work` may be called more than once. While another process writes,
   * it waits for `busyTimeoutMs`, and after that for as long as `mayWaitLonger` says so.
   */
  write<T>(work: () => T, mayWaitLonger?: () => boolean): Promise<T> {
    return this.#run(
      () => {
        this.#watch?.checkFile()
        return this.#transact(this.#beginWrite, work)
      },
      true,
      mayWaitLonger,
    )
  }

  /** One statement that reads, now: readers do not wait for the writer. */
  look<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storageError(error, this.#file)
    }
  }

  /** Throws when the file, or the write-ahead log beside it, is not the one that was opened. */
  checkFiles(): void {
    this.#watch?.checkAll()
  }

  /** What waits for the lock fails and is not written. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#timer?.()
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
      const until = systemPorts.monotonicNow() + this.#busyTimeoutMs
      this.#waiting.push({ attempt, resolve, reject, until, mayWaitLonger })
      this.#tryLater()
    }) as Promise<T>
  }

  /** One timer for all. It keeps the process alive: a result that waits to be written must not be lost by an early exit. */
  #tryLater(): void {
    const pause = Math.min(2 ** this.#tries++, MAX_PAUSE_MS) * (0.5 + systemPorts.random())
    this.#timer ??= systemPorts.setTimer(this.#tryAgain, pause)
  }

  readonly #tryAgain = (): void => {
    this.#timer = undefined
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      try {
        const result = first.attempt()
        this.#waiting.shift()
        this.#tries = 0
        first.resolve(result)
      } catch (error) {
        if (isBusy(error)) {
          this.#rejectLate(error)
          if (this.#waiting.length) this.#tryLater()
          return
        }
        this.#waiting.shift()
        first.reject(storageError(error, this.#file))
      }
    }
    this.#tries = 0
  }

  #rejectLate(error: unknown): void {
    const now = systemPorts.monotonicNow()
    for (const waiter of this.#waiting.splice(0)) {
      if (now < waiter.until || isTrue(waiter.mayWaitLonger)) this.#waiting.push(waiter)
      else waiter.reject(storageError(error, this.#file))
    }
  }

  #transact<T>(begin: StatementSync, work: () => T): T {
    begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#undo()
      throw error
    }
  }

  #undo(): void {
    try {
      this.#rollback.run()
    } catch {
      // a full disk or a broken one has undone it already
    }
  }
}

function isTrue(ask: (() => boolean) | undefined): boolean {
  try {
    return ask?.() ?? false
  } catch {
    return false // what cannot be read is not worth waiting for
  }
}
