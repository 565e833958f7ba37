import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { SESSION, sessionScope } from '../scope.ts'

/** Shows what happened in a call besides what its log has. Tools log for developers and operators. */
export function callNoteRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/calls/:call/notes`, (context) => {
    const scope = sessionScope(context, parts)
    checkAnyUser(context, 'read notes of calls')
    return context.json(scope.app.callNotes?.find(scope, context.req.param('call')) ?? { notes: [] })
  })
}
