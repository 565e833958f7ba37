import type { Hono } from 'hono'
import { ToolwrightError } from '../../error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { readBody } from '../wire/read-body.ts'
import { appOf, SESSION, sessionScope, userScope } from './scope.ts'

/** Routes that list pending requests, and preview their approval. */
export function pendingRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/apps/:app/users/:user/pending', async (context) => {
    const { app: served, userId } = userScope(context, parts)
    return context.json(await served.runner.pending({ userId, sessionId: context.req.query('sessionId') }))
  })

  app.post(`${SESSION}/pending/:request/preview`, async (context) => {
    const { runner, userId, sessionId } = sessionScope(context, parts)
    const args = (await readBody(context)).object('args')
    const requestId = context.req.param('request')
    return context.json(await runner.previewApproval({ userId, sessionId, requestId, args }))
  })
}

/** Lists the pending requests of all users, for the inbox of the workbench. */
export function inboxRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/pending', async (context) => {
    if (!context.get('principal').mayActAsAnyUser) {
      throw new ToolwrightError(
        'FORBIDDEN',
        'Only a principal that may act as any user lists the requests of all users.',
      )
    }
    return context.json(await appOf(context, parts).runner.pending())
  })
}
