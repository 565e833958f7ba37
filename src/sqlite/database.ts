import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { storageError } from './storage-error.ts'

/** An open file: transactions, statements, and errors that say what to do. */
export class Database {
  readonly #connection: DatabaseSync
  readonly #file: string
  readonly #beginRead: StatementSync
  readonly #beginWrite: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  #isOpen = true

  constructor(connection: DatabaseSync, file: string) {
    this.#connection = connection
    this.#file = file
    this.#beginRead = connection.prepare('BEGIN')
    // The lock is taken at once: what is read inside stays true until the commit, for other processes too.
    this.#beginWrite = connection.prepare('BEGIN IMMEDIATE')
    this.#commit = connection.prepare('COMMIT')
    this.#rollback = connection.prepare('ROLLBACK')
  }

  /** A statement to keep; values are bound to each `?` (Node 22 binds none to `?1`), never written into it. */
  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql)
  }

  /** All that is read inside is of one moment. */
  read<T>(work: () => T): T {
    return this.#transact(this.#beginRead, work)
  }

  /** All that is written inside is kept, or none of it. */
  write<T>(work: () => T): T {
    return this.#transact(this.#beginWrite, work)
  }

  /** One statement: a transaction by itself. */
  once<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storageError(error, this.#file)
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#connection.close()
  }

  #transact<T>(begin: StatementSync, work: () => T): T {
    this.once(() => begin.run())
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#undo()
      throw storageError(error, this.#file)
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
