// Claims the leases of sessions, and renews those of runs.
import type { Ports } from '../../../core/base/ports.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { DEFAULT_LEASE_MS } from '../../../services/session/lease.ts'
import type { ClaimOptions, Lease, SessionKey, SessionService } from '../../../services/session/service.ts'
import { watchSessions } from '../../../services/session/watch-sessions.ts'

/** Claims the lease. If the session does not exist, creates it if `create` is set, else returns undefined. */
export async function claimSession(
  sessions: SessionService,
  key: SessionKey,
  { create, options }: { readonly create: boolean; readonly options?: ClaimOptions | undefined },
): Promise<Lease | undefined> {
  try {
    return await sessions.claim(key, options)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'NOT_FOUND') throw error
    if (!create) return undefined
    await createUnlessExists(sessions, key)
    return await sessions.claim(key, options)
  }
}

/** Creates the session. Another run may have created it meanwhile. */
export async function createUnlessExists(sessions: SessionService, key: SessionKey): Promise<void> {
  try {
    await sessions.createSession(key)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'ALREADY_EXISTS') throw error
  }
}

/** Claims the lease of an existing session. Undefined while another run holds it; `lease` is undefined if there is no session. */
export async function claimIfFree(
  sessions: SessionService,
  key: SessionKey,
): Promise<{ readonly lease: Lease | undefined } | undefined> {
  try {
    return { lease: await claimSession(sessions, key, { create: false }) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
}

/** Renewals per lease: two may be late before the lease ends. */
export const RENEWALS_PER_LEASE = 3

/** A run whose lease is renewed. */
export interface LeasedRun {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** Renews the lease and drains the inbox. */
  tend(): Promise<void>
  /** Drains the inbox. */
  drainInbox(): Promise<void>
  /** Stops the run. */
  stop(reason: unknown): void
}

/** A run that is over sooner needs no watch, in milliseconds. */
const WATCH_AFTER_MS = 280

/** What a `LeaseRenewer` needs of its runner. */
interface RenewerOptions {
  /** The app of the runner. */
  readonly appName: string
  /** Starts the timer. */
  readonly ports: Pick<Ports, 'setTimer'>
  /** Says when an item was posted. */
  readonly sessionService: Pick<SessionService, 'watch'>
  /** Returns the active runs. */
  runs(): readonly LeasedRun[]
}

/** What goes on for the runs of a runner. Each state but the first has a timer for the next renewal. */
type Renewal =
  | { readonly at: 'rest' }
  /** The store is not watched. */
  | { readonly at: 'renewing'; readonly stopTimer: () => void }
  /** The store will be watched, if a run takes that long. */
  | { readonly at: 'before watch'; readonly stopTimer: () => void; readonly stopWatchTimer: () => void }
  /** The store says when an item is posted. */
  | { readonly at: 'watching'; readonly stopTimer: () => void; readonly stopWatching: () => void }

/**
 * Renews the leases of all runs of a runner with one timer, and drains their inboxes then. If the store can be watched, a run also
 * drains its inbox when an item is posted.
 */
export class LeaseRenewer {
  readonly #options: RenewerOptions
  #renewal: Renewal = { at: 'rest' }

  constructor(options: RenewerOptions) {
    this.#options = options
  }

  /** Call when a run starts. The timer and the watch stop when no run is under way. */
  start({ leaseMs }: Lease): void {
    const renewal = this.#renewal
    if (renewal.at === 'before watch' || renewal.at === 'watching') return
    const { ports, sessionService, runs } = this.#options
    // an older session service does not set leaseMs
    const everyMs = (leaseMs || DEFAULT_LEASE_MS) / RENEWALS_PER_LEASE
    const renewAll = (): void => {
      const active = runs()
      for (const run of active) run.tend().catch((error) => run.stop(error))
      if (active.length === 0) this.close()
      else if (this.#renewal.at !== 'rest')
        this.#renewal = { ...this.#renewal, stopTimer: ports.setTimer(renewAll, everyMs, { background: true }) }
    }
    const stopTimer =
      renewal.at === 'renewing' ? renewal.stopTimer : ports.setTimer(renewAll, everyMs, { background: true })
    this.#renewal = sessionService.watch
      ? {
          at: 'before watch',
          stopTimer,
          stopWatchTimer: ports.setTimer(this.#watch, WATCH_AFTER_MS, { background: true }),
        }
      : { at: 'renewing', stopTimer }
  }

  /** Stops the timer and the watch. */
  close(): void {
    const renewal = this.#renewal
    this.#renewal = { at: 'rest' }
    if (renewal.at !== 'rest') renewal.stopTimer()
    if (renewal.at === 'before watch') renewal.stopWatchTimer()
    if (renewal.at === 'watching') renewal.stopWatching()
  }

  readonly #watch = (): void => {
    const renewal = this.#renewal
    if (renewal.at !== 'before watch') return
    const { stopTimer } = renewal
    const { sessionService, runs } = this.#options
    this.#renewal = { at: 'renewing', stopTimer }
    if (runs().length === 0) return
    const stopWatching = watchSessions(sessionService, (key) => this.#drain(key))
    this.#renewal = { at: 'watching', stopTimer, stopWatching }
    for (const run of runs()) run.drainInbox().catch(ignore) // items that were posted before the watch
  }

  #drain({ appName, userId, sessionId }: SessionKey): void {
    if (appName !== this.#options.appName) return
    for (const run of this.#options.runs()) {
      // a store that fails stops the run at its next append
      if (run.sessionId === sessionId && run.userId === userId) run.drainInbox().catch(ignore)
    }
  }
}

function ignore(): void {}
