import type { ResolveHost } from './target-guard.ts'

/** The resolver of Node. Undefined on other runtimes, which have no function for it. */
export function systemResolve(): ResolveHost | undefined {
  if (typeof process === 'undefined' || process.versions?.node === undefined) return undefined
  return async (hostname) => {
    const { lookup } = process.getBuiltinModule('node:dns/promises') // not imported, for bundlers of other runtimes
    return (await lookup(hostname, { all: true })).map(({ address }) => address)
  }
}
