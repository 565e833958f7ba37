import type { PendingRequest } from '../../../src/event/pending-request.ts'
import { pathOf, requestJson } from './request.ts'

/** Lists the pending requests of an app, of all users. */
export function listPending(app: string, signal?: AbortSignal): Promise<PendingRequest[]> {
  return requestJson(`/dev${pathOf('apps', app, 'pending')}`, { signal })
}
