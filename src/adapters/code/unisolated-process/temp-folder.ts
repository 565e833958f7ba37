// The temporary folder of one run, for code that runs without isolation.
import { constants, readFileSync, readlinkSync } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, mkdtemp, open, opendir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputFiles } from '../files/output-files.ts'

/** `run` holds the program, `work` is its working directory, `temp` is its TMPDIR. */
type Subfolder = 'run' | 'work' | 'temp'

/** The most entries of the working directory that are read. */
const MAX_ENTRIES = 100_000

/** The folder of one run, with its subfolders. */
export class TempFolder {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** Creates a folder whose name identifies this process, so that another process can tell whether it is abandoned. */
  static async create(): Promise<TempFolder> {
    const folder = new TempFolder(
      await mkdtemp(join(tmpdir(), `${PREFIX}${machineId()}-${process.pid}-${startTime()}-`)),
    )
    for (const subfolder of ['run', 'work', 'temp'] as const) await mkdir(folder.path(subfolder))
    return folder
  }

  /** The path of a subfolder. */
  path(subfolder: Subfolder): string {
    return join(this.#root, subfolder)
  }

  /** Writes a file into a subfolder. */
  async write(subfolder: Subfolder, name: string, bytes: Uint8Array): Promise<void> {
    await writeFile(join(this.path(subfolder), name), bytes)
  }

  /**
   * Reads the regular files of the working directory. Threat: code makes the host read a file outside the folder, or wait
   * for a pipe. Step: links are not followed, pipes and devices are not opened, and a file with a second hard link is
   * skipped. Test: unisolated-local-process.test.ts.
   */
  async collectFiles(files: OutputFiles): Promise<void> {
    const work = this.path('work')
    const folder = (await isFolder(work)) ? await opendir(work).catch(() => undefined) : undefined
    if (!folder) return // the code removed the folder, locked it, or replaced it with a link
    let entries = 0
    for await (const entry of folder) {
      if (++entries > MAX_ENTRIES) return
      if (entry.isFile()) await readEntry(join(work, entry.name), entry.name, files)
    }
  }

  /** Removes the folder with everything in it. */
  remove(): Promise<void> {
    return removeFolder(this.#root)
  }
}

async function readEntry(path: string, name: string, files: OutputFiles): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => undefined)
  if (!file) {
    files.skip(name) // the file is gone or not readable
    return
  }
  try {
    await readRegularFile(file, name, files)
  } finally {
    await file.close()
  }
}

async function readRegularFile(file: FileHandle, name: string, files: OutputFiles): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile() || stats.nlink > 1 || stats.size > files.remainingBytes) {
    files.skip(name)
    return
  }
  const bytes = Buffer.alloc(stats.size)
  const { bytesRead } = await file.read(bytes, 0, stats.size, 0)
  files.add(name, bytes.subarray(0, bytesRead))
}

const PREFIX = 'toolwright-code-'

/** A folder name: machine and process namespace, process id, start time of the process, random characters. */
const FOLDER_NAME = /^toolwright-code-([0-9a-f]+)-(\d+)-(\d+)-\w{6}$/

/**
 * Removes the folders that killed processes left behind. A folder is removed only if its name has the right form, it is a
 * real folder of this user that no other user can open, and the process that created it has ended. A folder from another
 * process namespace or from before the last reboot stays: this process cannot tell whether its owner is alive.
 */
export async function removeAbandonedFolders(): Promise<void> {
  if (process.getuid === undefined) return // Windows: there is no owner to compare with
  const parent = tmpdir()
  const entries = await opendir(parent).catch(() => undefined)
  if (!entries) return
  for await (const { name } of entries) {
    const [, createdOn, pid, start] = FOLDER_NAME.exec(name) ?? []
    if (createdOn !== machineId() || isAlive(Number(pid), String(start))) continue
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

/** Removes a folder without following links. Folders the code made unreadable are made accessible first. */
async function removeFolder(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await makeAccessible(path)
    await remove()
  })
}

async function makeAccessible(folder: string): Promise<void> {
  if (!(await isFolder(folder))) return
  await chmod(folder, 0o700)
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) await makeAccessible(join(folder, entry.name))
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

/** When a process started, in ticks since boot. Needed because the kernel reuses process ids. */
function startTime(pid: number = process.pid): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? UNKNOWN // the program name before it may contain spaces and parentheses
  } catch {
    return UNKNOWN // not Linux, or the process has ended
  }
}

/** Identifies the boot and the process namespace, within which a process id means one process. */
function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll(/[^0-9a-f]/g, '')
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
    return boot.slice(0, 12) + Number(namespace).toString(16)
  } catch {
    return UNKNOWN // not Linux: there is one namespace
  }
}
