// Keeps pages of other sites away. A browser says where a request comes from: in `Origin`, or in `Sec-Fetch-Site` if it sends no
// origin. Programs send neither; they need a credential that a browser would not add by itself.
import type { MiddlewareHandler } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { readAllowedOrigins } from './allowed-origins.ts'
import { hostOf } from './host-check.ts'

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, last-event-id',
  'access-control-max-age': '600',
}

/** Refuses requests from pages of other origins, and writes the CORS headers for those of `allowedOrigins`. */
export function originCheck({ options }: ServerParts): MiddlewareHandler<ServerEnv> {
  const allowed = readAllowedOrigins(options.allowedOrigins)
  return async (context, next) => {
    const request = context.req.raw
    const origin = request.headers.get('origin')
    if (origin === null) {
      if (comesFromAnotherSite(request)) throw forbidden('A page of another site sent this request.')
      await next()
    } else if (isOwnOrigin(origin, request)) {
      await next()
    } else {
      if (!allowed.has(origin))
        throw forbidden('Pages of this origin may not call the server. Its operator can add it to `allowedOrigins`.')
      const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
      if (isPreflight) context.res = new Response(null, { status: 204, headers: PREFLIGHT })
      else await next()
      context.res.headers.set('access-control-allow-origin', origin)
      context.res.headers.set('access-control-expose-headers', 'x-correlation-id, x-next-cursor, retry-after')
    }
    if (allowed.size > 0) context.res.headers.append('vary', 'origin')
  }
}

/** The host of the request is one of the server: an earlier step has checked it. */
function isOwnOrigin(origin: string, request: Request): boolean {
  const host = hostOf(request)
  return origin === `http://${host}` || origin === `https://${host}` // https: a proxy in front of the server
}

/** A link to the page may be anywhere. Other ports of this machine are the same site, but not the same origin. */
function comesFromAnotherSite({ method, headers }: Request): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const isRead = method === 'GET' || method === 'HEAD'
  const isLink = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return !(isRead && isLink)
}

function forbidden(message: string): ToolwrightError {
  return new ToolwrightError('FORBIDDEN', message)
}
