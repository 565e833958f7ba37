// What the paths of requests name: an app, a user, a session.
import { ToolwrightError } from '../../error/error.ts'
import type { Runner } from '../../runner/runner.ts'
import type { Session, SessionKey } from '../../session/service.ts'
import type { ServedApp } from '../apps.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { actingUser } from '../principal/authentication.ts'

/** The paths of the sessions of a user. */
export const SESSIONS = '/apps/:app/users/:user/sessions'
/** The path of one session. */
export const SESSION: string = `${SESSIONS}/:session`

/** The app and the user of a request. */
export interface UserScope {
  /** The app. */
  readonly app: ServedApp
  /** The name of the app. */
  readonly appName: string
  /** The user that the principal acts as. */
  readonly userId: string
}

/** A session that a request names. It may not exist. */
export interface SessionScope extends UserScope {
  /** The session. */
  readonly sessionId: string
  /** The key of the session. */
  readonly key: SessionKey
  /** Runs the session: the runner of the app, or of its tool bench. */
  readonly runner: Runner
}

/** The app of the path. Throws `NOT_FOUND`. */
export function appOf(context: RequestContext, { apps }: ServerParts): ServedApp {
  return apps.get(context.req.param('app') ?? '')
}

/** The app and the user of the path. Throws `FORBIDDEN` if the principal may not act as the user. */
export function userScope(context: RequestContext, parts: ServerParts): UserScope {
  const userId = actingUser(context, context.req.param('user') ?? '')
  const app = appOf(context, parts)
  return { app, appName: app.name, userId }
}

/** The session of the path. */
export function sessionScope(context: RequestContext, parts: ServerParts): SessionScope {
  return inSession(userScope(context, parts), context.req.param('session') ?? '')
}

/** A session of a user. */
export function inSession(scope: UserScope, sessionId: string): SessionScope {
  const { app, appName, userId } = scope
  const key = { appName, userId, sessionId }
  return { app, appName, userId, sessionId, key, runner: app.bench?.runnerOf(sessionId) ?? app.runner }
}

/** The stored session with its events. Throws `NOT_FOUND`. */
export async function findSession(scope: SessionScope): Promise<Session> {
  return await readSession(scope)
}

/** Throws `NOT_FOUND` if there is no such session. */
export async function checkSession(scope: SessionScope): Promise<void> {
  await readSession(scope, { numRecentEvents: 0 })
}

async function readSession(
  { key, app }: SessionScope,
  config?: { readonly numRecentEvents: number },
): Promise<Session> {
  const session = (await app.runner.sessionService.getSession({ ...key, config })) ?? missing(key)
  if (app.bench) app.recent.add({ userId: session.userId, sessionId: session.id }) // not what a client made up
  return session
}

function missing({ sessionId }: SessionKey): never {
  throw new ToolwrightError(
    'NOT_FOUND',
    `This user has no session "${sessionId}". Create it with POST /apps/{app}/users/{user}/sessions.`,
  )
}
