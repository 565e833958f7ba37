import type { MiddlewareHandler } from 'hono'
import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { askForToken, opensPage, tokenInForm } from './ask-for-token.ts'
import { clientAddress } from './client-address.ts'
import { type Attempt, FailedAuthentications } from './failed-authentications.ts'
import { isLinkFromOutside, loadAgain } from './load-again.ts'
import type { Principal } from './principal.ts'
import { developerOf, exchangeToken, tokenInAddress } from './server-token.ts'

/** Sets the principal of each request, or refuses it with 401. Failures are counted, logged and throttled by address. */
export function authentication({ options, limits, logger, metrics }: ServerParts): MiddlewareHandler<ServerEnv> {
  const { authenticate, token } = options
  const failures = new FailedAuthentications(limits.failedAuthenticationsPerMinute)
  const findPrincipal = async (context: RequestContext, form?: string): Promise<Principal | Response | undefined> => {
    if (authenticate) return checkPrincipal(await authenticate(context.req.raw))
    const given = form ?? tokenInAddress(context)
    const exchanged = given === undefined ? undefined : exchangeToken(context, { given, token: token ?? '' }, options)
    return exchanged ?? developerOf(context, token ?? '', options)
  }
  const refuse = (context: RequestContext, attempt: Attempt): Response => {
    const request = context.req.raw
    if (token !== undefined && isLinkFromOutside(request)) {
      attempt.abandon()
      return loadAgain() // the browser has not sent its cookie yet
    }
    metrics.countFailedAuthentication()
    const limited = attempt.fail()
    const address = clientAddress(context, options) ?? 'unknown'
    if (!limited) logger.warn(`Authentication failed: address ${address}, request ${context.get('correlationId')}.`)
    if (token !== undefined && opensPage(request)) return askForToken(request)
    if (limited) throw limited
    const advice = token === undefined ? '' : ' A browser opens /?token=<token> once.'
    throw new ToolwrightError('UNAUTHENTICATED', `Send a valid token as \`Authorization: Bearer <token>\`.${advice}`)
  }
  return async (context, next) => {
    // what a custom `authenticate` reads besides is not known: such requests wait with the others of their address
    const credential = context.req.header('authorization') ?? (authenticate ? undefined : context.req.header('cookie'))
    // before the attempt: others of this address wait for its end, but not for a client that sends its form slowly
    const form = authenticate || context.req.path !== '/' ? undefined : await tokenInForm(context.req.raw)
    const attempt = await failures.start(clientAddress(context, options), credential)
    const found = await findPrincipal(context, form).catch((error) => {
      attempt.abandon()
      throw error
    })
    if (!found) return refuse(context, attempt)
    if (found instanceof Response) {
      attempt.abandon() // the token in the address was valid, and the headers may be those of an earlier start
      return found
    }
    attempt.succeed()
    context.set('principal', found)
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

/** Throws FORBIDDEN unless the principal may act as any user. `what` completes "may". */
export function checkAnyUser(context: RequestContext, what: string): void {
  if (context.get('principal').mayActAsAnyUser === true) return
  throw new ToolwrightError('FORBIDDEN', `Only a principal that may act as any user may ${what}.`)
}

/** What `authenticate` returns is code of the developer: a mistake there must not let anyone in. */
function checkPrincipal(found: unknown): Principal | undefined {
  if (found === undefined || found === null || found === false) return undefined
  if (isRecord(found) && typeof found.userId === 'string' && found.userId !== '')
    return { userId: found.userId, mayActAsAnyUser: found.mayActAsAnyUser === true }
  throw new ToolwrightError('INVALID_CONFIG', 'authenticate() must return { userId } or undefined.')
}
