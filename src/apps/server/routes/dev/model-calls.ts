import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { RebuiltRequest } from '../../../../engine/runner/sessions/rebuild-request.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { jsonResponse } from '../../pages/list-response.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { copyContents, copyReply } from '../../trace/copy-request.ts'
import { checkSession, SESSION, sessionScope } from '../scope.ts'

/**
 * Shows what a model was asked for a reply. As it was sent, if it was recorded, else what the log tells. Only developers and operators
 * read instructions and tools.
 */
export function modelCallRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/model-calls/:event`, async (context) => {
    const scope = sessionScope(context, parts)
    checkAnyUser(context, 'read model calls')
    await checkSession(scope)
    const eventId = context.req.param('event')
    const { modelCalls, runner } = scope.app
    const recorded = modelCalls?.find(scope, eventId)
    if (recorded !== undefined) return jsonResponse(recorded)
    const { userId, sessionId } = scope
    const rebuilt = await runner.internals.rebuildRequest({ userId, sessionId }, eventId)
    if (!rebuilt)
      throw new ToolwrightError('NOT_FOUND', `The session has no reply of a model with the id "${eventId}".`)
    return context.json(fromLog(rebuilt))
  })
}

function fromLog({ reply, contents, doubts }: RebuiltRequest): object {
  const { author, content, modelVersion, finishReason, usageMetadata, errorCode, errorMessage, live, timestamp } = reply
  return {
    from: 'log',
    agent: author,
    model: modelVersion,
    isLive: live === true,
    endedAt: timestamp * 1000,
    errorCode,
    doubts,
    request: contents && copyContents(contents),
    reply: copyReply({ content, finishReason, usageMetadata, modelVersion, errorCode, errorMessage }),
  }
}
