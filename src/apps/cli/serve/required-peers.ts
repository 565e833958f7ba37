import { findPackageJSON } from 'node:module'
import { ToolwrightError } from '../../../core/error/error.ts'

/** The optional packages that the HTTP server needs. */
export const SERVER_PEERS: readonly string[] = ['hono', '@hono/node-server', 'ws']

/** Throws `MISSING_PEER` with one command that installs all packages which are missing. */
export function requirePeers(what: string, names: readonly string[]): void {
  const missing = missingPeers(names)
  if (missing.length === 0) return
  throw new ToolwrightError('MISSING_PEER', `${what} needs ${missing.join(', ')}. Run: npm i ${missing.join(' ')}`)
}

/** The packages that this package cannot import. */
export function missingPeers(names: readonly string[]): string[] {
  return names.filter((name) => !isInstalled(name))
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined
  } catch {
    return false
  }
}
