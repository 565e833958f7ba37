// New text of users that waits in the inbox of its session until a worker runs it.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PostedItem, SessionKey, SessionService } from '../../../services/session/service.ts'
import type { RunRequest } from '../run/run-request.ts'
import { createUnlessExists } from '../session/leases.ts'

/** A posted message, as the request of its run. */
export interface PostedMessage {
  /** The request. */
  readonly request: RunRequest
  /** The inbox item, which the first append of the run removes. */
  readonly drained: readonly string[]
}

/** The first message in the inbox. Undefined if there is none, or if the request asks for something else. */
export function findMessage(request: RunRequest, items: readonly PostedItem[]): PostedMessage | undefined {
  if (request.message || request.live || request.invocationId) return undefined
  const item = items.find(({ type }) => type === 'message')
  if (item?.type !== 'message') return undefined
  const { id, invocationId, content: message, stateDelta } = item
  return { request: { ...request, needsWork: false, invocationId, message, stateDelta }, drained: [id] }
}

/** A message to post. */
interface Posting {
  /** The same for each attempt to post it. */
  readonly id: string
  /** The invocation that it starts. */
  readonly invocationId: string
  /** The message. */
  readonly content: Content
  /** State changes recorded together with it. */
  readonly stateDelta: JsonObject | undefined
}

/** Posts a message, once for each id. Creates the session if it does not exist. */
export async function postMessage(
  sessionService: SessionService,
  key: SessionKey,
  { stateDelta, ...posting }: Posting,
): Promise<void> {
  const item = { type: 'message' as const, ...posting, ...(stateDelta && { stateDelta }) }
  try {
    await sessionService.post(key, item)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'NOT_FOUND') throw error
    await createUnlessExists(sessionService, key)
    await sessionService.post(key, item)
  }
}
