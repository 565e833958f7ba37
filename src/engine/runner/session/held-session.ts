import { isRecord } from '../../../core/base/json.ts'
import { loadLater } from '../../../core/base/load-later.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Entry, NewEntry } from '../../../core/event/event.ts'
import { startsWaiting } from '../../../core/event/invocation-state.ts'
import { DEFAULT_LEASE_MS } from '../../../services/session/lease.ts'
import type {
  AppendOptions,
  HeldLog,
  Lease,
  PendingChanges,
  PostedItem,
  SessionKey,
  StateReader,
} from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { type ReadonlyView, SessionView } from '../../agent/loop/session-view.ts'
import type { ObservedRun as ObservedRunFacts } from '../../observe/operation.ts'
import { pendingChanges, relisted } from '../approvals/pending-requests.ts'
import type { RecordedRun } from '../run/recorded-run.ts'
import type { RunServices } from '../run-services.ts'
import type { CheckpointWriter } from './checkpoint-writer.ts'
import type { EarlierEntries } from './earlier-entries.ts'
import { moveTemp } from './move-temp.ts'
import type { OpenedLog } from './open-checkpoint.ts'
import { reportAnswers } from './report-answers.ts'
import { StoreMeasures } from './store-measures.ts'
import type { ViewMemo } from './view-memo.ts'
import type { WholeLog } from './whole-log.ts'

const checkpoints = loadLater(() => import('./open-checkpoint.ts'))

/** What a held session needs of the runner. */
export type HeldServices = Pick<RunServices, 'sessionService' | 'ports' | 'logger' | 'observation'>

/** A log that was read and folded. */
interface ReadLog extends OpenedLog {
  readonly view: SessionView
}

interface HeldOptions {
  /** What the session needs of the runner. */
  readonly services: HeldServices
  /** A moment before the lease was claimed, on the monotonic clock. */
  readonly claimedAt: number
  /** Ends with the first append. Undefined if the holder before has not died. */
  readonly recovery?: { noteAppend(): void } | undefined
}

/** What an append reads and changes of the run whose entries it stores. */
export type AppendingRun = Pick<RecordedRun, 'stop' | 'state' | 'events' | 'listener' | 'fold' | 'operation'> &
  ObservedRunFacts

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
export class HeldSession implements WholeLog {
  /** Identifies the session. */
  readonly key: SessionKey
  /** The folded log. */
  readonly view: ReadonlyView
  /** The state of the session. */
  readonly state: StateReader
  readonly #services: HeldServices
  readonly #tree: AgentTree
  /** The entries in memory, as read when the session was opened, and what the store has added to them. */
  #entries: readonly Entry[]
  /** Whether only a part of the entries was read. `load()` reads others. */
  readonly isPartial: boolean
  readonly #earlier: EarlierEntries | undefined
  #loading: Promise<void> = LOADED
  /** The last sequence number when the log was read with a checkpoint. */
  readonly #readUpTo: number
  /** Makes the checkpoints of the log. Undefined if the store keeps none. */
  readonly #checkpoints: CheckpointWriter | undefined
  readonly #memo: ViewMemo | undefined
  readonly #recovery: HeldOptions['recovery']
  /** Measures the store. Undefined: nothing is measured. */
  readonly #measures: StoreMeasures | undefined
  #lease: Lease
  /** A moment before the lease was claimed or last renewed, on the monotonic clock. It lasts at least `leaseMs` from here. */
  #renewedAt: number
  #renewing: Promise<void> | undefined
  /** The sequence number of the last entry. */
  #seq: number
  /** Appends that wait for the one under way; undefined if none is under way. */
  #turns: (() => void)[] | undefined
  /** The store's list of pending requests. If it may be damaged, the next append stores all of it. */
  #list: 'in step' | 'damaged' = 'in step'

