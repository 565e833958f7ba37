import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** The largest file that is read from the cache. */
const MAX_BYTES = 8_000_000

/** The folder for what is cached under a name: in the nearest node_modules above a file. Undefined if there is none. */
export function findCacheFolder(file: string, name: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    if (statSync(modules, { throwIfNoEntry: false })?.isDirectory()) return join(modules, '.cache', 'toolwright', name)
    if (folder === dirname(folder)) return undefined
  }
}

/** Reads a cached file. Undefined if there is none, or if another user could have written it. */
export function readCached(folder: string, name: string): string | undefined {
  let descriptor: number | undefined
  try {
    if (!isOwnFolder(folder)) return undefined
    descriptor = openSync(join(folder, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const stats = fstatSync(descriptor)
    return stats.isFile() && isOwn(stats) && stats.size <= MAX_BYTES ? readFileSync(descriptor, 'utf8') : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Writes a cached file, if the folder is the user's own. A cache that cannot be written is no error: results are computed again. */
export function writeCached(folder: string, name: string, text: string): void {
  try {
    if (makeOwnFolder(folder)) replaceFile(join(folder, name), text)
  } catch {
    // a full disk, a folder without write access
  }
}

/** Makes a folder for the user alone. False if another user could have written into it. Throws if it cannot be made. */
export function makeOwnFolder(folder: string): boolean {
  mkdirSync(dirname(folder), { recursive: true }) // other programs use node_modules/.cache, too
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  return isOwnFolder(folder)
}

/** Writes a file so that a reader sees the old one or the new one, never half of it. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.${Date.now()}`
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Whether a folder belongs to the user, is no link, and only the user can write to it. */
function isOwnFolder(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && isOwn(stats)
}

function isOwn({ uid, mode }: Stats): boolean {
  // Windows has neither user ids nor these bits: there, node_modules has the rights of the user's folder.
  if (process.getuid === undefined) return true
  return uid === process.getuid() && (mode & 0o022) === 0
}
