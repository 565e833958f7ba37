// A folder on the host, for code that runs without isolation.
import { constants, readFileSync, readlinkSync } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, mkdtemp, open, opendir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputFiles } from '../files/output-files.ts'

/** The program is in `run`, works in `work`, and may write to `temp` what nobody will look at. */
type Part = 'run' | 'work' | 'temp'

/** More entries of the working folder are not looked at. */
const MAX_ENTRIES = 100_000

export class TempFolder {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  static async make(): Promise<TempFolder> {
    const folder = new TempFolder(await mkdtemp(join(tmpdir(), `${PREFIX}${machine()}-${process.pid}-${startTime()}-`)))
    for (const part of ['run', 'work', 'temp'] as const) await mkdir(folder.path(part))
    return folder
  }

  path(part: Part): string {
    return join(this.#root, part)
  }

  async put(part: Part, name: string, bytes: Uint8Array): Promise<void> {
    await writeFile(join(this.path(part), name), bytes)
  }

  /** Takes regular files only: a link is not followed, a pipe or device never opened, a file with a second name not read. */
  async collect(files: OutputFiles): Promise<void> {
    const work = this.path('work')
    const folder = (await isFolder(work)) ? await opendir(work).catch(() => undefined) : undefined
    if (!folder) return // the code removed it, locked it, or put a link in its place
    let entries = 0
    for await (const entry of folder) {
      if (++entries > MAX_ENTRIES) return
      if (entry.isFile()) await take(join(work, entry.name), entry.name, files)
    }
  }

  remove(): Promise<void> {
    return removeFolder(this.#root)
  }
}

async function take(path: string, name: string, files: OutputFiles): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => undefined)
  if (!file) {
    files.leave(name) // it is gone, or not to be read
    return
  }
  try {
    await read(file, name, files)
  } finally {
    await file.close()
  }
}

async function read(file: FileHandle, name: string, files: OutputFiles): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile() || stats.nlink > 1 || stats.size > files.room) {
    files.leave(name)
    return
  }
  const bytes = Buffer.alloc(stats.size)
  const { bytesRead } = await file.read(bytes, 0, stats.size, 0)
  files.add(name, bytes.subarray(0, bytesRead))
}

const PREFIX = 'toolwright-code-'

/** The parts of a folder's name: machine and process namespace, process id, start time of the process, randomness. */
const NAME = /^toolwright-code-([0-9a-f]+)-(\d+)-(\d+)-\w{6}$/

/**
 * Removes the folders of processes that were killed. A folder counts as theirs when its name says so, it is a real folder
 * of this user that no other user can open, and the process that made it is gone. A folder that was made in another process
 * namespace or before the machine started is left: whether its process is alive cannot be seen from here.
 */
export async function removeAbandonedFolders(): Promise<void> {
  if (process.getuid === undefined) return // no owner to compare with
  const parent = tmpdir()
  const here = await opendir(parent).catch(() => undefined)
  if (!here) return
  for await (const { name } of here) {
    const [, madeOn, pid, start] = NAME.exec(name) ?? []
    if (madeOn !== machine() || isAlive(Number(pid), String(start))) continue
    const path = join(parent, name)
    if (await isPrivateFolder(path, process.getuid())) await removeFolder(path).catch(() => {})
  }
}

async function isPrivateFolder(path: string, owner: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return (stats?.isDirectory() && stats.uid === owner && (stats.mode & 0o077) === 0) ?? false
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false
}

/** Never follows a link. What code made unreadable is made readable first, and its files with it. */
async function removeFolder(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await unlock(path)
    await remove()
  })
}

async function unlock(folder: string): Promise<void> {
  if (!(await isFolder(folder))) return
  await chmod(folder, 0o700)
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) await unlock(join(folder, entry.name))
  }
}

function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
  }
  const now = startTime(pid)
  return now === UNKNOWN || start === UNKNOWN || now === start
}

const UNKNOWN = '0'

/** When a process started, in ticks since the machine did: its number may be given to another process. */
function startTime(pid: number = process.pid): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? UNKNOWN // the name before it may hold anything
  } catch {
    return UNKNOWN // no Linux, or it is gone
  }
}

/** Where a process id means the same process: this start of this machine, this process namespace. */
function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll(/[^0-9a-f]/g, '')
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
    return boot.slice(0, 12) + Number(namespace).toString(16)
  } catch {
    return UNKNOWN // no Linux: there is one namespace, and a process id is all there is
  }
}
