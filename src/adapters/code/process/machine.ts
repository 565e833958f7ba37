// What this machine has: programs, paths, limits, mounted files. Everything here reads and changes nothing.
import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path'

/** Whether this process runs on Linux. */
export const isLinux: boolean = process.platform === 'linux'
/** Whether this process runs as root. */
export const isRoot: boolean = process.getuid?.() === 0

/** Finds a program by name as a shell does, or by its path. */
export function findProgram(name: string, path: string = process.env.PATH ?? ''): string | undefined {
  if (name.includes(sep)) return isExecutable(resolve(name)) ? resolve(name) : undefined
  const folders = [...path.split(delimiter).filter(isAbsolute), '/usr/sbin', '/usr/bin', '/sbin', '/bin']
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The path with every symbolic link followed; undefined when it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** The target of a symbolic link; undefined when the path is not one. */
export function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Whether a path is the folder or inside it. `/allowed_evil` is not inside `/allowed`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * The folder a program was installed in with its libraries: `/opt/python/3.13` for `/opt/python/3.13/bin/python3`. The
 * program itself when it is not in a `bin` folder.
 */
export function installFolderOf(program: string): string {
  const folder = dirname(program)
  return folder.endsWith(`${sep}bin`) ? dirname(folder) : program
}

/** Whether a path contains the user's home folder or the working directory, whose files a sandbox must not show. */
export function holdsPersonalFiles(path: string): boolean {
  return [homedir(), process.cwd()].some((folder) => isWithin(realPath(folder) ?? folder, path))
}

/** The hard resource limits of this process by name, such as `Max open files`. A child process cannot exceed them. */
export function readHardLimits(): ReadonlyMap<string, number> {
  try {
    const lines = readFileSync('/proc/self/limits', 'utf8').split('\n')
    return new Map(
      lines.flatMap((line) => {
        const [, name = '', hard = ''] = /^(Max .+?) {2,}\S+ +(\d+) /.exec(line) ?? []
        return hard === '' ? [] : [[name, Number(hard)] as const]
      }),
    )
  } catch {
    return new Map()
  }
}

/** Files and folders in a folder of /proc that every user can read, without processes and links. */
export function listProcEntries(
  folder: string,
): { readonly name: string; readonly path: string; readonly isFolder: boolean }[] {
  return namesIn(folder).flatMap((name) => {
    const path = `${folder}/${name}`
    const stats = /^\d+$/.test(name) ? undefined : lstatSync(path, { throwIfNoEntry: false })
    if (!stats || stats.isSymbolicLink() || (stats.mode & 0o004) === 0) return []
    return [{ name, path, isFolder: stats.isDirectory() }]
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // does not exist on this machine
  }
}

/** The number of files on the file system that holds a path; 0 when the path does not exist. */
export function countFiles(path: string): number {
  try {
    const { files, ffree } = statfsSync(path)
    return files - ffree
  } catch {
    return 0 // the process has ended or has not started
  }
}

/** The environment of this process. Only for trusted programs such as `docker`, never for code of a model. */
export function hostEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
