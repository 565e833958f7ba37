import type { Hono } from 'hono'
import { ToolwrightError } from '../../error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { appOf, userScope } from './scope.ts'

/** Routes that list pending requests. */
export function pendingRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/apps/:app/users/:user/pending', async (context) => {
    const { app: served, userId } = userScope(context, parts)
    return context.json(await served.runner.pending({ userId, sessionId: context.req.query('sessionId') }))
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
