import type { Hono } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import { rememberSession } from '../../../engine/runner/sessions/remember-session.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { readBody } from '../wire/read-body.ts'
import { findSession, inSession, userScope } from './scope.ts'

/** Adds sessions to the memory of a user. */
export function memoryRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.patch('/apps/:app/users/:user/memory', async (context) => {
    const scope = userScope(context, parts)
    const sessionId = (await readBody(context)).text('sessionId')
    const { memoryService } = scope.app.runner
    if (!memoryService) {
      const problem = `App "${scope.appName}" has no memory service`
      throw new ToolwrightError('INVALID_REQUEST', `${problem}. Pass one to createServer({ services }).`)
    }
    const { sessionService } = scope.app.runner
    const session = await findSession(inSession(scope, sessionId), parts)
    if (!(await rememberSession(session, { sessionService, memoryService }))) throw sessionNotFound(sessionId)
    return context.json(null)
  })
}
