import { createHash } from 'node:crypto'
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import type { RateLimited } from '../guard/rate-limited.ts'
import { RequestRate } from '../guard/request-rate.ts'
import { WorkQueue } from '../guard/work-queue.ts'
import { networkOf } from './client-address.ts'

/** How long the next attempt of a throttled address waits after one that failed, in milliseconds. */
const PAUSE_MS = 100

/** The most credentials that are remembered. */
const MAX_KNOWN = 10_000

/**
 * Throttles addresses with many failed authentications: their further attempts are checked one after another, with a pause after
 * each that fails. Many users may share an address. Who has authenticated before therefore does not wait, and a valid credential
 * always counts.
 */
export class FailedAuthentications {
  readonly #rate: RequestRate
  readonly #attempts = new WorkQueue(1)
  readonly #ports: Pick<Ports, 'setTimer'>
  /** Hashes of credentials that were valid, the latest last. */
  readonly #known: Set<string> = new Set()

  /** `perMinute` is the most failures of one address that are not throttled. */
  constructor(perMinute: number, ports: Pick<Ports, 'setTimer' | 'monotonicNow'> = systemPorts) {
    this.#ports = ports
    this.#rate = new RequestRate(
      perMinute,
      ports,
      'Too many authentications from your address have failed. Try again later.',
    )
  }

  /** Waits for the turn of an attempt. Returns how to end it. Throws `RATE_LIMITED` if too many wait. */
  async start(address: string | undefined, credential: string | undefined): Promise<Attempt> {
    const isThrottled = address !== undefined && this.#rate.isSpent(networkOf(address)) && !this.#isKnown(credential)
    const end = isThrottled ? await this.#attempts.take(networkOf(address)) : () => {}
    return {
      succeed: () => {
        end()
        if (credential !== undefined) this.#remember(hash(credential))
      },
      fail: () => {
        if (isThrottled) this.#ports.setTimer(end, PAUSE_MS, { background: true })
        return address === undefined ? undefined : this.#count(address)
      },
      abandon: end,
    }
  }

  #count(address: string): RateLimited | undefined {
    try {
      this.#rate.count(networkOf(address))
      return undefined
    } catch (limited) {
      return limited as RateLimited // it throws nothing else
    }
  }

  #isKnown(credential: string | undefined): boolean {
    return credential !== undefined && this.#known.has(hash(credential))
  }

  #remember(credential: string): void {
    if (this.#known.delete(credential) || this.#known.size < MAX_KNOWN) this.#known.add(credential)
    else {
      const [oldest = ''] = this.#known
      this.#known.delete(oldest)
      this.#known.add(credential)
    }
  }
}

/** One authentication. */
export interface Attempt {
  /** The credential is valid. */
  succeed(): void
  /** It is not. Returns the error if its address has failed too often. */
  fail(): RateLimited | undefined
  /** It is not known whether it is valid. */
  abandon(): void
}

function hash(credential: string): string {
  return createHash('sha256').update(credential).digest('base64')
}
