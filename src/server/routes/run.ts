import type { Hono } from 'hono'
import type { Run } from '../../runner/run/run-handle.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { lastEventId } from '../guard/quotas.ts'
import { actingUser } from '../principal/authentication.ts'
import { wireEvents } from '../wire/event-writer.ts'
import type { Fields } from '../wire/fields.ts'
import { readBody } from '../wire/read-body.ts'
import { type RunRequestBody, readRunRequest } from '../wire/read-run-request.ts'
import type { WireEvent } from '../wire/write-event.ts'
import { checkClientState } from './client-state.ts'
import { checkSession, inSession, type SessionScope } from './scope.ts'
import { streamFollowed, streamRun } from './stream-run.ts'

/** Routes that run an agent. */
export function runRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.post('/run', async (context) => {
    const body = await readBody(context)
    const scope = await readScope(context, parts, body)
    const request = readRunRequest(body)
    checkClientState(context, parts, request.stateDelta)
    const run = startRun(scope, request, context.req.raw.signal)
    const events: WireEvent[] = []
    for await (const event of wireEvents(run)) events.push(event)
    return context.json(events)
  })

  app.post('/run_sse', async (context) => {
    const body = await readBody(context)
    const scope = await readScope(context, parts, body)
    const afterEventId = lastEventId(context.req)
    if (afterEventId) return await streamFollowed(context, parts, { ...scope, afterEventId })
    const request = readRunRequest(body)
    checkClientState(context, parts, request.stateDelta)
    return await streamRun(context, parts, startRun(scope, request))
  })
}

/** The session of the body. Who sends the request is checked before the rest of the body. */
async function readScope(context: RequestContext, { apps }: ServerParts, body: Fields): Promise<SessionScope> {
  const userId = actingUser(context, body.text('userId'))
  const app = apps.get(body.text('appName'))
  const scope = inSession({ app, appName: app.name, userId }, body.text('sessionId'))
  await checkSession(scope)
  return scope
}

/** `signal`: cancels a run whose events are not streamed. Without it the run continues until it is cancelled. */
function startRun({ runner, userId, sessionId }: SessionScope, request: RunRequestBody, signal?: AbortSignal): Run {
  const { newMessage, invocationId, stateDelta, streaming, customMetadata } = request
  const runConfig = { streaming, detach: signal === undefined, ...(customMetadata && { customMetadata }) }
  if (!newMessage) return runner.resume({ userId, sessionId, invocationId, runConfig, signal })
  return runner.run({ userId, sessionId, message: newMessage.parts, stateDelta, runConfig, signal })
}
