import type { Hono } from 'hono'
import type { JsonObject } from '../../base/json.ts'
import type { Event } from '../../event/event.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { checkNewId } from '../wire/check-new-id.ts'
import { Fields } from '../wire/fields.ts'
import { readBody, readOptionalBody } from '../wire/read-body.ts'
import { readEvents } from '../wire/read-events.ts'
import { writeSession } from '../wire/write-session.ts'
import { checkClientState } from './client-state.ts'
import { checkSession, findSession, SESSION, SESSIONS, sessionScope, userScope } from './scope.ts'

/** Routes that create, read, change and delete sessions. */
export function sessionRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const create = async (context: RequestContext, session: NewSession): Promise<Response> => {
    const { app, appName, userId } = userScope(context, parts)
    const { sessionService } = app.runner
    checkNewId(session.sessionId)
    for (const delta of [session.state, ...(session.events ?? []).map(({ actions }) => actions.stateDelta)])
      checkClientState(context, parts, delta)
    return context.json(writeSession(await sessionService.createSession({ appName, userId, ...session })))
  }

  app.get(SESSIONS, async (context) => {
    const { app, appName, userId } = userScope(context, parts)
    const sessions = await app.runner.sessionService.listSessions({ appName, userId })
    const shown = sessions.filter(({ id }) => !app.bench?.hasSession(id))
    return context.json(shown.map(writeSession))
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

  app.get(SESSION, async (context) => context.json(writeSession(await findSession(sessionScope(context, parts)))))

  app.patch(SESSION, async (context) => {
    const scope = sessionScope(context, parts)
    const stateDelta = (await readBody(context)).object('stateDelta')
    checkClientState(context, parts, stateDelta)
    await checkSession(scope)
    await scope.runner.updateState({ userId: scope.userId, sessionId: scope.sessionId, stateDelta })
    return context.json(writeSession(await findSession(scope)))
  })

  app.delete(SESSION, async (context) => {
    const { app, key } = sessionScope(context, parts)
    await app.runner.sessionService.deleteSession(key)
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
