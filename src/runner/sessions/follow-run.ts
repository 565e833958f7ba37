// Follows the run of a session for a caller that did not start it, or lost its connection.
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { Next } from '../../agent/loop/next.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { eventsBeforePartial } from '../../event/partial-id.ts'
import type { Session, SessionKey } from '../../session/service.ts'
import { sessionNotFound } from '../../session/session-errors.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { RunFollower } from '../inbox/run-follower.ts'
import type { ActiveRuns } from '../run/active-runs.ts'
import { EventQueue } from '../run/event-queue.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunServices } from '../run-services.ts'

/** How often the events of a run in another process are read, in milliseconds. */
const POLL_MS = 500

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
  readonly #tree: AgentTree
  readonly #key: SessionKey
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
    this.#tree = tree
    this.#key = { appName: session.appName, userId: session.userId, sessionId: session.id }
    this.#seen = from
    this.userId = session.userId
    this.sessionId = session.id
    this.invocationId = session.events.at(-1)?.invocationId ?? ''
    this.finished = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#read(session).catch((reason: unknown) => {
      this.failure = { reason }
      this.removeConsumer()
    })
  }

  /** Yields the new events, then waits for more while a run of another process is under way. */
  async #read(session: Session | undefined): Promise<void> {
    for (let read = session; read && !this.isFinished; ) {
      for (const event of forConsumer(read.events.slice(this.#seen))) this.events.push(event)
      this.#seen = read.events.length
      if (!(await this.#isUnderWay(read))) break
      await this.#wait()
      read = await this.#services.sessionService.getSession(this.#key)
    }
    this.removeConsumer()
  }

  /** Does a live process run the session? Neither paused nor interrupted sessions are followed. */
  async #isUnderWay({ events }: Session): Promise<boolean> {
    const { sessionService } = this.#services
    // without its records, a session with an answered request looks interrupted
    const log = await sessionService.readLog?.(this.#key)
    const view = new SessionView(this.#tree)
    view.catchUp(log?.entries ?? events.map((event, index) => ({ seq: index + 1, event })))
    if (!isInterrupted(view)) return false
    const pending = await sessionService.pending(this.#key)
    if (pending.length) return false
    const interrupted = await sessionService.interrupted({ appName: this.#key.appName })
    return !interrupted.some(({ userId, sessionId }) => userId === this.userId && sessionId === this.sessionId)
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#cancelTimer = this.#services.ports.setTimer(resolve, POLL_MS)
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
