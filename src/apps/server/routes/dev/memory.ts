import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { userScope } from '../scope.ts'

/** Searches the memory of a user, for the workbench. */
export function memorySearchRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/users/:user/memory', async (context) => {
    const { app: served, appName, userId } = userScope(context, parts)
    const query = context.req.query('query') ?? ''
    const { memoryService } = served.runner
    if (!memoryService || query.trim() === '') return context.json({ memories: [] })
    return context.json(await memoryService.searchMemory({ appName, userId, query }))
  })
}
