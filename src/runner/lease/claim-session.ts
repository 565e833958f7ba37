// How a runner comes to hold a session: its lease, its log, and what was made of the log before.

import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { isRecord } from '../../base/json.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { HeldLog, Lease, SessionKey, SessionService } from '../../session/service.ts'

/** A session with its lease taken. */
export interface HeldSession {
  readonly lease: Lease
  readonly log: HeldLog
  readonly view: SessionView
  /** A moment before the lease was claimed, on the monotonic clock: it lives for `leaseMs` from here at least. */
  readonly claimedAt: number
}

/** Takes the session's lease; without a session it is made, or there is nothing to take. */
export async function claimSession(
  sessions: SessionService,
  key: SessionKey,
  create: boolean,
): Promise<Lease | undefined> {
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
    return { lease: await claimSession(sessions, key, false) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
}

/** `isFresh`: whatever was made of the log before is somebody's who has lost the session, and may still write in it. */
export function openSession(
  { lease, claimedAt }: Pick<HeldSession, 'lease' | 'claimedAt'>,
  log: HeldLog,
  tree: AgentTree,
  isFresh = false,
): HeldSession {
  if (!isRecord(log) || !Array.isArray(log.entries)) {
    const problem = `read() of the session service gave no log for session "${lease.key.sessionId}"`
    const instead = 'It must resolve to { entries, state }: test it with sessionServiceSuite() of "toolwright/testing"'
    throw new ToolwrightError('STORAGE', `${problem}. ${instead}.`)
  }
  const view = reuseOrCreateView(isRecord(log.memo) ? log.memo : undefined, tree, isFresh)
  view.isHeld = true
  try {
    view.catchUp(log.entries)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    const message = `The log of session "${lease.key.sessionId}" cannot be read: ${messageOf(error)}. Restore it from a backup.`
    throw new ToolwrightError('STORAGE', message, { cause: error })
  }
  return { lease, log, view, claimedAt }
}

/** What this runner made of the log already: kept where the store keeps the log. Two runs never share one. */
function reuseOrCreateView(memo: ViewMemo | undefined, tree: AgentTree, isFresh: boolean): SessionView {
  const known = memo?.tree === tree ? memo.view : undefined
  if (known && !isFresh && !known.isHalfRead && !known.isHeld) return known
  const view = new SessionView(tree)
  if (memo) {
    memo.tree = tree
    memo.view = view
  }
  return view
}

/** What a runner attaches to the `memo` of a log. */
interface ViewMemo {
  tree?: AgentTree
  view?: SessionView
}

/** Is there anything in the log by now that was not when it was read? */
export function isOutdated({ log: { entries }, view }: HeldSession): boolean {
  return view.seq > (entries.at(-1)?.seq ?? 0)
}
