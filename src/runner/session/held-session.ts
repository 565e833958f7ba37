import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { isRecord } from '../../base/json.ts'
import { registerShape } from '../../base/object-shapes.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Entry, NewEntry } from '../../event/event.ts'
import { startsWaiting } from '../../event/invocation-state.ts'
import { DEFAULT_LEASE_MS } from '../../session/lease.ts'
import type { HeldLog, Lease, PendingChanges, PostedItem, SessionKey, StateReader } from '../../session/service.ts'
import { pendingChanges, relisted } from '../approvals/pending-requests.ts'
import type { RunServices } from '../run-services.ts'

/** What a held session needs of the runner. */
export type HeldServices = Pick<RunServices, 'sessionService' | 'ports' | 'logger'>

interface HeldOptions {
  /** What the session needs of the runner. */
  readonly services: HeldServices
  /** A moment before the lease was claimed, on the monotonic clock. */
  readonly claimedAt: number
}

/** What a session is opened with. */
export interface OpenOptions extends HeldOptions {
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** Ignores the cached view, because a run that has lost its lease may still write to it. */
  readonly isFresh: boolean
}

/**
 * A session whose lease this process holds. It alone writes to the log, one append after another, and keeps the view of the log
 * and the store's list of pending requests in step with it.
 */
export class HeldSession {
  /** Identifies the session. */
  readonly key: SessionKey
  /** The folded log. */
  readonly view: SessionView
  readonly #services: HeldServices
  readonly #log: HeldLog
  readonly #memo: ViewMemo | undefined
  #lease: Lease
  /** A moment before the lease was claimed or last renewed, on the monotonic clock. It lasts at least `leaseMs` from here. */
  #renewedAt: number
  #renewing: Promise<void> | undefined
  /** The sequence number of the last entry. */
  #seq: number
  /** Appends that wait for the one under way; undefined if none is under way. */
  #turns: (() => void)[] | undefined
  /** Whether a call has waited. Before that, no append can change the list of pending requests. */
  #hasWaited: boolean
  /** The stored list of pending requests may be damaged: the next append stores it again. */
  #mustRelist = false

  constructor(lease: Lease, log: HeldLog, view: SessionView, { services, claimedAt }: HeldOptions) {
    this.key = lease.key
    this.view = view
    this.#services = services
    this.#log = log
    this.#memo = memoOf(log)
    this.#lease = lease
    this.#renewedAt = claimedAt
    this.#seq = view.seq
    this.#hasWaited = view.hasWaited
  }

