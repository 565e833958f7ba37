// New text of users that waits in the inbox of its session until a worker runs it.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { SessionKey, SessionService } from '../../../services/session/service.ts'
import type { PostOptions } from '../../../services/session/waiting-limits.ts'
import { createUnlessExists } from '../session/leases.ts'

/** A message to post. */
interface Posting {
  /** The same for each attempt to post it. */
  readonly id: string
  /** The invocation that it starts. */
  readonly invocationId: string
  /** When it is posted, in milliseconds since the epoch. */
  readonly postedAt: number
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
  options?: PostOptions,
): Promise<void> {
  const item = { type: 'message' as const, ...posting, ...(stateDelta && { stateDelta }) }
  try {
    await sessionService.post(key, item, options)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'NOT_FOUND') throw error
    await createUnlessExists(sessionService, key)
    await sessionService.post(key, item, options)
  }
}
