import type { Inbox } from './in-memory-inbox.ts'
import type { SessionKey } from './service.ts'
import { tooManyWaiting, type WaitingLimits } from './waiting-limits.ts'

/** A session that may have inbox items. */
interface PostedSession {
  readonly key: SessionKey
  readonly inbox: Inbox | undefined
}

/** Throws RATE_LIMITED if as many messages of the app or of the user wait as may wait. */
export function throwIfTooManyWait(
  posted: Iterable<PostedSession>,
  { appName, userId }: SessionKey,
  { perApp, perUser }: WaitingLimits,
): void {
  const counts = { app: 0, user: 0 }
  for (const { key, inbox } of posted) {
    if (key.appName !== appName) continue
    const messages = inbox?.messages ?? 0
    counts.app += messages
    if (key.userId === userId) counts.user += messages
  }
  if (perUser !== undefined && counts.user >= perUser) throw tooManyWaiting('user', perUser)
  if (perApp !== undefined && counts.app >= perApp) throw tooManyWaiting('app', perApp)
}
