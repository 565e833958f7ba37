import type { MiddlewareHandler } from 'hono'
import { clip } from '../../../core/base/limits.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'

/** Refuses a request whose `Host`, or the host in its URL, is not one of the server. */
export function hostCheck({ hosts }: ServerParts): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    // a request line with a whole URL names a second host; several `Host` headers are joined, and no name of the server
    const named = new Set([hostOfUrl(context.req.url), hostOf(context.req.raw)])
    for (const host of named) {
      if (hosts.has(host)) continue
      throw new ToolwrightError(
        'FORBIDDEN',
        `This server is not reached as "${clip(host, 100)}". Its operator can add the name to \`allowedHosts\`.`,
      )
    }
    await next()
  }
}

/** The host that a request names. */
export function hostOf(request: Request): string {
  return (request.headers.get('host') ?? hostOfUrl(request.url)).toLowerCase()
}

function hostOfUrl(url: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? ''
}
