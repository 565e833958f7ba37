import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { IncludedFolder } from '../project/find-project.ts'
import { hashOf } from './hash.ts'

/** The hash of the names of all declaration files in the folders of a project. A new one may declare global types. */
export function declarationNames(included: readonly IncludedFolder[], ignored: readonly string[]): string {
  const names: string[] = []
  const open = included.map(({ path, isRecursive }) => ({ path, isRecursive }))
  for (let folder = open.pop(); folder; folder = open.pop()) {
    for (const entry of entriesOf(folder.path)) {
      const path = join(folder.path, entry.name)
      if (/\.d\.[cm]?ts$/.test(entry.name)) names.push(path)
      else if (folder.isRecursive && isIncluded(entry) && !ignored.includes(path))
        open.push({ path, isRecursive: true })
    }
  }
  return hashOf(names.sort().join('\n'))
}

/** Whether the compiler includes the files of a folder without being told. */
function isIncluded(entry: Dirent): boolean {
  return entry.isDirectory() && !/^(?:\.|(?:node_modules|bower_components|jspm_packages)$)/.test(entry.name)
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // it does not exist yet
  }
}
