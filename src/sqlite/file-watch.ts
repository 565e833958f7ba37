import { realpathSync, type Stats, statSync } from 'node:fs'
import { ToolwrightError } from '../error/error.ts'

const OPTIONS = { throwIfNoEntry: false } as const

/**
 * Notices that a file was deleted, replaced or emptied while it is open: SQLite would go on writing to the old one, which
 * nobody can open any more. An open file keeps its inode number, so another file never has the same.
 */
export class FileWatch {
  readonly #file: string
  readonly #log: string
  readonly #opened: Stats | undefined
  readonly #openedLog: Stats | undefined

  constructor(file: string) {
    this.#file = file
    this.#opened = statOf(file)
    this.#log = `${this.#opened ? realpathSync(file) : file}-wal` // SQLite puts it beside the target of a symbolic link
    this.#openedLog = statOf(this.#log)
  }

  /** Costs less than 2 us: called before every write. */
  checkFile(): void {
    const now = statOf(this.#file)
    if (!now || !isSame(now, this.#opened)) throw this.#gone(now)
    if (now.size === 0)
      throw new ToolwrightError('STORAGE', `The database "${this.#file}" was emptied while it was open. ${WHAT_TO_DO}`)
  }

  /** The write-ahead log too, which holds the latest commits. */
  checkAll(): void {
    this.checkFile()
    if (this.#openedLog && !isSame(statOf(this.#log), this.#openedLog)) {
      throw new ToolwrightError(
        'STORAGE',
        `The write-ahead log "${this.#log}" was deleted or replaced while the database was open. ${WHAT_TO_DO}`,
      )
    }
  }

  #gone(now: Stats | undefined): ToolwrightError {
    const what = now ? 'replaced' : 'deleted or moved'
    return new ToolwrightError('STORAGE', `The database "${this.#file}" was ${what} while it was open. ${WHAT_TO_DO}`)
  }
}

const WHAT_TO_DO = 'Nothing more is written to it. Put the file back, then restart the process.'

function isSame(now: Stats | undefined, opened: Stats | undefined): boolean {
  return now !== undefined && opened !== undefined && now.ino === opened.ino && now.dev === opened.dev
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, OPTIONS)
  } catch (error) {
    throw new ToolwrightError(
      'STORAGE',
      `The database "${file}" cannot be reached. Check the permissions of its folder.`,
      {
        cause: error,
      },
    )
  }
}
