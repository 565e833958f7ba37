// What this machine has: programs, paths, limits. Looked at, never changed.
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

export const isLinux: boolean = process.platform === 'linux'
export const isRoot: boolean = process.getuid?.() === 0

/** The program a word means, as a shell would find it. */
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

/** Where a path leads, every link followed; undefined when it leads nowhere. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** What a link says, when the path is one. */
export function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Is it the same folder, or in it? `/allowed_evil` is not in `/allowed`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * The folder a program was installed in with its libraries: `/opt/python/3.13` of `/opt/python/3.13/bin/python3`, and
 * the program alone when it is in no `bin`.
 */
export function installedIn(program: string): string {
  const folder = dirname(program)
  return folder.endsWith(`${sep}bin`) ? dirname(folder) : program
}

/** Does it hold what is nobody's business: all files, the user's own, the project's? */
export function isPersonal(path: string): boolean {
  return [homedir(), process.cwd()].some((mine) => isWithin(realPath(mine) ?? mine, path))
}

/** The hard limits of this process; a child cannot have more. */
export function hardLimits(): ReadonlyMap<string, number> {
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

/** Files and folders in a folder of /proc that every user can read. Processes and links to them are left out. */
export function procEntries(
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
    return [] // not there on this machine
  }
}

/** How many files a file system holds. */
export function filesIn(path: string): number {
  try {
    const { files, ffree } = statfsSync(path)
    return files - ffree
  } catch {
    return 0 // it is gone, or not there yet
  }
}

/** This process's own environment, for programs that are asked about themselves. */
export function environment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
