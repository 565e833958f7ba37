// Claims the leases of sessions, and renews those of runs.
import type { Ports } from '../../../core/base/ports.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { DEFAULT_LEASE_MS } from '../../../services/session/lease.ts'
import type { Lease, SessionKey, SessionService } from '../../../services/session/service.ts'

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
    await createUnlessExists(sessions, key)
    return await sessions.claim(key)
  }
}

/** Creates the session. Another run may have created it meanwhile. */
async function createUnlessExists(sessions: SessionService, key: SessionKey): Promise<void> {
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
    return { lease: await claimSession(sessions, key, false) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
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
