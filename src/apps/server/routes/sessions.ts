import type { Hono } from 'hono'
import type { JsonObject } from '../../../core/base/json.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Session } from '../../../services/session/service.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { listResponse } from '../pages/list-response.ts'
import { eventSource, sessionSource } from '../pages/list-sources.ts'
import { sessionResponse } from '../pages/session-response.ts'
import { checkNewId } from '../wire/check-new-id.ts'
import { Fields } from '../wire/fields.ts'
import { readBody, readOptionalBody } from '../wire/read-body.ts'
import { readEvents } from '../wire/read-events.ts'
import { writeSession } from '../wire/write-session.ts'
import { checkClientState } from './client-state.ts'
import { findSessionRunner, SESSION, SESSIONS, sessionScope, userScope } from './scope.ts'

/** Routes that create, read, change and delete sessions. */
export function sessionRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const create = async (context: RequestContext, session: NewSession): Promise<Response> => {
    const { app, appName, userId } = userScope(context, parts)
    const { sessionService } = app.runner
    checkNewId(session.sessionId)
    const deltas = [session.state, ...(session.events ?? []).map(({ actions }) => actions.stateDelta)]
    for (const delta of deltas) checkClientState(context, parts, delta)
    const end = await app.writes.reserve(sessionService, { appName, userId, deltas })
    try {
      return context.json(writeSession(await sessionService.createSession({ appName, userId, ...session })))
    } finally {
      end()
    }
  }

  app.get(SESSIONS, async (context) => {
    const { app, appName, userId } = userScope(context, parts)
    const newestFirst = context.req.query('newestFirst') === 'true'
    const findBenchAgent = app.bench ? await app.benchSessions.finder() : () => undefined
    const isShown = ({ id }: Session): boolean => findBenchAgent({ userId, sessionId: id }) === undefined
    const source = sessionSource(app.runner.sessionService, { appName, userId, newestFirst }, isShown)
    return await listResponse(context, parts, { name: 'sessions', source })
  })

  app.post(SESSIONS, async (context) => {
    userScope(context, parts) // before the body is read
    const body = new Fields((await readOptionalBody(context)) ?? {})
    const state = body.optionalObject('state')
    return await create(context, { sessionId: body.optionalText('sessionId'), state, events: readEvents(body) })
  })

  app.post(SESSION, async (context) => {
    const { sessionId } = sessionScope(context, parts)
    return await create(context, { sessionId, state: readState(await readOptionalBody(context)) })
  })

  app.get(SESSION, (context) => sessionResponse(context, parts, sessionScope(context, parts)))

  app.get(`${SESSION}/events`, async (context) => {
    const { app, key } = sessionScope(context, parts)
    return await listResponse(context, parts, { name: 'events', source: eventSource(app.runner.sessionService, key) })
  })

  app.patch(SESSION, async (context) => {
    const scope = sessionScope(context, parts)
    const stateDelta = (await readBody(context)).object('stateDelta')
    checkClientState(context, parts, stateDelta)
    const runner = await findSessionRunner(scope)
    const end = await scope.app.writes.reserve(runner.sessionService, { ...scope.key, deltas: [stateDelta] })
    try {
      await runner.updateState({ userId: scope.userId, sessionId: scope.sessionId, stateDelta })
    } finally {
      end()
    }
    return await sessionResponse(context, parts, scope, { endsEarly: true })
  })

  app.delete(SESSION, async (context) => {
    const { app, userId, sessionId } = sessionScope(context, parts)
    await app.runner.deleteSession({ userId, sessionId })
    return context.json(null)
  })
}

interface NewSession {
  readonly sessionId: string | undefined
  readonly state: JsonObject | undefined
  readonly events?: readonly Event[] | undefined
}

/** The body of the older route is the state itself, or has the state as its only member. */
function readState(body: unknown): JsonObject | undefined {
  if (body === undefined) return undefined
  const fields = new Fields(body)
  const isWrapped = Object.keys(body as object).join() === 'state'
  return isWrapped ? fields.optionalObject('state') : (body as JsonObject)
}