  /** Reads the log of a session whose lease the caller has claimed. */
  static async open(lease: Lease, options: OpenOptions): Promise<HeldSession> {
    const log = await options.services.sessionService.read(lease)
    const held = new HeldSession(lease, log, viewOf(log, lease, options), options)
    if (held.#memo) held.#memo.isHeld = true
    return held
  }

  /** The state of the session. */
  get state(): StateReader {
    return this.#log.state
  }

  /** The entries of the log, as read when the session was opened, and what the store has added to them. */
  get entries(): readonly Entry[] {
    return this.#log.entries
  }

  /** Has the log grown since it was read? */
  get isOutdated(): boolean {
    return this.view.seq > (this.#log.entries.at(-1)?.seq ?? 0)
  }

  /** Takes the turn to append. Undefined: take it now. `endTurn()` must follow. */
  takeTurn(): Promise<void> | undefined {
    const turns = this.#turns
    if (turns) return new Promise((resolve) => turns.push(resolve))
    this.#turns = []
    return undefined
  }

  /** Ends a turn: the next append may begin. */
  endTurn(): void {
    const next = this.#turns?.shift()
    if (next) next()
    else this.#turns = undefined
  }

  /** Stores entries, with what changes in the list of pending requests. Call it in a turn, then `fold()`. Resolves to the new last sequence number. */
  store(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<number> {
    const pending = this.#pendingChanges(entries)
    const options = pending ? { drained, pending } : drained && { drained }
    return this.#services.sessionService.append(this.#lease, this.#seq, entries, options)
  }

  #pendingChanges(entries: readonly NewEntry[]): PendingChanges | undefined {
    if (!this.#hasWaited && entries.some(startsWaiting)) {
      this.#hasWaited = true
      this.view.noteWaiting()
    }
    if (this.#mustRelist) return relisted(this.view, entries, this.key)
    return this.#hasWaited ? pendingChanges(this.view, entries, this.key) : undefined
  }

  /** Adds stored entries to the view. `seq`: the last sequence number. */
  fold(entries: readonly NewEntry[], seq: number): void {
    const before = this.#seq
    this.#seq = seq
    this.#mustRelist = false
    for (let at = 0; at < entries.length; at++) this.view.add(entries[at] as NewEntry, before + at + 1)
  }

  /** Appends entries outside a run. */
  async append(entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    const turn = this.takeTurn()
    if (turn) await turn
    try {
      this.fold(entries, await this.store(entries, drained))
    } finally {
      this.endTurn()
    }
  }

  /** Stores the list of pending requests again with the next append: the stored one may be damaged. */
  relist(): void {
    this.#mustRelist = true
  }

  /** Whether the stored list of pending requests may be damaged, and no append has stored it since. */
  get isListDue(): boolean {
    return this.#mustRelist
  }

  /** Stores the list of pending requests again. */
  listPending(): Promise<void> {
    return this.append([])
  }

  /** The items that other processes have posted. */
  inbox(): Promise<PostedItem[]> {
    return this.#services.sessionService.inbox(this.#lease)
  }

  /** The lease. */
  get lease(): Lease {
    return this.#lease
  }

  /** Renews the lease if it may have ended. Undefined: it lives. */
  renewIfDue(): Promise<void> | undefined {
    const age = this.#services.ports.monotonicNow() - this.#renewedAt
    // after a stall longer than the lease, another process may hold the session
    return age < (this.#lease.leaseMs || DEFAULT_LEASE_MS) ? undefined : this.renew()
  }

  /** Renews the lease. Concurrent calls share one renewal. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(): Promise<void> {
    const { sessionService, ports } = this.#services
    const now = ports.monotonicNow()
    this.#lease = await sessionService.renew(this.#lease)
    this.#renewedAt = now
  }

  /** Lets the next holder use the view, and releases the lease. `interrupted`: another process may continue the session. */
  async release(options?: { readonly interrupted: boolean }): Promise<void> {
    const { sessionService, logger } = this.#services
    this.leave()
    try {
      await sessionService.release(this.#lease, options)
    } catch (error) {
      logger.warn(`The lease of session "${this.key.sessionId}" could not be released: ${messageOf(error)}`)
    }
  }

  /** Lets the next holder use the view, if it is worth keeping. */
  leave(): void {
    if (this.#memo?.view !== this.view) return
    this.#memo.isHeld = false
    if (this.#seq < KEPT_VIEW_ENTRIES) this.#memo.view = undefined
  }
}

/** Logs with fewer entries keep no view between runs: folding them again takes microseconds, and the view is as large as the log. */
const KEPT_VIEW_ENTRIES = 16

/** What a runner caches in the `memo` of a log. */
interface ViewMemo {
  tree?: AgentTree
  view?: SessionView | undefined
  /** Whether a run uses the view. A run that lost its lease may still use it when the next run starts. */
  isHeld?: boolean
}

function memoOf({ memo }: HeldLog): ViewMemo | undefined {
  return isRecord(memo) ? memo : undefined
}

/** The view that the store caches in the log's `memo`, if it is complete and not in use, else a new one. It has all entries. */
function viewOf(log: HeldLog, { key }: Lease, { tree, isFresh }: OpenOptions): SessionView {
  if (!isRecord(log) || !Array.isArray(log.entries)) {
    const problem = `read() of the session service returned no log for session "${key.sessionId}"`
    const instead = 'It must resolve to { entries, state }. Test it with sessionServiceSuite() of "toolwright/testing"'
    throw new ToolwrightError('STORAGE', `${problem}. ${instead}.`)
  }
  const memo = memoOf(log)
  const cached = memo?.tree === tree && !memo.isHeld && !isFresh ? memo.view : undefined
  const view = cached && !cached.isHalfRead ? cached : new SessionView(tree)
  if (memo && view !== cached) {
    memo.tree = tree
    memo.view = view
    memo.isHeld = true
  }
  try {
    view.catchUp(log.entries)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    const message = `The log of session "${key.sessionId}" cannot be read: ${messageOf(error)}. Restore it from a backup.`
    throw new ToolwrightError('STORAGE', message, { cause: error })
  }
  return view
}

registerShape(
  () =>
    new HeldSession({ key: {} } as Lease, { entries: [], state: {} as StateReader }, { seq: 0 } as SessionView, {
      services: {} as HeldServices,
      claimedAt: 0.5,
    }),
)
