import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { RebuiltRequest, RequestDoubt } from '../../../../engine/runner/sessions/rebuild-request.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { jsonResponse } from '../../pages/list-response.ts'
import { checkAnyUser } from '../../principal/authentication.ts'
import { copyContents, copyReply } from '../../trace/copy-request.ts'
import { findRunner, SESSION, sessionScope } from '../scope.ts'

/**
 * Shows what a model was asked for a reply. As it was sent, if it was recorded, else what the log tells. Only developers and operators
 * read instructions and tools.
 */
export function modelCallRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/model-calls/:event`, async (context) => {
    const scope = sessionScope(context, parts)
    checkAnyUser(context, 'read model calls')
    const runner = await findRunner(scope)
    const eventId = context.req.param('event')
    const recorded = scope.app.modelCalls?.find(scope, eventId)
    if (recorded !== undefined) return jsonResponse(recorded)
    const { userId, sessionId } = scope
    const rebuilt = await runner.internals.rebuildRequest({ userId, sessionId }, eventId)
    if (!rebuilt)
      throw new ToolwrightError('NOT_FOUND', `The session has no reply of a model with the id "${eventId}".`)
    return context.json(fromLog(rebuilt))
  })
}

function fromLog({ reply, previousId, contents, doubts }: RebuiltRequest): object {
  const { author, content, modelVersion, finishReason, usageMetadata, errorCode, errorMessage, live, timestamp } = reply
  return {
    from: 'log',
    previousId,
    agent: author,
    model: modelVersion,
    endedAt: timestamp * 1000,
    errorCode,
    doubts,
    origin: live ? 'A live model gets no request for each reply.' : originOf({ contents, doubts }),
    request: contents && copyContents(contents),
    reply: copyReply({ content, finishReason, usageMetadata, modelVersion, errorCode, errorMessage }),
  }
}

const DOUBTS: { readonly [Doubt in RequestDoubt]: string } = {
  callbacks: 'the agent has callbacks that may change requests',
  tools: 'the agent has tools that may change requests',
  files: 'stored files are shown as references',
  answers: 'an answer arrived while the model may have been replying',
  'no-model': 'a callback may have replied instead of the model',
}

/** What of a request comes from the log, and what is unknown. */
function originOf({ contents, doubts }: Pick<RebuiltRequest, 'contents' | 'doubts'>): string {
  const missing = 'This server has not recorded the call: its instruction, tools and settings are unknown.'
  if (!contents) return `${missing} So are its messages: the agent no longer exists.`
  if (doubts.length === 0) return `${missing} The messages are from the log, as they were sent.`
  const reasons = doubts.map((doubt) => DOUBTS[doubt]).join('; ')
  return `${missing} The messages are from the log. They may differ from those that were sent: ${reasons}.`
}
