import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import type { ApprovalPreview } from '../../../src/engine/runner/runner-options.ts'
import { pathOf, requestJson, requestList } from './request.ts'

/** Lists the pending requests of an app, of all users. */
export function listPending(app: string, signal?: AbortSignal): Promise<PendingRequest[]> {
  return requestList(`/dev${pathOf('apps', app, 'pending')}`, signal)
}

/** What the approver of edited arguments is asked. The server refuses arguments that the tool does not accept. */
export function previewApproval(
  app: string,
  { userId, sessionId, id }: PendingRequest,
  args: { readonly [key: string]: unknown },
  signal: AbortSignal,
): Promise<ApprovalPreview> {
  const path = pathOf('apps', app, 'users', userId, 'sessions', sessionId, 'pending', id, 'preview')
  return requestJson(path, { body: { args }, signal })
}
