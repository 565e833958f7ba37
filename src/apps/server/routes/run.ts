import type { Hono } from 'hono'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { allowedAnswers } from '../guard/may-answer.ts'
import { lastEventId } from '../guard/quotas.ts'
import { jsonResponse } from '../pages/list-response.ts'
import { actingUser } from '../principal/authentication.ts'
import type { Fields } from '../wire/fields.ts'
import { readBody } from '../wire/read-body.ts'
import { type RunRequestBody, readRunRequest } from '../wire/read-run-request.ts'
import { checkClientState } from './client-state.ts'
import { findRunner, inSession, type SessionScope } from './scope.ts'
import { streamFollowed, streamRun } from './stream-run.ts'
import { writeRun } from './write-run.ts'

/** Routes that run an agent. */
export function runRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.post('/run', async (context) => {
    const body = await readBody(context)
    const scope = await readScope(context, parts, body)
    const request = await readAllowedRequest(context, parts, scope, body)
    const end = await reserveState(scope, request)
    const run = untilRecorded(
      startRun(
        scope,
        { ...request, traceparent: context.req.header('traceparent') || undefined },
        context.req.raw.signal,
      ),
      end,
    )
    return jsonResponse(await writeRun(run, parts.limits.responseBytes))
  })

  app.post('/run_sse', async (context) => {
    const body = await readBody(context)
    const scope = await readScope(context, parts, body)
    const afterEventId = lastEventId(context.req)
    if (afterEventId) return await streamFollowed(context, parts, { ...scope, afterEventId })
    const request = await readAllowedRequest(context, parts, scope, body)
    const end = await reserveState(scope, request)
    return await streamRun(
      context,
      parts,
      untilRecorded(startRun(scope, { ...request, traceparent: context.req.header('traceparent') || undefined }), end),
    )
  })
}

/** The session of the body. Who sends the request is checked before the rest of the body. */
async function readScope(context: RequestContext, { apps }: ServerParts, body: Fields): Promise<RunScope> {
  const userId = actingUser(context, body.text('userId'))
  const app = apps.get(body.text('appName'))
  const scope = inSession({ app, appName: app.name, userId }, body.text('sessionId'))
  return { ...scope, runner: await findRunner(scope) }
}

/** The session of a run, and what runs it. */
interface RunScope extends SessionScope {
  readonly runner: Runner
}

/** The body of a run, whose state and answers the client may write. */
async function readAllowedRequest(
  context: RequestContext,
  parts: ServerParts,
  { runner, userId, sessionId }: RunScope,
  body: Fields,
): Promise<RunRequestBody> {
  const request = readRunRequest(body)
  checkClientState(context, parts, request.stateDelta)
  const { newMessage } = request
  if (!newMessage) return request
  const scope = { runner, userId, sessionId, principal: context.get('principal') }
  return { ...request, newMessage: { ...newMessage, parts: await allowedAnswers(parts, scope, newMessage.parts) } }
}

/** Reserves room for the state of the message. */
function reserveState({ app, key, runner }: RunScope, { stateDelta }: RunRequestBody): Promise<() => void> {
  return app.writes.reserve(runner.sessionService, { ...key, deltas: [stateDelta] })
}

/** The run, which calls `end` when its message is recorded, or when it has ended. */
function untilRecorded(run: Run, end: () => void): Run {
  return {
    sessionId: run.sessionId,
    invocationId: run.invocationId,
    cancel: (reason) => run.cancel(reason),
    async *[Symbol.asyncIterator]() {
      try {
        for await (const event of run) {
          end()
          yield event
        }
      } finally {
        end()
      }
    },
  }
}

/** A run, and the span of the client that asks for it. */
interface TracedRequest extends RunRequestBody {
  readonly traceparent: string | undefined
}

/** `signal`: cancels a run whose events are not streamed. Without it the run continues until it is cancelled. */
function startRun({ runner, userId, sessionId }: RunScope, request: TracedRequest, signal?: AbortSignal): Run {
  const { newMessage, invocationId, stateDelta, streaming, customMetadata, traceparent } = request
  const runConfig = { streaming, detach: signal === undefined, ...(customMetadata && { customMetadata }) }
  if (!newMessage) return runner.resume({ userId, sessionId, invocationId, runConfig, signal })
  return runner.run({ userId, sessionId, message: newMessage.parts, stateDelta, runConfig, traceparent, signal })
}
