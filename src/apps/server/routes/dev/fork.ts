import type { Hono } from 'hono'
import type { JsonObject } from '../../../../core/base/json.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { sessionResponse } from '../../pages/session-response.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { WHAT_IF } from '../../what-if/what-ifs.ts'
import { readBody } from '../../wire/read-body.ts'
import { checkClientState } from '../client-state.ts'
import { findSessionRunner, inSession, SESSION, sessionScope } from '../scope.ts'

/** Where adk-web and the workbench keep the name of a session. */
const METADATA = '__session_metadata__'

/** Copies a session, also as a what-if copy, whose messages run with variants of the agents. */
export function forkRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.post(`/dev${SESSION}/fork`, async (context) => {
    const scope = sessionScope(context, parts)
    const { app: served, appName, userId, sessionId } = scope
    const body = await readBody(context)
    const before = body.text('invocationId')
    const displayName = body.optionalText('name')
    const sent = body.optionalList('whatIf')
    const named: JsonObject = displayName === undefined ? {} : { [METADATA]: { displayName } }
    checkClientState(context, parts, named)
    if (sent) checkAnyUser(context, 'change the agents of a copy')
    const runner = await findSessionRunner(scope)
    const variants = sent && (await served.whatIfs.check(sent, userId))
    const newSessionId = variants && (await served.whatIfs.newSessionId(userId))
    // a copy of a what-if copy has its variants in its state
    const isCleared = !variants && (await served.whatIfs.has(scope))
    const stateDelta = { ...named, ...(variants && { [WHAT_IF]: variants }), ...(isCleared && { [WHAT_IF]: null }) }
    const end = await served.writes.reserve(runner.sessionService, { appName, userId, deltas: [stateDelta] })
    try {
      const copy = await runner.fork({ userId, sessionId, before, newSessionId })
      if (Object.keys(stateDelta).length > 0)
        await runner.updateState({ userId, sessionId: copy.sessionId, stateDelta })
      return await sessionResponse(context, parts, inSession(scope, copy.sessionId), { endsEarly: true })
    } finally {
      end()
    }
  })
}
