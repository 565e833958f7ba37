import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../env.ts'
import { Fields } from '../wire/fields.ts'
import { readOptionalBody } from '../wire/read-body.ts'
import { findSessionRunner, SESSION, sessionScope } from './scope.ts'
import { streamFollowed } from './stream-run.ts'

/** Routes about the run of a session that is under way. */
export function sessionRunRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.post(`${SESSION}/cancel`, async (context) => {
    const scope = sessionScope(context, parts)
    const invocationId = new Fields((await readOptionalBody(context)) ?? {}).optionalText('invocationId')
    const runner = await findSessionRunner(scope)
    const { userId, sessionId } = scope
    await runner.cancel({ userId, sessionId, invocationId })
    return context.json(null)
  })

  app.get(`${SESSION}/stream`, async (context) => {
    const scope = sessionScope(context, parts)
    const runner = await findSessionRunner(scope)
    const afterEventId = context.req.header('last-event-id') || context.req.query('after') || undefined
    return await streamFollowed(context, parts, { ...scope, runner, afterEventId })
  })
}
