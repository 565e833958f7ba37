// Credentials that the developer sends in the headers of the option `headers`.
import type { JsonObject } from '../../../core/base/json.ts'

/** A header, or a cookie, that satisfies one security scheme. */
export interface HeaderNeed {
  /** The name of the header, in lower case. */
  readonly header: string
  /** The name of the cookie, for the header `cookie`. */
  readonly cookie?: string
}

/** The header that satisfies a security scheme; undefined if no header can. */
export function headerNeedOf(scheme: JsonObject | undefined): HeaderNeed | undefined {
  if (!scheme) return undefined
  const { type, in: place, name } = scheme
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect') return { header: 'authorization' }
  if (type !== 'apiKey' || typeof name !== 'string') return undefined
  if (place === 'header') return { header: name.toLowerCase() }
  return place === 'cookie' ? { header: 'cookie', cookie: name } : undefined
}

/** Do the headers satisfy one of the alternatives? */
export function satisfies(headers: Headers, alternatives: readonly (readonly HeaderNeed[])[]): boolean {
  return alternatives.some((needs) => needs.every((need) => isMet(need, headers)))
}

function isMet({ header, cookie }: HeaderNeed, headers: Headers): boolean {
  // not `get`: the name of a key may be no name of a header
  const value = [...headers].find(([name]) => name === header)?.[1] ?? ''
  if (cookie === undefined) return value !== ''
  return value.split(';').some((pair) => pair.trim().startsWith(`${cookie}=`))
}
