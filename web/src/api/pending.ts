import type { JsonObject } from '../../../src/core/base/json.ts'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import type { ApprovalPreview } from '../../../src/engine/runner/runner-options.ts'
import { pathOf, requestJson, requestList } from './request.ts'

/** Lists the pending requests of an app, of all users. */
export function listPending(app: string, signal?: AbortSignal): Promise<PendingRequest[]> {
  return requestList(`/dev${pathOf('apps', app, 'pending')}`, signal)
}

/** Answers a request, also when the page is being closed. Resolves when the run that follows has ended. */
export async function answerRequest(app: string, request: PendingRequest, answer: JsonObject): Promise<void> {
  await requestJson(pathOfRequest(app, request), { body: answer, keepalive: true })
}

/** What the approver of edited arguments is asked. The server refuses arguments that the tool does not accept. */
export function previewApproval(
  app: string,
  request: PendingRequest,
  args: { readonly [key: string]: unknown },
  signal: AbortSignal,
): Promise<ApprovalPreview> {
  return requestJson(`${pathOfRequest(app, request)}/preview`, { body: { args }, signal })
}

function pathOfRequest(app: string, { userId, sessionId, id }: PendingRequest): string {
  return pathOf('apps', app, 'users', userId, 'sessions', sessionId, 'pending', id)
}
