import type { Hono } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { allowedAnswers } from '../guard/may-answer.ts'
import { jsonResponse, listResponse } from '../pages/list-response.ts'
import { pendingSource } from '../pages/list-sources.ts'
import { checkAnyUser } from '../principal/authentication.ts'
import { readAnswer, repeatedAnswer } from '../wire/read-answer.ts'
import { readBody, readOptionalBody } from '../wire/read-body.ts'
import { ANSWER_ROUTE, appOf, findRunner, SESSION, sessionScope, userScope } from './scope.ts'
import { writeRun } from './write-run.ts'

/** For an approver who answers under a path of their own instead of that of the user whose session waits. */
const OWN_PATH =
  'Answer a request under its own userId and sessionId, which GET /apps/{app}/users/{user}/pending and GET /apps/{app}/pending show.'

/** Routes that list pending requests, answer them, and preview their approval. */
export function pendingRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/apps/:app/users/:user/pending', async (context) => {
    const { app: served, userId } = userScope(context, parts)
    const source = pendingSource(served.runner, { userId, sessionId: context.req.query('sessionId') })
    return await listResponse(context, parts, { name: 'pending', source })
  })

  app.get('/apps/:app/pending', async (context) => await listOfAllUsers(context, parts))

  app.post(ANSWER_ROUTE, async (context) => {
    const scope = sessionScope(context, parts)
    const body = await readOptionalBody(context)
    const { userId, sessionId } = scope
    const runner = await findRunner(scope, OWN_PATH)
    const id = context.req.param('request')
    const pending = await runner.pending({ userId, sessionId })
    const request = pending.find((one) => one.id === id)
    if (!request) checkNoCallId(pending, id)
    const answer = request ? readAnswer(request, body) : repeatedAnswer(id, body)
    const answerScope = { runner, userId, sessionId, principal: context.get('principal') }
    const message = await allowedAnswers(parts, answerScope, [answer])
    // the approver may leave: the run belongs to the user
    const run = runner.run({ userId, sessionId, message, runConfig: { detach: true } })
    return jsonResponse(await writeRun(run, parts.limits.responseBytes))
  })

  app.post(`${SESSION}/pending/:request/preview`, async (context) => {
    const scope = sessionScope(context, parts)
    const args = (await readBody(context)).object('args')
    const { userId, sessionId } = scope
    const runner = await findRunner(scope, OWN_PATH)
    const requestId = context.req.param('request')
    return context.json(await runner.previewApproval({ userId, sessionId, requestId, args }))
  })
}

/** Lists the pending requests of all users, for the inbox of the workbench. */
export function inboxRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/pending', async (context) => await listOfAllUsers(context, parts))
}

/** The pending requests of all users, for principals that may act as any of them. */
async function listOfAllUsers(context: RequestContext, parts: ServerParts): Promise<Response> {
  checkAnyUser(context, 'list the requests of all users')
  const source = pendingSource(appOf(context, parts).runner, {})
  return await listResponse(context, parts, { name: 'pending', source })
}

/** Throws NOT_FOUND for the id of a call whose request is open. The runner would take it, and any body denies there. */
function checkNoCallId(pending: readonly PendingRequest[], id: string): void {
  const request = pending.find((one) => one.functionCallId === id)
  if (!request) return
  throw new ToolwrightError('NOT_FOUND', `"${id}" is the id of a call. Answer its request "${request.id}" instead.`)
}
