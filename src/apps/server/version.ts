import { createRequire } from 'node:module'

/** The version of the package; `unknown` in a bundle without its `package.json`. */
export const VERSION: string = readVersion()

function readVersion(): string {
  try {
    return createRequire(import.meta.url)('toolwright/package.json').version
  } catch {
    return 'unknown'
  }
}
