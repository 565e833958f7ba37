// The folder `.toolwright`, which only its owner may use: state may hold secrets.
import { chmodSync, mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRecord } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'

/** The user of this process; undefined on Windows, which has no modes. */
type UserId = number | undefined

/** Creates the folder of a database, which Git ignores. A folder and a database that exist become private. */
export function createStoreFolder(db: string, user: UserId = process.getuid?.()): void {
  const folder = dirname(db)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    makePrivate(folder, 0o700, user)
    for (const file of [db, `${db}-wal`, `${db}-shm`]) makePrivate(file, 0o600, user)
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if (isRecord(error) && error.code === 'EEXIST' && error.syscall === 'open') return // the file is there
    const message = `Sessions cannot be stored in "${folder}": ${messageOf(error)}. Pass --db <file>, or --memory to store none.`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
}

/** Takes the rights of others. Throws if another user has given them. */
function makePrivate(path: string, mode: number, user: UserId): void {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  if (user === undefined || !found) return
  if (found.uid === user) {
    if ((found.mode & 0o077) !== 0) chmodSync(path, mode)
  } else if ((found.mode & 0o022) !== 0) {
    const shown = (found.mode & 0o777).toString(8)
    throw new Error(`"${path}" belongs to another user, and others can write it (mode ${shown})`)
  }
}
