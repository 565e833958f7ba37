import { realpathSync, type Stats, statSync } from 'node:fs'
import { ToolwrightError } from '../../core/error/error.ts'

const OPTIONS = { throwIfNoEntry: false } as const

/**
 * Detects that the open database file was deleted, replaced or emptied. SQLite does not notice this and continues to
 * write to the old file, which no other process can open. The inode number identifies the file: the system does not
 * reuse the number while the file is open.
 */
export class FileIdentity {
  readonly #file: string
  readonly #wal: string
  readonly #opened: Stats | undefined
  readonly #openedWal: Stats | undefined

  constructor(file: string) {
    this.#file = file
    this.#opened = statOf(file)
    this.#wal = `${this.#opened ? realpathSync(file) : file}-wal` // SQLite creates the log next to the target of a symbolic link
    this.#openedWal = statOf(this.#wal)
  }

  /**
   * Throws when the database file was deleted, replaced or emptied. Must be fast (below 2 us), because it runs before
   * every write.
   */
  checkFile(): void {
    const now = statOf(this.#file)
    if (!now || !isSame(now, this.#opened)) throw this.#replacedError(now)
    if (now.size === 0)
      throw new ToolwrightError('STORAGE', `The database "${this.#file}" was emptied while it was open. ${ADVICE}`)
  }

  /** Checks the database file and the write-ahead log, which holds the latest commits. */
  checkAll(): void {
    this.checkFile()
    if (this.#openedWal && !isSame(statOf(this.#wal), this.#openedWal)) {
      throw new ToolwrightError(
        'STORAGE',
        `The write-ahead log "${this.#wal}" was deleted or replaced while the database was open. ${ADVICE}`,
      )
    }
  }

  #replacedError(now: Stats | undefined): ToolwrightError {
    const what = now ? 'replaced' : 'deleted or moved'
    return new ToolwrightError('STORAGE', `The database "${this.#file}" was ${what} while it was open. ${ADVICE}`)
  }
}

const ADVICE = 'Further writes are refused. Restore the file, then restart the process.'

function isSame(now: Stats | undefined, opened: Stats | undefined): boolean {
  return now !== undefined && opened !== undefined && now.ino === opened.ino && now.dev === opened.dev
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, OPTIONS)
  } catch (error) {
    throw new ToolwrightError(
      'STORAGE',
      `The database "${file}" is not accessible. Check the permissions of its folder.`,
      {
        cause: error,
      },
    )
  }
}
