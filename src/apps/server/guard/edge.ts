import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { ServerEnv, ServerParts } from '../env.ts'
import { errorResponse } from '../errors/error-response.ts'
import { escapeLabel } from '../health/samples.ts'

/** The headers of every response. A response of the API is data: a browser that opens it runs and loads nothing. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cache-control', 'no-store'],
])

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])

/** The first step of a request: names it, measures it, and completes the headers of its response. */
export function edge(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    const start = performance.now()
    const correlationId = crypto.randomUUID()
    context.set('correlationId', correlationId)
    try {
      await next()
    } catch (thrown) {
      context.res = errorResponse(thrown, context, parts) // Hono handles errors, but no other thrown values
    }
    const { headers, status } = context.res
    headers.set('x-correlation-id', correlationId)
    for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
    const method = METHODS.has(context.req.method) ? context.req.method : 'OTHER'
    const labels = `method="${method}",route="${escapeLabel(routePath(context))}",status="${status}"`
    parts.metrics.requests.record((performance.now() - start) / 1000, labels)
  }
}
