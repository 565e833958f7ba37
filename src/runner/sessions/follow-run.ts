// Follows the run of a session for a caller that did not start it, or lost its connection.
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { Next } from '../../agent/loop/next.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Entry, Event } from '../../event/event.ts'
import { eventsBeforePartial } from '../../event/partial-id.ts'
import type { Session, SessionKey } from '../../session/service.ts'
import { sessionNotFound } from '../../session/session-errors.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { RunFollower } from '../inbox/run-follower.ts'
import type { ActiveRuns } from '../run/active-runs.ts'
import { EventQueue } from '../run/event-queue.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunServices } from '../run-services.ts'

/** How long to wait before the new events of a run in another process are read, in milliseconds. Doubled while there are none. */
const POLL_MS = 500
const MAX_POLL_MS = 2_000

interface Following {
  readonly running: ActiveRuns
  readonly services: RunServices
  readonly tree: AgentTree
}

/**
 * The stored events after an event, then those of the run under way. A run of another process is followed through the store,
 * without its partial events. Throws INVALID_REQUEST if the session has no event with this id.
 */
export async function followRun(
  key: SessionKey,
  afterEventId: string | undefined,
  { running, services, tree }: Following,
): Promise<StartedRun> {
  const findHolder = (): RunFollower | undefined => {
    const holder = running.of(key).at(-1)
    if (!holder) return undefined
    const { events } = holder.data.view
    return new RunFollower(holder, forConsumer(events.slice(positionAfter(events, afterEventId))))
  }
  const local = findHolder()
  if (local) return local
  const session = await services.sessionService.getSession(key)
  if (!session) throw sessionNotFound(key.sessionId)
  return findHolder() ?? new StoredRun(session, positionAfter(session.events, afterEventId), { services, tree })
}

/** The index after the event. */
function positionAfter(events: readonly Event[], eventId: string | undefined): number {
  if (eventId === undefined) return events.length
  const at = events.findLastIndex(({ id }) => id === eventId)
  if (at >= 0) return at + 1
  const before = eventsBeforePartial(eventId)
  const run = eventId.slice(0, eventId.lastIndexOf('-') + 1)
  // the message of the run is stored before its first partial event
  if (before !== undefined && before <= events.length && events.some(({ id }) => id.startsWith(run))) return before
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `The session has no event "${eventId}". Pass the id of an event of this session, or read the whole session again.`,
  )
}

/** Consumers do not get the user's own events. */
function forConsumer(events: readonly Event[]): Event[] {
  return events.filter(({ author }) => author !== 'user')
}

/** The stored events of a session, read again while a run of another process writes them. */
class StoredRun implements StartedRun {
  readonly #services: RunServices
  readonly #key: SessionKey
  /** What was read. Without `readLog` it has no records. */
  readonly #view: SessionView
  #seen: number
  #cancelTimer: (() => void) | undefined
  #settle: (() => void) | undefined
  readonly events: EventQueue = new EventQueue()
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
  readonly finished: Promise<void>
  isFinished = false
  failure: { readonly reason: unknown } | undefined

  constructor(session: Session, from: number, { services, tree }: Pick<Following, 'services' | 'tree'>) {
    this.#services = services
    this.#view = new SessionView(tree)
    this.#key = { appName: session.appName, userId: session.userId, sessionId: session.id }
    this.#seen = from
    this.userId = session.userId
    this.sessionId = session.id
    this.invocationId = session.events.at(-1)?.invocationId ?? ''
    this.finished = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#follow().catch((reason: unknown) => {
      this.failure = { reason }
      this.removeConsumer()
    })
  }

  /** Yields the new events, then waits for more while a run of another process is under way. */
  async #follow(): Promise<void> {
    for (let waitMs = POLL_MS; !this.isFinished; ) {
      if (await this.#readNew()) waitMs = POLL_MS
      if (!(await this.#isUnderWay())) break
      await this.#wait(waitMs)
      waitMs = Math.min(waitMs * 2, MAX_POLL_MS)
    }
    await this.#readNew() // the run may have paused or died after the events were read
    this.removeConsumer()
  }

  /** Yields the events that were stored since the last time. Were there any? */
  async #readNew(): Promise<boolean> {
    if (this.isFinished) return false
    const entries = await this.#readEntries()
    if (!entries) this.removeConsumer() // the session was deleted
    this.#view.catchUp(entries ?? [])
    const { events } = this.#view
    const added = events.slice(this.#seen)
    for (const event of forConsumer(added)) this.events.push(event)
    this.#seen = Math.max(this.#seen, events.length)
    return added.length > 0
  }

  /** The entries that the view does not have; undefined if the session is gone. */
  async #readEntries(): Promise<readonly Entry[] | undefined> {
    const { sessionService } = this.#services
    if (sessionService.readLog) {
      const { seq } = this.#view
      const log = await sessionService.readLog({ ...this.#key, fromSeq: seq + 1 })
      return log && log.lastSeq >= seq ? log.entries : undefined // a shorter log is that of another session
    }
    // without its records, a session with an answered request looks interrupted
    const session = await sessionService.getSession(this.#key)
    return session?.events.map((event, index) => ({ seq: index + 1, event }))
  }

  /** Does a live process run the session? Neither paused nor interrupted sessions are followed. */
  async #isUnderWay(): Promise<boolean> {
    if (this.isFinished || !isInterrupted(this.#view)) return false
    const { sessionService } = this.#services
    const pending = await sessionService.pending(this.#key)
    if (pending.length) return false
    const interrupted = await sessionService.interrupted({ appName: this.#key.appName })
    return !interrupted.some(({ userId, sessionId }) => userId === this.userId && sessionId === this.sessionId)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cancelTimer = this.#services.ports.setTimer(resolve, ms)
      void this.finished.then(resolve)
    })
  }

  next(): Next {
    return { type: 'done' }
  }

  error(): undefined {
    return undefined
  }

  branchedText(): string {
    return ''
  }

  stop(): void {
    this.removeConsumer()
  }

  removeConsumer(): void {
    this.isFinished = true
    this.#cancelTimer?.()
    this.#settle?.()
    this.events.notifyConsumer()
  }
}
