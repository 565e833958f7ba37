import { type Ports, systemPorts } from '../../base/ports.ts'
import { HOLD_MS, MAX_HELD } from '../limits.ts'
import type { ServerCall } from './server-call.ts'

/** A call that waits for a human. */
interface HeldCall {
  /** The call. */
  readonly call: ServerCall
  /** The key of the input request. */
  readonly inputKey: string
}

/**
 * Calls of the 2025 protocol whose server waits for the answer of a human. The connection stays open in this process. The
 * next attempt of the body takes the call and continues it.
 */
export class HeldCalls {
  readonly #held: Map<string, HeldCall & { readonly stopTimer: () => void }> = new Map()
  readonly #ports: Pick<Ports, 'setTimer'>

  constructor(ports: Pick<Ports, 'setTimer'> = systemPorts) {
    this.#ports = ports
  }

  /** Holds a call. Returns false if too many calls are held. */
  hold(key: string, held: HeldCall): boolean {
    if (this.#held.size >= MAX_HELD) return false
    const decline = (): void => this.take(key)?.call.answer({ action: 'decline' })
    this.#held.set(key, { ...held, stopTimer: this.#ports.setTimer(decline, HOLD_MS, { background: true }) })
    return true
  }

  /** The call with this key, which is no longer held. Undefined if this process holds none. */
  take(key: string): HeldCall | undefined {
    const held = this.#held.get(key)
    if (!held) return undefined
    held.stopTimer()
    this.#held.delete(key)
    return held
  }

  /** Cancels all held calls. */
  close(): void {
    for (const key of [...this.#held.keys()]) this.take(key)?.call.abort(new Error('The toolset is closed.'))
  }
}
