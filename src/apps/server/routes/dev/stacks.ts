import type { Hono } from 'hono'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { SESSION, sessionScope } from '../scope.ts'

/** Shows where the tools of a session threw. Stacks name files of the server, so that only developers and operators read them. */
export function stackRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/stacks`, (context) => {
    checkAnyUser(context, 'read stacks')
    const { key, app: served } = sessionScope(context, parts)
    return context.json({ stacks: served.stacks?.find(key) ?? [] })
  })
}
