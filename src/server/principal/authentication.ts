import type { MiddlewareHandler } from 'hono'
import { isRecord } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { askForToken, opensPage } from './ask-for-token.ts'
import { isLinkFromOutside, loadAgain } from './load-again.ts'
import type { Principal } from './principal.ts'
import { developerOf, exchangeToken } from './server-token.ts'

/** Sets the principal of each request, or refuses it with 401. */
export function authentication({ options }: ServerParts): MiddlewareHandler<ServerEnv> {
  const { authenticate, token } = options
  return async (context, next) => {
    if (token !== undefined) {
      const response = exchangeToken(context, token)
      if (response) return response
    }
    const principal = authenticate
      ? checkPrincipal(await authenticate(context.req.raw))
      : developerOf(context, token ?? '')
    if (!principal) {
      if (token !== undefined && isLinkFromOutside(context.req.raw)) return loadAgain()
      if (token !== undefined && opensPage(context.req.raw)) return askForToken()
      const advice = token === undefined ? '' : ' A browser opens /?token=<token> once.'
      throw new ToolwrightError('UNAUTHENTICATED', `Send a valid token as \`Authorization: Bearer <token>\`.${advice}`)
    }
    context.set('principal', principal)
    await next()
    return undefined
  }
}

/** The user of a path or a body. Throws FORBIDDEN if the principal may not act as this user. */
export function actingUser(context: RequestContext, userId: string): string {
  const principal = context.get('principal')
  if (principal.mayActAsAnyUser === true || principal.userId === userId) return userId
  throw new ToolwrightError('FORBIDDEN', 'You may not act as this user.')
}

/** What `authenticate` returns is code of the developer: a mistake there must not let anyone in. */
function checkPrincipal(found: unknown): Principal | undefined {
  if (found === undefined || found === null || found === false) return undefined
  if (isRecord(found) && typeof found.userId === 'string' && found.userId !== '')
    return { userId: found.userId, mayActAsAnyUser: found.mayActAsAnyUser === true }
  throw new ToolwrightError('INVALID_CONFIG', 'authenticate() must return { userId } or undefined.')
}
