// How a runner comes to hold a session: its lease, its log, and what was made of the log before.
import { SessionView } from '../agent/session-view.ts'
import type { AgentTree } from '../agent/tree.ts'
import { ToolwrightError } from '../error/error.ts'
import type { HeldLog, Lease, LogMemo, SessionKey, SessionService } from '../session/service.ts'

/** A session with its lease taken. */
export interface Held {
  readonly lease: Lease
  readonly log: HeldLog
  readonly view: SessionView
}

/** Takes the session's lease; without a session it is made, or there is nothing to take. */
export async function claim(sessions: SessionService, key: SessionKey, create: boolean): Promise<Lease | undefined> {
  try {
    return await sessions.claim(key)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'NOT_FOUND') throw error
    if (!create) return undefined
    await sessions.createSession(key)
    return await sessions.claim(key)
  }
}

/** The same; undefined while another runner holds it. */
export async function claimIfFree(
  sessions: SessionService,
  key: SessionKey,
): Promise<{ readonly lease: Lease | undefined } | undefined> {
  try {
    return { lease: await claim(sessions, key, false) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
}

export function hold(lease: Lease, log: HeldLog, tree: AgentTree): Held {
  const view = viewOf(log.memo, tree)
  view.catchUp(log.entries)
  return { lease, log, view }
}

/** What this runner made of the log already: kept where the store keeps the log. */
function viewOf(memo: LogMemo, tree: AgentTree): SessionView {
  if (memo.owner === tree && memo.value instanceof SessionView) return memo.value
  const view = new SessionView(tree)
  memo.owner = tree
  memo.value = view
  return view
}
