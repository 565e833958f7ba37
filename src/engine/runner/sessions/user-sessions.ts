import type { Session, SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'

/** A user of an app. */
export type UserKey = Pick<SessionKey, 'appName' | 'userId'>

/** How many sessions are read at a time. */
const PAGE_SESSIONS = 50
/** How many bytes of state are read at a time. */
const PAGE_BYTES = 1_000_000

/** The sessions of a user, without events, a page at a time. */
export async function* userSessions(
  user: UserKey,
  { sessionService }: Pick<RunServices, 'sessionService'>,
): AsyncGenerator<Session, void> {
  if (!sessionService.listSessionPage) return yield* await sessionService.listSessions(user)
  let after: string | undefined
  do {
    const page = await sessionService.listSessionPage({ ...user, limit: PAGE_SESSIONS, maxBytes: PAGE_BYTES, after })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}
