// Changes of folders that are whole or not there: a folder is written under another name and renamed, and renamed before it is removed.
// A rename never replaces a folder that is not empty, so that two processes cannot write the same version.
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { systemPorts } from '../../core/base/ports.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { codeOf, linkedFolder } from './file-error.ts'
import { syncFolder, writeFolder } from './version-files.ts'

/** Holds what is being written or removed. No segment of an id has this name. */
const TEMPORARY = '.tmp'
/** A folder that is being written. After this time its process has died. */
const NEW = 'new-'
const NEW_FOR_MS = 3_600_000
/** A folder that is being removed. */
const OLD = 'old-'

/** How often a save tries again, when other saves take its version. */
const MAX_ATTEMPTS = 1_000

/** The real path of a folder inside of `root`. Undefined if there is none; throws STORAGE if it leads somewhere else. */
export async function findFolder(root: string, path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    if (real === path) return path
    throw linkedFolder(path, relative(root, real) === '' ? root : real)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The numbers of the folders in a folder, in ascending order. */
export async function numbersIn(folder: string): Promise<number[]> {
  return (await namesIn(folder))
    .filter((name) => /^(?:0|[1-9]\d{0,14})$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
}

/** The names of the folders in a folder; none if there is no folder. Links are no folders. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, { withFileTypes: true })
    return found.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Writes a new folder with the next number into `folder`. Returns the number. */
export async function addNumbered(
  root: string,
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): Promise<number> {
  const written = join(await temporaryFolder(root), NEW + systemPorts.newId())
  try {
    await writeFolder(written, files)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const created = await mkdir(folder, { recursive: true, mode: 0o700 })
      await findFolder(root, folder)
      const number = ((await numbersIn(folder)).at(-1) ?? -1) + 1
      if (!(await tryRename(written, join(folder, String(number))))) continue
      await syncParents(folder, created === undefined ? folder : dirname(created))
      return number
    }
  } catch (error) {
    await rm(written, { recursive: true, force: true }).catch(() => {}) // the error of the save says more
    throw error
  }
  await rm(written, { recursive: true, force: true })
  throw new ToolwrightError('STORAGE', `Others have written to "${folder}" all the time. Try again; nothing was saved.`)
}

/** Removes a folder with all that is in it: first from its place, at once, then from the disk. */
export async function removeFolder(root: string, folder: string): Promise<void> {
  const parent = await findFolder(root, dirname(folder))
  if (parent === undefined) return
  const removed = join(await temporaryFolder(root), OLD + systemPorts.newId())
  try {
    await rename(folder, removed)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  await syncFolder(parent)
  await rm(removed, { recursive: true, force: true })
}

/** Removes what processes that died have left: half written versions, and folders that they had begun to remove. */
export async function removeLeftovers(root: string): Promise<void> {
  const folder = await temporaryFolder(root)
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    if (name.startsWith(OLD) || (name.startsWith(NEW) && (await ageOf(path)) > NEW_FOR_MS))
      await rm(path, { recursive: true, force: true })
  }
}

async function temporaryFolder(root: string): Promise<string> {
  const folder = join(root, TEMPORARY)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await findFolder(root, folder)
  return folder
}

/** The time since a folder was changed, by the clock that its disk uses. */
async function ageOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined) // another process has removed it
  return found ? systemPorts.now() - found.mtimeMs : 0
}

/** Returns false if another save has the number, or the folder was removed meanwhile. */
async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return false
    // Windows, for a folder that exists
    if ((code === 'EPERM' || code === 'EACCES') && (await stat(to).catch(() => undefined))) return false
    throw error
  }
}

/** Waits until a folder and the new ones around it are on the disk. */
async function syncParents(folder: string, last: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    await syncFolder(at)
    if (at === last || !at.includes(sep)) return
  }
}
