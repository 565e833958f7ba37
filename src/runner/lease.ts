// The leases of sessions: claims them, reads the logs of their sessions, and renews them.
import type { AgentTree } from '../agent/agents/agent-tree.ts'
import { SessionView } from '../agent/loop/session-view.ts'
import { isRecord } from '../base/json.ts'
import type { Ports } from '../base/ports.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { DEFAULT_LEASE_MS } from '../session/lease.ts'
import type { HeldLog, Lease, SessionKey, SessionService } from '../session/service.ts'

/** A session whose lease this process has claimed. */
export interface HeldSession {
  /** The lease. */
  readonly lease: Lease
  /** The log, as read after the claim. */
  readonly log: HeldLog
  /** The folded log. */
  readonly view: SessionView
  /** A moment before the lease was claimed, on the monotonic clock. The lease lasts at least `leaseMs` from here. */
  readonly claimedAt: number
}

/** Claims the lease. If the session does not exist, creates it if `create` is set, else returns undefined. */
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

/** Claims the lease of an existing session. Undefined while another run holds it; `lease` is undefined if there is no session. */
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

/** Folds the log. `isFresh`: ignore the cached view, because a run that has lost its lease may still write to it. */
export function openSession(
  { lease, claimedAt }: Pick<HeldSession, 'lease' | 'claimedAt'>,
  log: HeldLog,
  tree: AgentTree,
  isFresh = false,
): HeldSession {
  if (!isRecord(log) || !Array.isArray(log.entries)) {
    const problem = `read() of the session service returned no log for session "${lease.key.sessionId}"`
    const instead = 'It must resolve to { entries, state }. Test it with sessionServiceSuite() of "toolwright/testing"'
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

/** The view that the store caches in the log's `memo`, if it is complete and not in use, else a new one. */
function reuseOrCreateView(memo: ViewMemo | undefined, tree: AgentTree, isFresh: boolean): SessionView {
  const cached = memo?.tree === tree ? memo.view : undefined
  if (cached && !isFresh && !cached.isHalfRead && !cached.isHeld) return cached
  const view = new SessionView(tree)
  if (memo) {
    memo.tree = tree
    memo.view = view
  }
  return view
}

/** What a runner caches in the `memo` of a log. */
interface ViewMemo {
  tree?: AgentTree
  view?: SessionView
}

/** Has the log grown since it was read? */
export function isOutdated({ log: { entries }, view }: HeldSession): boolean {
  return view.seq > (entries.at(-1)?.seq ?? 0)
}

/** Renewals per lease: two may be late before the lease ends. */
export const RENEWALS_PER_LEASE = 3

/** A run whose lease is renewed. */
export interface LeasedRun {
  /** Renews the lease and drains the inbox. */
  tend(): Promise<void>
  /** Stops the run. */
  stop(reason: unknown): void
}

/** Renews the leases of all runs of a runner with one timer. */
export class LeaseRenewer {
  readonly #ports: Pick<Ports, 'setTimer'>
  readonly #runs: () => readonly LeasedRun[]
  #stop: (() => void) | undefined

  /** `runs` returns the active runs. */
  constructor(ports: Pick<Ports, 'setTimer'>, runs: () => readonly LeasedRun[]) {
    this.#ports = ports
    this.#runs = runs
  }

  /** Call when a run starts. The timer stops when no run is under way. */
  start({ leaseMs }: Lease): void {
    if (this.#stop) return
    // an older session service does not set leaseMs
    const everyMs = (leaseMs || DEFAULT_LEASE_MS) / RENEWALS_PER_LEASE
    const renewAll = (): void => {
      this.#stop = undefined
      const runs = this.#runs()
      for (const run of runs) run.tend().catch((error) => run.stop(error))
      if (runs.length) this.#stop = this.#ports.setTimer(renewAll, everyMs, { background: true })
    }
    this.#stop = this.#ports.setTimer(renewAll, everyMs, { background: true })
  }

  /** Stops the timer. */
  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }
}
