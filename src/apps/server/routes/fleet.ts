import type { Hono } from 'hono'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { checkAnyUser } from '../principal/authentication.ts'
import { readBody } from '../wire/read-body.ts'
import { appOf } from './scope.ts'

/** The path of what operators see of an app. */
export const FLEET = '/apps/:app/fleet'

/** Routes for operators: the workers and sessions of an app, and a new attempt for a session that was set aside. */
export function fleetRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(FLEET, async (context) => {
    checkAnyUser(context, 'see the workers and sessions of all users')
    return context.json(await internalsOf(context, parts).viewFleet())
  })

  app.post(`${FLEET}/retry`, async (context) => {
    checkAnyUser(context, 'retry a session of another user')
    const body = await readBody(context)
    await internalsOf(context, parts).retrySetAside({ userId: body.text('userId'), sessionId: body.text('sessionId') })
    return context.json(null)
  })
}

function internalsOf(context: RequestContext, parts: ServerParts): ReturnType<typeof appOf>['runner']['internals'] {
  return appOf(context, parts).runner.internals
}
