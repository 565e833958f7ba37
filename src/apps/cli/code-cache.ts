import { enableCompileCache } from 'node:module'
import { findCacheFolder, makeOwnFolder } from '../infer/cache/cache-folder.ts'

/**
 * Keeps the code that V8 compiles of this package, of the agent file and of what it imports, for the next command: two thirds of an import
 * is compiling. V8 runs what it finds there, so that the folder must be the user's own, not a shared one such as Node's default.
 */
export function keepCompiledCode(bin: string): void {
  const folder = findCacheFolder(bin, 'code')
  try {
    if (folder !== undefined && makeOwnFolder(folder)) enableCompileCache(folder)
  } catch {
    // no write access: the command only starts slower
  }
}
