import type { SessionService } from '../../../services/session/service.ts'
import { findCandidates } from './candidates.ts'

/** A user of an app. */
export interface UserItem {
  /** The user. */
  readonly userId: string
  /** How many sessions were counted. */
  readonly sessions: number
  /** When one of them changed last, in seconds since the epoch. */
  readonly lastUpdateTime: number
}

const PIECE = 500
/** More sessions are not looked at: the oldest ones. */
const MOST_SESSIONS = 10_000

/** The users of the latest sessions of an app, the latest active first. */
export async function listUsers(service: SessionService, appName: string): Promise<readonly UserItem[]> {
  const users = new Map<string, UserItem>()
  let after: string | undefined
  for (let read = 0; read < MOST_SESSIONS; read += PIECE) {
    const page = await findCandidates(service, { appName, userId: undefined }, { limit: PIECE, after })
    for (const { userId, updatedAt } of page.items) {
      const { sessions = 0, lastUpdateTime = 0 } = users.get(userId) ?? {}
      const latest = Math.max(lastUpdateTime, updatedAt / 1000)
      users.set(userId, { userId, sessions: sessions + 1, lastUpdateTime: latest })
    }
    after = page.next
    if (after === undefined) break
  }
  return [...users.values()].sort((one, other) => other.lastUpdateTime - one.lastUpdateTime)
}
