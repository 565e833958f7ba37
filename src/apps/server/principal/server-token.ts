// The token of a server without `authenticate`. A program sends it as a bearer token. A browser gets it with the printed address,
// and exchanges it for a cookie that neither scripts nor pages of other sites can use.
import { createHash, timingSafeEqual } from 'node:crypto'
import { getCookie, setCookie } from 'hono/cookie'
import type { RequestContext } from '../env.ts'
import { hostOf } from '../guard/host-check.ts'
import { bearerOf } from './bearer.ts'
import { isSecure, type ProxyTrust } from './client-address.ts'
import type { Principal } from './principal.ts'

/** Who has the token: the developer, who may act as any user. */
const DEVELOPER: Principal = { userId: 'user', mayActAsAnyUser: true }

/** The developer, if the request has the token as a bearer token or as a cookie. */
export function developerOf(context: RequestContext, token: string, trust: ProxyTrust): Principal | undefined {
  const given = bearerOf(context.req.raw) ?? getCookie(context, cookieName(context, trust))
  return isEqual(given, token) ? DEVELOPER : undefined
}

/** The token in the printed address of the page; undefined if the request opens another one. */
export function tokenInAddress({ req }: RequestContext): string | undefined {
  return req.method === 'GET' && req.path === '/' ? req.query('token') : undefined
}

/** Exchanges the token for a cookie; undefined if it is not the one that was given. */
export function exchangeToken(
  context: RequestContext,
  { given, token }: { readonly given: string | undefined; readonly token: string },
  trust: ProxyTrust,
): Response | undefined {
  const { req } = context
  if (!isEqual(given, token)) return undefined
  setCookie(context, cookieName(context, trust), token, {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    secure: isSecure(context, trust),
  })
  const query = new URL(req.url).searchParams
  query.delete('token')
  return context.redirect(query.size > 0 ? `/?${query}` : '/', 303)
}

/** Cookies are shared by all ports of a machine: each server there has a name of its own. */
function cookieName(context: RequestContext, trust: ProxyTrust): string {
  if (isSecure(context, trust)) return '__Host-toolwright-token'
  const port = /:(\d+)$/.exec(hostOf(context.req.raw))?.[1] ?? '80'
  return `toolwright-token-${port}`
}

/** Compares in constant time. */
function isEqual(given: string | undefined, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return given !== undefined && timingSafeEqual(digest(given), digest(expected))
}
