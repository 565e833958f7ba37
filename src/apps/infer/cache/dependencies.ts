// What a cached result depends on, besides the text of its file. Checking it needs no compiler.
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { IncludedFolder } from '../project/find-project.ts'
import { declarationNames } from './declaration-names.ts'
import { hashOf } from './hash.ts'

/** A file, and the hash of its content. */
export type FileHash = readonly [path: string, hash: string]

/** What a result depends on. */
export interface Dependencies {
  /** The files whose types it reads, the settings of the project, and the packages, by their package.json. */
  readonly files: readonly FileHash[]
  /** The paths where the compiler looked in vain. A file there would be read instead of another one. */
  readonly absent: readonly string[]
  /** The folders whose declaration files every file of the project sees. */
  readonly included: readonly IncludedFolder[]
  /** The folders in them that hold the output of the project. */
  readonly ignored: readonly string[]
  /** The hash of the names of the declaration files in the included folders. */
  readonly declarations: string
}

/** Creates a check whether results are up to date. Folders are listed once: the compiler, too, reads the settings of a project once. */
export function createCurrentCheck(): (dependencies: Dependencies) => boolean {
  const listed = new Map<string, string>()
  return ({ files, absent, included, ignored, declarations }) => {
    if (absent.some((path) => existsSync(path))) return false
    if (files.some(([path, expected]) => hashFile(path) !== expected)) return false
    const key = JSON.stringify([included, ignored])
    const names = listed.get(key) ?? declarationNames(included, ignored)
    listed.set(key, names)
    return names === declarations
  }
}

const hashes = new Map<string, { readonly version: string; readonly hash: string }>()

/** The hash of a file. Empty if it does not exist. Files that many results depend on are read once. */
export function hashFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) return ''
  const version = `${stats.mtimeMs}/${stats.size}/${stats.ino}`
  const known = hashes.get(path)
  if (known?.version === version) return known.hash
  const hash = hashOf(readFileSync(path, 'utf8'))
  hashes.set(path, { version, hash })
  return hash
}
