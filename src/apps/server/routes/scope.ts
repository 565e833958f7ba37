// What the paths of requests name: an app, a user, a session.
import { jsonSize } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { Session, SessionKey } from '../../../services/session/service.ts'
import type { ServedApp } from '../apps.ts'
import { MAY_BE_SIGNED } from '../bench/signed-sessions.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { restAfter } from '../guard/pace.ts'
import { readEventPage } from '../pages/list-sources.ts'
import { tooLarge } from '../pages/list-text.ts'
import { actingUser } from '../principal/authentication.ts'

const CREATE_SESSION = 'Create it with POST /apps/{app}/users/{user}/sessions.'

/** How much of a log is read at a time. */
const PIECE = { limit: 1_000, maxBytes: 1_000_000 }

/** The paths of the sessions of a user. */
export const SESSIONS = '/apps/:app/users/:user/sessions'
/** The path of one session. */
export const SESSION: string = `${SESSIONS}/:session`
/** The path that answers a pending request. */
export const ANSWER_ROUTE = '/apps/:app/users/:user/sessions/:session/pending/:request'

/** The app and the user of a request. */
interface UserScope {
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
  return { app, appName, userId, sessionId, key }
}

/** The stored session with its events. Throws `NOT_FOUND`, and `TOO_LARGE` for a session that no response can have. */
export async function findSession(scope: SessionScope, { limits }: Pick<ServerParts, 'limits'>): Promise<Session> {
  const session = await findSessionState(scope)
  const events: Event[] = []
  let bytes = 0
  const { sessionService } = scope.app.runner
  let after: string | undefined
  do {
    const start = performance.now()
    const page = await readEventPage(sessionService, scope.key, { ...PIECE, after })
    for (const event of page.items) events.push(event)
    bytes += jsonSize(page.items, limits.responseBytes)
    if (bytes > limits.responseBytes) throw tooLarge('The session', limits.responseBytes)
    after = page.next
    if (after !== undefined) await restAfter(start)
  } while (after !== undefined)
  return { ...session, events }
}

/** The stored session without events. Throws `NOT_FOUND`. */
export async function findSessionState(scope: SessionScope, advice?: string): Promise<Session> {
  const { key, app } = scope
  const config = { numRecentEvents: 0 }
  const session = (await app.runner.sessionService.getSession({ ...key, config })) ?? missing(key, advice)
  remember(scope)
  return session
}

/** Throws `NOT_FOUND`, with `advice`, if there is no such session. Reads neither its state nor its events. */
export async function checkSession(scope: SessionScope, advice?: string): Promise<void> {
  const { sessionService } = scope.app.runner
  if (!sessionService.readLog) return void (await findSessionState(scope, advice))
  if (!(await sessionService.readLog({ ...scope.key, limit: 0 }))) missing(scope.key, advice)
  remember(scope)
}

/**
 * What runs the session: the runner of the app, of its tool bench, or of a what-if copy. Throws `NOT_FOUND` if there is no such session,
 * and `INVALID_REQUEST` for a what-if copy that cannot run.
 */
export async function findRunner(scope: SessionScope, advice?: string): Promise<Runner> {
  await checkSession(scope, advice)
  const { bench, whatIfs, runner } = scope.app
  if (!MAY_BE_SIGNED.test(scope.sessionId)) return runner
  return (await bench?.runnerOf(scope)) ?? (await whatIfs.runnerOf(scope)) ?? runner
}

/** A runner for what needs no agents: to follow, cancel, change or copy a session. A what-if copy that cannot run has one, too. */
export async function findSessionRunner(scope: SessionScope): Promise<Runner> {
  await checkSession(scope)
  const { bench, whatIfs, runner } = scope.app
  if (!MAY_BE_SIGNED.test(scope.sessionId)) return runner
  return (await bench?.runnerOf(scope)) ?? (await whatIfs.startedRunnerOf(scope)) ?? runner
}

/** Only of sessions that exist: a client can make up others. */
function remember({ app, userId, sessionId }: SessionScope): void {
  if (app.bench) app.recent.add({ userId, sessionId })
}

function missing({ sessionId }: SessionKey, advice = CREATE_SESSION): never {
  throw new ToolwrightError('NOT_FOUND', `This user has no session "${sessionId}". ${advice}`)
}
