import type { Hono } from 'hono'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { readCursor, writeCursor } from '../../pages/cursor.ts'
import { actingUser, checkAnyUser } from '../../principal/authentication.ts'
import { listUsers } from '../../search/list-users.ts'
import { type SessionQuery, searchSessions } from '../../search/search-sessions.ts'
import { RUN_STATES } from '../../search/session-items.ts'
import { invalid } from '../../wire/fields.ts'
import { readNumber } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
const MAX_TEXT = 200

/** Routes that search the sessions of an app, and list its users. */
export function sessionSearchRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/sessions', async (context) => {
    const userId = readUser(context)
    const served = appOf(context, parts)
    const { sessionService } = served.runner
    const cursor = context.req.query('cursor')
    const findBenchAgent = await served.benchSessions.finder()
    const { sessions, searched, next } = await searchSessions(
      sessionService,
      readQuery(context, { appName: served.name, userId }),
      {
        limit: Math.min(readNumber(context, 'limit', DEFAULT_LIMIT), MAX_LIMIT),
        after: cursor === undefined ? undefined : readCursor('found', cursor),
        isShown: (session) => findBenchAgent(session) === undefined,
        signal: context.req.raw.signal,
      },
    )
    return context.json({ sessions, searched, ...(next !== undefined && { next: writeCursor('found', next) }) })
  })

  app.get('/dev/apps/:app/users', async (context) => {
    checkAnyUser(context, 'list the users of an app')
    const { name, runner } = appOf(context, parts)
    return context.json({ users: await listUsers(runner.sessionService, name) })
  })
}

/** The user of the query. Without one, the search is over all users. */
function readUser(context: RequestContext): string | undefined {
  const user = context.req.query('user')
  if (user !== undefined) return actingUser(context, user)
  checkAnyUser(context, 'search the sessions of all users')
  return undefined
}

function readQuery(context: RequestContext, scope: Pick<SessionQuery, 'appName' | 'userId'>): SessionQuery {
  const text = (name: string): string => (context.req.query(name) ?? '').trim().toLowerCase().slice(0, MAX_TEXT)
  const given = context.req.query('state') || undefined
  const state = RUN_STATES.find((one) => one === given)
  if (given !== undefined && state === undefined)
    throw invalid(`The query parameter "state" must be one of ${RUN_STATES.join(', ')}.`)
  return {
    ...scope,
    sessionId: context.req.query('session'),
    text: text('text'),
    tool: text('tool'),
    state,
    since: readNumber(context, 'since', 0),
    before: readNumber(context, 'before', Number.MAX_SAFE_INTEGER),
  }
}
