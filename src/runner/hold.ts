// How a runner comes to hold a session: its lease, its log, and what was made of the log before.
import { SessionView } from '../agent/session-view.ts'
import type { AgentTree } from '../agent/tree.ts'
import { ToolwrightError } from '../error/error.ts'
import type { HeldLog, InboxItem, Lease, LogMemo, SessionKey, SessionService } from '../session/service.ts'

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

/** Takes the lease; a session that another runner holds is left word instead. */
export async function claimOrPost(
  sessions: SessionService,
  key: SessionKey,
  word: InboxItem,
): Promise<Lease | undefined> {
  try {
    return await claim(sessions, key, false)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'SESSION_BUSY') throw error
    await sessions.post(key, word)
    return undefined
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

/** A cancel that was left for a run which ended by itself is not for the next one. */
export async function forgetCancels(sessions: SessionService, { lease, view }: Held): Promise<void> {
  const items = await sessions.drain(lease)
  const drained = items.flatMap(({ id, type }) => (type === 'cancel' ? [id] : []))
  if (drained.length) await sessions.append(lease, view.seq, [], { drained })
}