  constructor(lease: Lease, { log, view, earlier, checkpoints }: ReadLog, options: OpenOptions) {
    const { services, claimedAt, tree, recovery } = options
    this.key = lease.key
    this.view = view
    this.#services = services
    this.#tree = tree
    this.#recovery = recovery
    const { observation } = services
    if (observation && !observation.isIdle) this.#measures = new StoreMeasures(observation, services.ports)
    this.state = log.state
    this.#entries = log.entries
    this.#earlier = earlier
    this.isPartial = earlier !== undefined
    this.#readUpTo = log.checkpoint?.seq ?? 0
    this.#memo = memoOf(log)
    if (this.#memo) this.#memo.isHeld = true
    this.#checkpoints = checkpoints
    this.#lease = lease
    this.#renewedAt = claimedAt
    this.#seq = view.seq
  }

  /** Reads the log of a session whose lease the caller has claimed. */
  static async open(lease: Lease, options: OpenOptions): Promise<HeldSession> {
    const { sessionService } = options.services
    const { keepsCheckpoints = false } = sessionService
    const loading = keepsCheckpoints ? checkpoints() : undefined
    const read = await sessionService.read(lease)
    if (!isRecord(read) || !Array.isArray(read.entries)) throw noLog(lease)
    if (!loading && !read.checkpoint) {
      const view = viewOf(read, lease, options)
      return new HeldSession(lease, { log: read, view, earlier: undefined, checkpoints: undefined }, options)
    }
    const { openCheckpoint } = await (loading ?? checkpoints())
    const opened = await openCheckpoint(read, options.tree, keepsCheckpoints)
    return new HeldSession(lease, { ...opened, view: opened.view ?? viewOf(opened.log, lease, options) }, options)
  }

  /** Has the log grown since it was read? */
  get isOutdated(): boolean {
    return this.view.seq > (this.#entries.at(-1)?.seq ?? this.#readUpTo)
  }

  load(seq: number): Promise<void> | undefined {
    if (!this.#earlier || this.#earlier.has(seq)) return undefined
    this.#loading = this.#loading.catch(ignore).then(() => this.#load(seq))
    return this.#loading
  }

  async #load(seq: number): Promise<void> {
    const more = (await this.#earlier?.read(seq)) ?? []
    this.#entries = [...more, ...this.#entries]
    this.view.prepend(more.flatMap(({ event }) => (event ? [event] : [])))
  }

  async allEntries(): Promise<readonly Entry[]> {
    await this.load(1)
    return this.#entries
  }

  /**
   * Appends entries, one append after another, in the order of the calls: stores them with what changes in the list of pending
   * requests, folds them, then shows them to the run that records them. A failed append stops the run: it records nothing more.
   */
  append(entries: readonly NewEntry[], drained?: readonly string[], run?: AppendingRun): Promise<void> {
    const turn = this.#takeTurn()
    if (turn) return turn.then(() => this.#appendUnlessStopped(entries, drained, run))
    return this.#appendUnlessStopped(entries, drained, run)
  }

  /** Appends only if `isStillWanted` once all earlier appends are done; false = nothing was appended. */
  async appendIf(
    isStillWanted: () => boolean,
    entries: readonly NewEntry[],
    drained: readonly string[],
    run: AppendingRun,
  ): Promise<boolean> {
    const turn = this.#takeTurn()
    if (turn) await turn
    let isWanted = true // a stopped run throws below
    try {
      if (!run.stop.stopped) isWanted = isStillWanted()
    } catch (error) {
      return await this.#fail(error, run) // ends the turn: other appends wait for it
    }
    if (isWanted) await this.#appendUnlessStopped(entries, drained, run)
    else this.#endTurn()
    return isWanted
  }

  /** Appends the last entries of a run, which may be stopped. */
  async appendLast(
    entries: readonly NewEntry[],
    drained: readonly string[] | undefined,
    run: AppendingRun,
  ): Promise<void> {
    const turn = this.#takeTurn()
    if (turn) await turn
    await this.#append(entries, drained, run)
  }

  /** Settles when the appends so far are done. */
  async appended(): Promise<void> {
    const turn = this.#takeTurn()
    if (turn) await turn
    this.#endTurn()
  }

  /** Takes the turn to append. Undefined: take it now. `#endTurn()` must follow. */
  #takeTurn(): Promise<void> | undefined {
    const turns = this.#turns
    if (turns) return new Promise((resolve) => turns.push(resolve))
    this.#turns = []
    return undefined
  }

  #endTurn(): void {
    const next = this.#turns?.shift()
    if (next) next()
    else this.#turns = undefined
  }

  #appendUnlessStopped(
    entries: readonly NewEntry[],
    drained: readonly string[] | undefined,
    run: AppendingRun | undefined,
  ): Promise<void> {
    const stopped = run?.stop.stopped
    if (!stopped) return this.#append(entries, drained, run)
    this.#endTurn()
    return Promise.reject(stopped.reason)
  }

  /** Appends entries in the turn that the caller has taken. Uses promise callbacks: an async function would cost about 8 % of a call. */
  #append(
    entries: readonly NewEntry[],
    drained: readonly string[] | undefined,
    run: AppendingRun | undefined,
  ): Promise<void> {
    try {
      for (let at = 0; run && at < entries.length; at++) {
        const { event } = entries[at] as NewEntry
        if (event?.actions.stateDelta) moveTemp(event, event.actions.stateDelta, run)
      }
      const pending = this.#pendingChanges(entries)
      let options: AppendOptions | undefined = pending ? { drained, pending } : drained && { drained }
      if (this.#checkpoints) {
        const checkpoint = this.#checkpoints.next(this.view, this.#tree)
        if (checkpoint) options = { ...options, checkpoint }
      }
      const appended = this.#services.sessionService.append(this.#lease, this.#seq, entries, options)
      this.#measures?.startAppend(drained)
      return appended.then(
        (seq) => this.#afterAppend(entries, seq, run),
        (error) => this.#fail(error, run),
      )
    } catch (error) {
      return this.#fail(error, run)
    }
  }

