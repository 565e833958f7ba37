// The rule which files the plugins and the Node hooks transform.
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** Matches the id of a module that may be a source file. Bundlers use it to skip other files without calling the plugin. */
export const SOURCE_ID: RegExp = /\.(?:tsx?|mts|jsx?|mjs)(?:\?|$)/

/** Declarations have no code. */
const DECLARATION = /\.d\.[mc]?ts$/

const SOURCE_FILE = /\.(?:tsx?|mts|jsx?|mjs)$/

/** Queries of vite whose module is not the code of the file but its text, its address or a worker. */
const OTHER_CONTENT = /[?&](?:raw|url|inline|worker|sharedworker)(?:[=&]|$)/

const IN_NODE_MODULES = /[\\/]node_modules[\\/]/

/**
 * The absolute path of the source file behind the id of a module. Undefined for files that are not transformed: virtual modules,
 * other kinds of files, CommonJS and installed packages.
 */
export function sourceFileOf(id: string): string | undefined {
  if (id.includes('\0') || !SOURCE_ID.test(id) || OTHER_CONTENT.test(id)) return undefined
  // checked again below: a query can end like a source file, as in App.vue?vue&lang.ts
  const [path = ''] = id.split('?', 1)
  return sourceFileAt(path)
}

/** The source file at a path, which may have any character in its name. Undefined for files that are not transformed. */
export function sourceFileAt(path: string): string | undefined {
  if (!SOURCE_FILE.test(path) || DECLARATION.test(path) || !isAbsolute(path)) return undefined
  return IN_NODE_MODULES.test(path) ? linkedFile(path) : path
}

/** The real path of a file of a workspace package, which node_modules links to. Undefined for an installed package. */
function linkedFile(file: string): string | undefined {
  try {
    const real = realpathSync.native(file)
    return IN_NODE_MODULES.test(real) ? undefined : real
  } catch {
    return undefined // in an archive, or not a file
  }
}
