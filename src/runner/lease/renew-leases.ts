import type { Ports } from '../../base/ports.ts'
import { DEFAULT_LEASE_MS } from '../../session/lease.ts'
import type { Lease } from '../../session/service.ts'
import type { ActiveRun } from '../run/active-run.ts'

/** Renewals per lease: two may be late before the lease ends. */
const RENEWALS_PER_LEASE = 3

/** Renews the leases of all runs of a runner with one timer. */
export class LeaseRenewer {
  readonly #ports: Pick<Ports, 'setTimer'>
  readonly #runs: () => readonly ActiveRun[]
  #stop: (() => void) | undefined

  /** `runs` gives the runs under way. */
  constructor(ports: Pick<Ports, 'setTimer'>, runs: () => readonly ActiveRun[]) {
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
