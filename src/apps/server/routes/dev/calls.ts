import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { SESSION, sessionScope } from '../scope.ts'

/**
 * Shows what the server remembers of tool calls besides their logs. Stacks name files of the server, and tools log for their developers, so
 * that only developers and operators read them.
 */
export function callRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/stacks`, (context) => {
    checkAnyUser(context, 'read stacks')
    const { key, app: served } = sessionScope(context, parts)
    return context.json({ stacks: served.stacks?.find(key) ?? [] })
  })

  app.get(`/dev${SESSION}/calls/:call/notes`, (context) => {
    checkAnyUser(context, 'read notes of calls')
    const { key, app: served } = sessionScope(context, parts)
    return context.json(served.callNotes?.find(key, context.req.param('call')) ?? { notes: [] })
  })
}
