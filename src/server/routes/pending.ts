import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../env.ts'
import { listResponse } from '../pages/list-response.ts'
import { pendingSource } from '../pages/list-sources.ts'
import { checkAnyUser } from '../principal/authentication.ts'
import { readBody } from '../wire/read-body.ts'
import { appOf, findRunner, SESSION, sessionScope, userScope } from './scope.ts'

/** Routes that list pending requests, and preview their approval. */
export function pendingRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/apps/:app/users/:user/pending', async (context) => {
    const { app: served, userId } = userScope(context, parts)
    const source = pendingSource(served.runner, { userId, sessionId: context.req.query('sessionId') })
    return await listResponse(context, parts, { name: 'pending', source })
  })

  app.post(`${SESSION}/pending/:request/preview`, async (context) => {
    const scope = sessionScope(context, parts)
    const args = (await readBody(context)).object('args')
    const { userId, sessionId } = scope
    const runner = await findRunner(scope)
    const requestId = context.req.param('request')
    return context.json(await runner.previewApproval({ userId, sessionId, requestId, args }))
  })
}

/** Lists the pending requests of all users, for the inbox of the workbench. */
export function inboxRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/pending', async (context) => {
    checkAnyUser(context, 'list the requests of all users')
    const source = pendingSource(appOf(context, parts).runner, {})
    return await listResponse(context, parts, { name: 'pending', source })
  })
}