  #pendingChanges(entries: readonly NewEntry[]): PendingChanges | undefined {
    const { view } = this
    if (!view.hasWaited && entries.some(startsWaiting)) view.noteWaiting()
    if (this.#list === 'damaged') return relisted(view, entries, this.key)
    return view.hasWaited ? pendingChanges(view, entries, this.key) : undefined
  }

  /** Folds stored entries, then shows their events to the run. `seq`: the last sequence number. */
  #afterAppend(entries: readonly NewEntry[], seq: number, run: AppendingRun | undefined): Promise<void> | undefined {
    const before = this.#seq
    this.#measures?.endAppend()
    this.#seq = seq
    this.#list = 'in step'
    this.#recovery?.noteAppend()
    try {
      for (let at = 0; at < entries.length; at++) this.view.add(entries[at] as NewEntry, before + at + 1)
      if (run) showTo(run, entries)
      const { observation } = this.#services
      if (run && observation) reportAnswers(observation, run, this.view, entries)
    } catch (error) {
      return this.#fail(error, run)
    }
    this.#endTurn()
    return undefined
  }

  #fail(error: unknown, run: AppendingRun | undefined): Promise<never> {
    run?.stop.stop(error)
    this.#endTurn()
    return Promise.reject(error)
  }

  /** Stores the list of pending requests again with the next append: the stored one may be damaged. */
  relist(): void {
    this.#list = 'damaged'
  }

  /** Whether the stored list of pending requests may be damaged, and no append has stored it since. */
  get isListDue(): boolean {
    return this.#list === 'damaged'
  }

  /** Stores the list of pending requests again. */
  listPending(): Promise<void> {
    return this.append([])
  }

  /** The items that other processes have posted. */
  inbox(): Promise<PostedItem[]> {
    const items = this.#services.sessionService.inbox(this.#lease)
    const measures = this.#measures
    return measures ? items.then((read) => measures.note(read)) : items
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

const LOADED: Promise<void> = Promise.resolve()
const ignore = (): void => {}

/** Logs with fewer entries keep no view between runs: folding them again takes microseconds, and the view is as large as the log. */
const KEPT_VIEW_ENTRIES = 16

/** Shows stored events to the consumer and the listener of a run. */
function showTo({ events, listener }: AppendingRun, entries: readonly NewEntry[]): void {
  for (let at = 0; at < entries.length; at++) {
    const { event } = entries[at] as NewEntry
    if (!event) continue
    if (event.author !== 'user') events.push(event)
    listener?.recorded(event)
  }
}

function noLog({ key }: Lease): ToolwrightError {
  const problem = `read() of the session service returned no log for session "${key.sessionId}"`
  const instead = 'It must resolve to { entries, state }. Test it with sessionServiceSuite() of "toolwright/testing"'
  return new ToolwrightError('STORAGE', `${problem}. ${instead}.`)
}

function memoOf({ memo }: HeldLog): ViewMemo | undefined {
  return isRecord(memo) ? memo : undefined
}

/** The view that the store caches in the log's `memo`, if it is complete and not in use, else a new one. It has all entries. */
function viewOf(log: HeldLog, { key }: Lease, { tree, isFresh }: OpenOptions): SessionView {
  const memo = memoOf(log)
  const cached = memo?.tree === tree && !memo.isHeld && !isFresh ? memo.view : undefined
  const view = cached && !cached.isHalfRead ? cached : new SessionView(tree)
  if (memo && view !== cached) {
    memo.tree = tree
    memo.view = view
    memo.isHeld = true
  }
  try {
    if (view.seq !== log.entries.at(-1)?.seq) view.catchUp(log.entries)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    const message = `The log of session "${key.sessionId}" cannot be read: ${messageOf(error)}. Restore it from a backup.`
    throw new ToolwrightError('STORAGE', message, { cause: error })
  }
  return view
}
